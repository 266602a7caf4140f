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

// randomSched is the state of a rank in a random schedule.
type randomSched struct {
	drawn  uint64
	access unit.Time // latest start of a load or store
}

// draw returns the next random number of a rank: a hash of the seed, the rank and the number of
// draws. So it does not depend on how far the kernel has run ahead.
func (r *rank) draw() uint64 {
	r.randomSched.drawn++
	// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
	z := r.run.e.opts.Seed ^ uint64(r.component)<<40 ^ r.randomSched.drawn*0x9e3779b97f4a7c15
	for range 2 {
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
	}
	return z
}

// delay returns a random time: mostly 0, sometimes that of a few messages, rarely a very long one.
// So both near and far operations change places.
func (r *rank) delay() unit.Time {
	z := r.draw()
	most := [8]unit.Time{0, 0, 0, 0, 20, 200, 2000, 20000}[z&7] * unit.Nanosecond
	return unit.Time(uint64(most) * (z >> 40) >> 24)
}

// pause returns a random time between two instructions.
func (r *rank) pause() unit.Time {
	if r.draw()&3 != 0 {
		return 0
	}
	return r.delay()
}

// startTime returns the start of a one-sided transfer that could start at a time. A random schedule
// delays it, but it stays after those that the memory order puts before it.
func (r *rank) startTime(i int32, c channel, at unit.Time) unit.Time {
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

// lateness returns the random delay of a put's arrival. A put whose call waits for its source
// starts before later operations, so only a delay lets a later signal arrive before it.
func (r *rank) lateness() unit.Time {
	if r.run.e.opts.Seed == 0 || r.run.e.order > mem.ByChannel {
		return 0
	}
	return r.delay()
}

// delayPut delays the arrival of a put in a random schedule, and reports whether it did. Puts that
// the memory order keeps in order stay in order.
func (x *run) delayPut(r *rank, user uint32, now unit.Time) bool {
	f := x.effects.At(x.xfers.At(user).ref)
	if x.e.opts.Seed == 0 || f.info.late < 0 {
		return false
	}
	at := now + f.info.late
	f.info.late = -1
	if x.e.order == mem.ByChannel {
		d := &r.peers.random[f.peer]
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

// startsAccess is starts for loads and stores, which keep their order. Only stores are delayed,
// because a late load equals one that was issued late.
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
	r.randomSched.access = max(r.randomSched.access, at)
	return r.randomSched.access
}
