package sim

import (
	"kernbench/record/cause"
	"kernbench/unit"
)

// This file lists the causes that a run may still need, so that the log can drop the rest. Between
// two events no kernel runs, so each point that is in use lies in a field.

// forgetCauses lets the log forget, now and then.
func (x *run) forgetCauses() {
	if x.causes != nil && x.causes.Due() {
		x.causes.Forget(x.keepCauses)
	}
}

// keepCauses keeps what the run, the fabric and the parts of PEs have of the log.
func (x *run) keepCauses(k *cause.Keep) {
	x.e.net.KeepCauses(k)
	k.Point(x.heard)
	k.Point(x.last)
	for _, p := range x.delayed {
		k.Point(p)
	}
	for _, b := range x.busy {
		b.keep(k)
	}
	for i := range x.ranks {
		if b := x.ranks[i].why; b != nil {
			b.keep(k, x.causes, x.e.q.Now())
		}
	}
	for i := range x.rings {
		x.rings[i].why.keep(k)
	}
	if x.batch != nil {
		x.batch.keepCauses(k)
	}
}

func (b *busy) keep(k *cause.Keep) {
	keepAll(k, b.units[:])
	keepAll(k, b.left[0])
	keepAll(k, b.left[1])
}

// keep keeps what a rank has. It drops what came before the rank's clock: a rank does not wait for
// the past. See waited. A kernel that is resumed does not ask for acknowledgements that came before
// now, because its clock is later.
func (b *because) keep(k *cause.Keep, log *cause.Log, now unit.Time) {
	k.Point(b.at)
	k.Point(b.pending)
	clock := log.Time(b.at)
	past := func(p cause.Point) bool { return p != 0 && log.Time(p) <= clock }
	for i, p := range b.cells {
		if past(p) {
			b.cells[i] = 0
		}
	}
	for peer, p := range b.homes {
		if past(p) || log.Time(p) < now {
			delete(b.homes, peer)
			continue
		}
		k.Point(p)
	}
	for _, p := range [...]*cause.Point{&b.last, &b.home, &b.stored, &b.computed} {
		if past(*p) {
			*p = 0
		}
		k.Point(*p)
	}
	keepAll(k, b.cells)
}

func (c *ringCauses) keep(k *cause.Keep) {
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
