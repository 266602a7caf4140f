package sim

import (
	"kernbench/hw/pe"
	"kernbench/record/cause"
	"kernbench/tl"
	"kernbench/unit"
)

// busy is the state of a PE's engines for a log of causes.
type busy struct {
	units [pe.MostUnits]cause.Point // when each is free
	left  [2][]cause.Point          // descriptors that have left the DMA's queues, or will
}

// busyOf returns that of a PE.
func (x *run) busyOf(p *pe.PE) *busy {
	b := x.busy[p]
	if b == nil {
		b = &busy{}
		x.busy[p] = b
	}
	return b
}

// leaves notes that a descriptor leaves a queue of the DMA.
func (b *busy) leaves(log *cause.Log, q int, p cause.Point, now unit.Time) {
	kept := b.left[q][:0]
	for _, old := range b.left[q] {
		if log.Time(old) > now {
			kept = append(kept, old)
		}
	}
	b.left[q] = append(kept, p)
}

// leftAt returns the latest that had left a queue at a time.
func (b *busy) leftAt(log *cause.Log, q int, t unit.Time) (best cause.Point) {
	for _, p := range b.left[q] {
		if at := log.Time(p); at <= t && (best == 0 || at > log.Time(best)) {
			best = p
		}
	}
	return best
}

// works returns the point at which a unit ends work that comes after another point and takes from
// start to end.
func (r *rank) works(n int, after cause.Point, start, end unit.Time) cause.Point {
	log, b := r.run.causes, r.run.busyOf(r.engines)
	at := cause.At(unitKinds[n], int(r.seat))
	if t := log.Time(after); start > t {
		if free := b.units[n]; free != 0 && log.Time(free) == start {
			after = log.Wait(t, free, log.Owner(after), cause.Queueing, at)
		}
	}
	p := log.AddAt(end, after, log.Owner(after), cause.Arithmetic, at)
	b.units[n] = p
	return p
}

// unitKinds are the resources of the units of a PE, by number.
var unitKinds = [pe.MostUnits]cause.Kind{pe.Math: cause.Math, pe.GEMM: cause.GEMM, 2: cause.Engine, 3: cause.Engine}

// computes notes the result of an instruction whose engine works from start to end.
func (r *rank) computes(in *tl.Instr, n int, start, end unit.Time) {
	x, b := r.run, r.causes
	after := b.at
	p := r.works(n, after, start, end)
	for _, i := range [...]int32{in.A, in.B, in.C} {
		if i == tl.None {
			continue
		}
		if c := tl.DriverOf(r.ctx).Cell(i); c.InSlot && !x.ring.OnRecv {
			x.useEnds(r.rx[c.In], uint32(c.Slot), p)
		}
	}
	b.filledAt(in.Dst, p)
	x.later(&b.last, p)
	x.later(&b.computed, p)
}

// issuedFor notes that the CPU of an engine has issued an instruction of a rank, after those
// before.
func (c *commEngine) issuedFor(r *rank) {
	if r.causes == nil {
		return
	}
	r.waited(cause.Queueing, cause.At(cause.Engine, int(r.seat)), c.issued)
	r.attribute(cause.Issue, cause.Engine)
	c.issued = r.causes.at
}

// works makes the end of a unit's work the cause of the next step of a composite.
func (q *pipeline) works(n int, start, end unit.Time) {
	if x := q.r.run; x.causes != nil {
		x.setCurrent(q.r.works(n, x.current, start, end))
	}
}
