package sim

import (
	"context"
	"fmt"

	"kernbench/des"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/oplog"
	"kernbench/tl"
	"kernbench/trace"
	"kernbench/unit"
)

// follow is one launch on the short way: see follows.
type follow struct {
	e      *Executor
	net    *noc.Fabric
	q      *des.Queue
	launch *tl.Launch
	log    *oplog.Log
	ring   *tl.Ring
	ranks  []follower // of all groups, one after the other
	left   int        // of the kernels, those that have not ended
	start  unit.Time
	rest   unit.Time // when the latest message, credit and access come to their end
	result tl.Result
	fault  int32 // rank whose kernel is at fault, first in simulated time; or -1
	at     unit.Time
	still  bool // nothing happens any more
	traces

	ctx   context.Context
	until int // steps and events until the loop looks whether the launch was cancelled

	ready   []int32 // ranks that can go on, from first on, and round
	first   int
	going   int // how many
	reached unit.Time

	forms     []form // as far as they are known to those who follow
	made      []form // and to those who record
	formIndex map[formKey]uint32
	access    struct { // the latest one
		bytes int64
		time  unit.Time
	}
	rings    []ring
	slots    []slot   // of all rings, one after the other
	perRing  divisor  // slots of a ring
	tokens   []token  // what they hold, for the log; else nil
	ports    []uint32 // numbers of the rings of all ranks: those that one sends into, then those that it receives from
	manners  []manner // of rings
	payloads []payload
	wires    []wire // tokens on links that several routes share
	wireFree uint32 // list of unused ones; 0: none

	side    *side // of two that follow the launch; nil: one does
	private bool  // all rings have links of their own

	uses      []noc.Use // of the fabric, by ring, until their ways are found
	lead      unit.Time // see noc.Load
	isolated  bool      // they are
	lookahead unit.Time // between the two sides on the fabric; 0: it does not part

	part     recording // that is being made
	long     []op      // of several parts
	ahead    *ahead    // nil: parts are recorded when they are needed
	idle     []*recorder
	busy     map[int32]*recorder // of ranks whose kernel has been recorded in part
	traffic  []tl.Traffic        // of each rank; where they share records, of each record
	recordOf []int32             // by rank, where they share them
	who      []oplog.Who         // the ranks, for the log
	detailed bool                // details are wanted
}

// follower is one rank of it. What every step needs comes first.
type follower struct {
	recording
	at     int32 // in ops
	wait   waiting
	port   uint8 // that it waits at
	begun  bool  // the op at hand is
	done   bool
	clock  unit.Time
	memory unit.Time // when the memory's port is free, or at fidelity Ideal the latest access done
	math   unit.Time // when that engine is free
	last   unit.Time // when the last of its own transfers, and of its arithmetic, is complete
	cells  []cell
	dma    []unit.Time // when loads and stores leave that queue, in order
	tx, rx uint32      // first in follow.ports
	ins    int32       // rings that it receives from
	part   int32       // of the payload that is being assembled
	flying int32       // tokens on shared links that have not left
	unsent int32       // rings with a payload of which parts have no slot yet
	gemm   unit.Time
	seen   unit.Time // the latest time at which it was to hear of something, when it had

	from, waited unit.Time // when the op at hand was issued, and knew its operand
	passed       int64     // ops in earlier parts of the record
	got          uint32    // form of what it received last
	*held
	id          int32 // in follow.ranks
	index, pe   int32
	group, base int32
}

// held is what a rank has in hand, for the log; nil: there is none.
type held struct {
	values []token // of its tensors, by cell
	staged tl.Value
}

// perform follows a launch to its end.
func (w *follow) perform(ctx context.Context) (*tl.Result, error) {
	e := w.e
	e.follow, e.broken = w, errExited
	defer func() { // also when a kernel ends the goroutine
		w.stopAll()
		if w.isolated {
			e.net.Mingle()
		}
		e.follow = nil
	}()
	err := w.simulate(ctx)
	if e.opts.Pointers != nil {
		for g := range w.launch.Groups {
			fmt.Fprintf(e.opts.Pointers, "launch %s, group %d of %d:\n%s\n", w.launch.Name, g, len(w.launch.Groups), fault.Pointers(w.ringEnds(int32(g)), 0))
		}
	}
	e.end = max(e.end, w.result.End, w.rest)
	w.stopAll()
	w.traces.emit(e.opts.Trace, w.fault >= 0, w.at)
	if err == nil && w.log != nil {
		err = w.log.Flush()
	}
	if e.broken = err; err != nil {
		return nil, err
	}
	return &w.result, nil
}

