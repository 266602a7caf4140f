package sim

import (
	"kernbench/des"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/unit"
)

// channel is a traffic class of one-sided communication at its source.
type channel uint8

const (
	byPut channel = iota
	byWord
	byGet
	channels
)

// chance is what a rank has drawn of a random schedule.
type chance struct {
	drawn  uint64
	access unit.Time // latest start of a load or store
}

// draw is the next random number of a rank: a hash of the seed, the rank and how many it has
// drawn, so that it is the same however far the kernel has run ahead.
func (r *rank) draw() uint64 {
	r.chance.drawn++
	// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
	z := r.run.e.opts.Seed ^ uint64(r.component)<<40 ^ r.chance.drawn*0x9e3779b97f4a7c15
	for range 2 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
	}
	return z
}

// delay is a random time: mostly none, at times some messages' worth, rarely very long, so
// that near and far things change places.
func (r *rank) delay() unit.Time {
	z := r.draw()
	most := [8]unit.Time{0, 0, 0, 0, 20, 200, 2000, 20000}[z&7] * unit.Nanosecond
	return unit.Time(uint64(most) * (z >> 40) >> 24)
}

// pause is a random time between two instructions.
func (r *rank) pause() unit.Time {
	if r.draw()&3 != 0 {
		return 0
	}
	return r.delay()
}

// starts is when a transfer of one-sided communication starts that could at a time: under a
// random schedule some time later, but not before what the memory order puts before it.
func (r *rank) starts(i int32, c channel, at unit.Time) unit.Time {
	if r.run.e.opts.Seed == 0 {
		return at
	}
	at += r.delay()
	switch r.run.e.order {
	case mem.PutSignal:
		return at
	case mem.InOrder, mem.Sequential:
		c = 0
	}
	d := &r.peers.random[i]
	d.started[c] = max(d.started[c], at)
	return d.started[c]
}

// lateness is by how much a put arrives later than it could. A put whose call waits for its source
// starts before what follows it; only so a signal that is sent after it can be there before.
func (r *rank) lateness() unit.Time {
	if r.run.e.opts.Seed == 0 || r.run.e.order > mem.ByChannel {
		return 0
	}
	return r.delay()
}

// putOff lets a put arrive later, if a random schedule says so. What the memory order puts
// before another put stays before it.
func (x *run) putOff(r *rank, user uint32, now unit.Time) bool {
	f := x.effects.At(x.xfers.At(user).side)
	if x.e.opts.Seed == 0 || f.late < 0 {
		return false
	}
	at := now + f.late
	f.late = -1
	if x.e.order == mem.ByChannel {
		d := &r.peers.random[f.to]
		at = max(at, d.landed+1)
		d.landed = at
	}
	if at == now {
		return false
	}
	x.seenAt(user, at, cause.Delay)
	x.e.q.Post(des.Event{Time: at, Key: r.nextKey(des.Arrive, seqLate), Target: noc.Target(kindLate, user)})
	return true
}

// startsAccess is starts for loads and stores, which keep their order. Only stores are
// delayed: a load that comes late is one that was issued late.
func (r *rank) startsAccess(at unit.Time, store bool) unit.Time {
	if r.run.e.opts.Seed != 0 {
		return r.delayedAccess(at, store)
	}
	return at
}

func (r *rank) delayedAccess(at unit.Time, store bool) unit.Time {
	if store {
		at += r.delay()
	}
	r.chance.access = max(r.chance.access, at)
	return r.chance.access
}
