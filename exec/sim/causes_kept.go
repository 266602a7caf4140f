package sim

import (
	"slices"

	"kernbench/record/cause"
	"kernbench/unit"
)

// This file lists the causes that a run may still need, so that the log can drop the rest. Between
// two events no kernel runs, so each point that is in use lies in a field.
//
// Invariant: what is dropped here decides no time from now on. A kernel that is resumed has a clock
// of now or later, so it does not wait for what came before now. A unit, a queue or a slot that
// became free before now delays no operation.

// pruneCauses prunes the log when that is due.
func (x *run) pruneCauses() {
	if x.causes != nil && x.causes.Due() {
		x.causes.Prune(x.keepCauses)
	}
}

// keepCauses keeps what the run, the fabric and the parts of PEs have of the log.
func (x *run) keepCauses(k *cause.Keep) {
	x.e.net.KeepCauses(k)
	k.Point(x.current)
	k.Point(x.last)
	now := x.e.q.Now()
	for _, p := range x.delayed {
		k.Point(p)
	}
	for _, b := range x.busy {
		b.keep(k, x.causes, now)
	}
	for i := range x.ranks {
		if b := x.ranks[i].causes; b != nil {
			b.keep(k, x.causes, now)
		}
	}
	for i := range x.rings {
		x.rings[i].causes.keep(k, x.causes, now)
	}
	if x.batch != nil {
		x.batch.keepCauses(k)
	}
}

// keep keeps what the engines of a PE have. These are the units that are busy, and the descriptors
// that leave a queue now or later. Work that begins now or later does not wait for the others.
func (b *busy) keep(k *cause.Keep, log *cause.Log, now unit.Time) {
	for i, p := range b.units {
		if p != 0 && log.Time(p) <= now {
			b.units[i] = 0
		}
	}
	keepAll(k, b.units[:])
	for q := range b.left {
		b.left[q] = slices.DeleteFunc(b.left[q], func(p cause.Point) bool { return log.Time(p) < now })
		keepAll(k, b.left[q])
	}
}

// keep keeps what a rank has. It drops what came before the rank's clock, and before now: a rank
// does not wait for the past. See waited.
func (b *rankCauses) keep(k *cause.Keep, log *cause.Log, now unit.Time) {
	k.Point(b.at)
	k.Point(b.pending)
	clock := log.Time(b.at)
	past := func(p cause.Point) bool { return p != 0 && (log.Time(p) <= clock || log.Time(p) < now) }
	for i, p := range b.cells {
		if past(p) {
			b.cells[i] = 0
		}
	}
	for peer, p := range b.acks {
		if past(p) {
			delete(b.acks, peer)
			continue
		}
		k.Point(p)
	}
	for _, p := range [...]*cause.Point{&b.last, &b.acked, &b.stored, &b.computed} {
		if past(*p) {
			*p = 0
		}
		k.Point(*p)
	}
	keepAll(k, b.cells)
}

// keep keeps what a ring has. A payload that was sent before now waits for no credit but the one
// that comes. Later credits leave at now or later, each for a use of its slot that ends then.
func (c *ringCauses) keep(k *cause.Keep, log *cause.Log, now unit.Time) {
	if c.credit != 0 && log.Time(c.credit) < now {
		c.credit = 0
	}
	if c.payload != 0 && log.Time(c.payload) <= now {
		c.payload = 0
	}
	k.Point(c.credit)
	k.Point(c.payload)
	keepAll(k, c.used)
	keepAll(k, c.credits)
}

func (b *batch) keepCauses(k *cause.Keep) {
	for _, g := range b.gangs {
		k.Point(g.last)
	}
	for _, v := range b.events {
		k.Point(v.cause)
	}
	for _, all := range b.queues {
		for _, q := range all {
			k.Point(q.engine.issued)
		}
	}
}

func keepAll(k *cause.Keep, all []cause.Point) {
	for _, p := range all {
		k.Point(p)
	}
}