// simulate follows all ranks to rest.
func (w *follow) simulate(ctx context.Context) error {
	w.result, w.ctx = tl.Result{Start: w.start, End: w.start}, ctx
	q := w.q
	before := q.Popped()
	w.ready, w.going = make([]int32, len(w.ranks)), len(w.ranks)
	for i := range w.ready {
		w.ready[i] = int32(i)
	}
	if w.log != nil {
		w.who = make([]oplog.Who, len(w.ranks))
		for i := range w.who {
			w.who[i] = w.log.Who(oplog.Origin{Rank: w.ranks[i].index, PE: w.ranks[i].pe})
		}
	}
	recorded, err := w.recordShared()
	if err != nil {
		return err
	}
	w.isolate(recorded)
	if recorded {
		if err := w.byTwo(); err != nil {
			return err
		}
	} else {
		w.traffic = make([]tl.Traffic, len(w.ranks))
		w.recordAhead()
	}
	for looks := 0; ; w.until-- {
		if w.until <= 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("stopped at t=%v: %w", q.Now(), err)
			}
			if p := w.e.opts.Progress; p != nil && looks%16 == 0 {
				p(len(w.ranks)-w.left, len(w.ranks), max(q.Now(), w.reached))
			}
			w.until = checkEvery
			looks++
		}
		if w.catchUp() {
			continue
		}
		ev, ok := q.Pop()
		if !ok && w.fault < 0 && w.endUnsent() {
			continue
		}
		if !ok || w.fault >= 0 && ev.Time > w.at {
			break
		}
		w.net.Handle(ev)
	}
	w.quit()
	w.result.Events += q.Popped() - before
	w.result.Traffic = w.trafficOfRanks()
	switch {
	case w.fault >= 0:
		return w.explain(&w.ranks[w.fault])
	case w.left > 0:
		return w.deadlock()
	}
	return w.leftOver()
}

// trafficOfRanks is what each rank did.
func (w *follow) trafficOfRanks() []tl.Traffic {
	all := w.traffic
	if w.recordOf != nil {
		all = make([]tl.Traffic, len(w.ranks))
		for i, k := range w.recordOf {
			all[i] = w.traffic[k]
		}
	}
	for i := range all {
		all[i].Rank = i
	}
	return all
}

// catchUp carries out the next rank that can go on; false when there is none.
func (w *follow) catchUp() bool {
	if w.going == 0 {
		return false
	}
	f := &w.ranks[w.ready[w.first]]
	w.going--
	if w.first++; w.first == len(w.ready) {
		w.first = 0
	}
	w.reached = max(w.reached, f.clock)
	if w.fault < 0 || f.clock <= w.at { // else what it does would come after the end
		w.step(f)
	}
	return true
}

// wake lets a rank that waits go on, before all others: what it waited for is in the cache yet, and those who
// talk to each other go on together.
func (w *follow) wake(f *follower) {
	f.wait = nothing
	if w.first--; w.first < 0 {
		w.first = len(w.ready) - 1
	}
	w.ready[w.first] = f.id
	w.going++
}

// endUnsent lets kernels end whose payloads nobody has taken, or ever will: nothing else happens
// any more. It is for those who did not take them to be at fault.
func (w *follow) endUnsent() bool {
	if w.still {
		return false
	}
	w.still = true
	for i := range w.ranks {
		if f := &w.ranks[i]; f.wait == forDrain {
			w.wake(f)
		}
	}
	return true
}

// stopAll ends the coroutines and drops the values that are left.
func (w *follow) stopAll() {
	w.quit()
	for _, r := range w.busy {
		r.gone = true
		r.stop()
	}
	for _, r := range w.idle {
		r.gone = true
		r.stop()
	}
	w.busy, w.idle = nil, nil
	if w.log == nil {
		return
	}
	for i := range w.ranks {
		for k, v := range w.ranks[i].values {
			w.log.Release(v.value)
			w.ranks[i].values[k].value = 0
		}
	}
}

// emit keeps an event of a rank until the launch is over.
func (w *follow) emit(f *follower, e trace.Event) {
	e.PE, e.Rank = f.pe, f.index
	w.traces.add(e, f.seen)
}
