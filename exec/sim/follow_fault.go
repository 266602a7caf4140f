package sim

import (
	"fmt"

	"kernbench/fault"
	"kernbench/tl"
	"kernbench/unit"
)

// again is a kernel run once more, alone, for what it says of itself at an instruction: where it
// is, or what it makes of what it gets there.
type again struct {
	at     unit.Time // simulated
	target int64     // number of the instruction, or -1: the fault that the kernel ends in
	count  int64
	op     string // what to call it: the place of the instruction is wanted
	place  fault.Place
	got    *form // what it receives there instead
}

// reached tells whether it has come to that instruction, or is beyond being asked.
func (a *again) reached(r *recorder, in *tl.Instr) bool {
	n := a.count
	a.count++
	switch {
	case n != a.target:
		return false
	case a.got != nil:
		in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, a.got.shape, a.got.typ, int(a.got.n)
		return true
	}
	a.place = r.ctx.Place(a.op)
	r.gone = true
	r.ctx.Abandon()
	return true
}

// repeat runs the kernel of a rank again.
func (w *follow) repeat(f *follower, a *again) error {
	r := w.newRecorder()
	defer r.stop()
	r.f, r.repeat = f, a
	return r.run()
}

// number is that of the instruction at which a rank is, of those that its kernel has been given.
func (f *follower) number() int64 {
	n := f.passed
	for _, o := range f.ops[:f.at] {
		if o.kind != opDrop {
			n++
		}
	}
	return n
}

// explain is the fault of a rank.
func (w *follow) explain(f *follower) error {
	a := &again{at: f.clock, target: -1}
	if o := &f.ops[f.at]; o.kind == opRecv {
		a.target, a.got = f.number(), &w.forms[f.got]
	}
	err := w.repeat(f, a)
	if err == nil {
		err = fmt.Errorf("%v: the kernel failed at %v, and did not when it was run again: what it does must depend on its arguments alone", w.e.placeOf(int(f.index), int(f.pe), "", f.clock), f.clock)
	}
	return err
}

// deadlock explains why nobody can go on. Groups do not talk to each other, so it is about the
// first group that has ranks left.
func (w *follow) deadlock() error {
	var blocked []fault.Blocked
	group := int32(-1)
	at := max(w.e.q.Now(), w.rest, w.result.End)
	for i := range w.ranks {
		f := &w.ranks[i]
		if f.done || group >= 0 && f.group != group {
			continue
		}
		group = f.group
		at = max(at, f.clock)
		blocked = append(blocked, w.blocked(f))
	}
	d := fault.NewDeadlock(len(w.launch.Groups[group].PEs), blocked)
	d.Rings, d.Time, d.Timed = w.ringEnds(group), at, true
	return d
}

// blocked says what a rank waits for, and where.
func (w *follow) blocked(f *follower) fault.Blocked {
	wiring, slots := &w.launch.Groups[f.group].Wiring[f.index], w.ring.Slots
	a := &again{at: f.clock, target: f.number()}
	var b fault.Blocked
	if f.wait == forToken {
		r := &w.rings[w.ports[f.rx+uint32(f.port)]]
		a.op = "recv(" + wiring.In[f.port].Dir.String() + ")"
		b = wiring.WaitsToRecv(int(f.port), int(r.come-r.given), slots)
	} else {
		r := w.out(f, f.port)
		a.op = "send(" + wiring.Out[f.port].Dir.String() + ")"
		b = wiring.WaitsToSend(int(f.port), int(r.head-r.tail), slots)
	}
	_ = w.repeat(f, a) // it ends where it is to tell its place
	b.Place = a.place
	return b
}

// ringEnds lists the ends of all rings of a group, by rank and direction.
func (w *follow) ringEnds(group int32) []fault.RingEnd {
	var ends []fault.RingEnd
	for i := range w.ranks {
		f := &w.ranks[i]
		if f.group != group {
			continue
		}
		ends = append(ends, w.launch.Groups[group].Wiring[f.index].Ends(int(f.index), func(i int, e *fault.RingEnd) {
			r := w.out(f, uint8(i))
			e.Mine, e.Cached = r.head, r.tail
			if w.streaming(r) {
				s := &w.payloads[r.payload-1]
				e.Pending = fmt.Sprintf("sent %d of %d parts", s.next, w.forms[s.form].parts)
			}
		}, func(i int, e *fault.RingEnd) {
			r := &w.rings[w.ports[f.rx+uint32(i)]]
			e.Mine, e.Cached = r.given, r.come
		})...)
	}
	return ends
}

// leftOver is the fault of a launch that ended well but for messages in its rings.
func (w *follow) leftOver() error {
	for i := range w.ranks {
		f := &w.ranks[i]
		for k := range f.ins {
			if r := &w.rings[w.ports[f.rx+uint32(k)]]; r.come != r.taken {
				return &fault.Unreceived{
					Place: w.e.placeOf(int(f.index), int(f.pe), "", w.result.End),
					Dir:   w.launch.Groups[f.group].Wiring[f.index].In[k].Dir.String(),
					From:  int(w.ranks[r.from].index), Count: int(r.come - r.taken),
				}
			}
		}
	}
	for i := range w.rings {
		if r := &w.rings[i]; r.head != r.tail {
			return fmt.Errorf("internal error: ended with %d credits of rank %d %v not home", r.head-r.tail, w.ranks[r.from].index, tl.Dir(w.dirOf(r)))
		}
	}
	return nil
}
