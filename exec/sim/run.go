package sim

import (
	"context"
	"fmt"
	"iter"

	"kernbench/des"
	"kernbench/fault"
	"kernbench/history"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/oplog"
	"kernbench/tl"
	"kernbench/trace"
	"kernbench/unit"
)

// run is one launch.
type run struct {
	e      *Executor
	launch *tl.Launch
	log    *oplog.Log
	ring   *tl.Ring
	ranks  []rank // of all groups, one after the other
	left   int
	xfers  []transfer
	free   uint32 // list of unused transfers; 0: none
	start  unit.Time
	result tl.Result
	fault  error // earliest in simulated time
	faultAt
	trace []trace.Event
	ctx   context.Context
	hung  bool
	batch *batch // of a run of streams, or nil
	words
	history *history.Log
	gaveUp  bool // a kernel has seen that the launch was cancelled
}

// faultAt orders faults: the one that comes out of a launch is the first in simulated
// time, whatever order kernels ran in.
type faultAt struct {
	time unit.Time
	rank int32
}

// rank is one PE of a launch: the Core of its kernel.
type rank struct {
	pe.PE
	engines   *pe.PE // that it computes with: its own, but for the programs of streams
	component uint32 // that ties are broken by
	run       *run
	ctx       *tl.Context
	id        int32 // in run.ranks
	index     int32 // in its group
	pe        int32
	group     int32
	base      int32 // id of rank 0 of the group

	tx             []txPort
	rx             []rxPort
	fromHBM, toHBM noc.Route // its own slice

	any int // port that the last undirected receive took from

	wait     waiting
	waitPort int32
	waitCell int32
	since    unit.Time
	flying   int32 // transfers of its own that are not complete
	pipes    int32 // composites that are not complete
	lanes    [4]uint32
	under    []access // of memory, under way
	calls    uint32
	polls    int32     // made with nothing else between
	instr    *tl.Instr // being carried out
	computed unit.Time // when the latest arithmetic is done

	next  func() (struct{}, bool)
	yield func(struct{}) bool
	book  *history.Book // nil: nobody keeps the account of memory

	sided // one-sided communication

	stop  func()
	err   error
	began unit.Time

	stream *stream // of a rank that is a stream
	parent *rank   // of a program of a grid: its stream

	agent     history.Agent // in the account of memory
	done      bool
	dismissed bool        // told to end without a result
	sends     []sending   // in the account, by port; nil: there is none
	place     fault.Place // where it was when the launch hung
}

// txPort is a ring that a rank sends into.
type txPort struct {
	ipcq.Tx
	peer   int32 // id
	peerIn uint8
	dir    tl.Dir
	source noc.Route // from TCM
	slots  noc.Route // from the memory that holds this rank's own slots
}

// rxPort is a ring that a rank receives from.
type rxPort struct {
	ipcq.Rx
	peer    int32 // id
	peerOut uint8
	held    int32 // slot that the kernel holds, or -1
	credit  unit.Time
	fetch   noc.Route // from the slots' memory to the PE
	sent    uint32    // credits
	number  uint32    // in the account of memory
}

// waiting is what a parked kernel waits for.
type waiting uint8

const (
	nothing    waiting = iota
	forTime            // global time to reach its clock
	forToken           // a token at ring waitPort
	forAny             // a token at any ring
	forCredit          // a free slot of ring waitPort
	forStream          // the payload in ring waitPort to be accepted whole
	forCell            // waitCell to be complete
	forDMA             // room in a DMA queue
	forDrain           // its transfers to be complete
	forCopy            // a copy to memory to be complete
	forAccess          // earlier accesses to the same memory to be complete
	forOthers          // of a stream: its programs, its copy, its gang, an event
	forSource          // the source of put waitCell to be read
	forGet             // get waitCell to be complete
	forReply           // that to atomic waitCell
	forPeer            // what was sent to peer waitPort to be acknowledged
	forPipes           // composites to be complete
	forEngines         // loads, stores and composites to be complete
	forQuiet           // everything to be complete
	forWord            // words
	forChange          // any word to change: it has polled in vain
)

// Event kinds beyond the fabric's.
const (
	kindWake   = noc.FirstFree + iota // rank Index: its clock has been reached
	kindCredit                        // rank Index: credit for ring Arg
)

// Lanes order what one rank causes at one instant: each has one poster.
const (
	laneProgram uint8 = iota // transfers that the kernel starts
	lanePipe                 // transfers of composites
	laneReply                // data that a request asked for
	laneWake
	laneToken  = 16 // plus ring
	laneCredit = 64 // plus ring
)

// key is the tie-break of what this rank causes.
func (r *rank) key(p des.Phase, lane uint8, counter uint32) des.Key {
	return des.MakeKey(p, r.component, lane, counter)
}

func (r *rank) laneKey(p des.Phase, lane uint8) des.Key {
	r.lanes[lane]++
	return r.key(p, lane, r.lanes[lane])
}

// body is a rank's coroutine.
func (r *rank) body(k tl.Kernel, a tl.Args) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		r.yield = yield
		abandoned, err := r.ctx.Run(k, a)
		switch {
		case r.dismissed:
			return
		case abandoned:
			err = &fault.Misuse{Place: r.run.e.place(r, "abandon"), Reason: "it is for executors: a kernel ends by returning"}
		}
		if err == nil {
			_, err = r.ctx.Run(r.drain, a)
		}
		r.err = err
		r.done = true
	}
}

// drain ends a kernel: it gives back what it holds and waits for its own transfers.
func (r *rank) drain(*tl.Context, tl.Args) {
	for i := range r.rx {
		r.letGo(i)
	}
	for r.flying > 0 || r.pipes > 0 {
		r.park(forDrain)
	}
	for r.flights > 0 {
		r.park(forQuiet)
	}
	end := max(r.Clock, r.Last, r.home)
	r.run.result.End = max(r.run.result.End, end)
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: trace.Kernel, Peer: -1, Start: r.began, End: end})
	}
	r.Clock = end
}

// simulate runs a launch to rest.
func (x *run) simulate(ctx context.Context) error {
	x.result, x.ctx = tl.Result{Start: x.start, End: x.start}, ctx
	q := &x.e.q
	before := q.Popped()
	x.accountBegin()
	for i := range x.ranks {
		if x.ranks[i].next == nil {
			continue // a program of a grid: its stream starts it
		}
		if x.resume(&x.ranks[i]); x.gaveUp {
			break
		}
	}
	for n := 0; ; n++ {
		if n%checkEvery == 0 || x.gaveUp {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("stopped at t=%v: %w", q.Now(), err)
			}
			if p := x.e.opts.Progress; p != nil && n%(1<<16) == 0 {
				p(len(x.ranks)-x.left, len(x.ranks), q.Now())
			}
		}
		ev, ok := q.Pop()
		if !ok && x.fault == nil && x.patient() {
			continue
		}
		if !ok || x.fault != nil && ev.Time > x.faultAt.time {
			break
		}
		switch kind := noc.Kind(ev); kind {
		case kindWake:
			x.woken(&x.ranks[noc.Index(ev)])
		case kindCredit:
			x.credited(&x.ranks[noc.Index(ev)], int(ev.Arg))
		default:
			x.e.net.Handle(ev)
		}
	}
	x.result.Events = q.Popped() - before
	x.countTraffic()
	if x.fault != nil {
		return x.fault
	}
	switch {
	case x.left > 0 && x.batch != nil:
		return x.stalled()
	case x.left > 0:
		return x.deadlock()
	}
	return x.leftOver()
}

// countTraffic adds up what each rank did. The programs of a device are one rank.
func (x *run) countTraffic() {
	for i := range x.ranks {
		r := &x.ranks[i]
		if r.ctx == nil {
			continue // a program that never started
		}
		at := i
		if x.batch != nil {
			at = int(r.index)
		}
		for len(x.result.Traffic) <= at {
			x.result.Traffic = append(x.result.Traffic, tl.Traffic{Rank: len(x.result.Traffic)})
		}
		x.result.Traffic[at].Add(r.ctx.Traffic())
		if r.stream != nil {
			for k := range r.stream.ops {
				x.result.Traffic[at].Add(r.stream.ops[k].Traffic(r.pe))
			}
		}
	}
}

// resume lets a kernel go on until it parks again or ends.
func (x *run) resume(r *rank) {
	r.wait = nothing
	r.next()
	if !r.done {
		return
	}
	x.left--
	if r.err != nil && (x.fault == nil || r.Clock < x.faultAt.time || r.Clock == x.faultAt.time && r.id < x.faultAt.rank) {
		x.fault, x.faultAt = r.err, faultAt{r.Clock, r.id}
	}
	if r.err == nil {
		r.accountJoin()
	}
	if r.parent != nil && r.err == nil {
		r.programEnded()
	}
}

// park stops a kernel until something resumes it.
func (r *rank) park(w waiting) {
	r.wait, r.since = w, r.Clock
	if !r.yield(struct{}{}) {
		if r.run.hung {
			r.place = r.ctx.Place(r.operation())
			r.place.Time = r.since
			if w == forChange {
				r.place.Time = r.spin.began
			}
		}
		r.dismissed = true
		r.ctx.Abandon()
	}
}

// sync waits until global time has reached the kernel's clock and everything before has
// happened.
func (r *rank) sync() {
	r.wake(r.Clock)
	r.park(forTime)
}

// woken resumes a kernel whose time has come. A wake-up that is no longer meant is told
// by what the kernel waits for now.
func (x *run) woken(r *rank) {
	now := x.e.q.Now()
	switch {
	case r.wait == forTime && r.Clock != now:
		return
	case r.wait == forWord && r.watch.posted && r.Clock == now:
	case r.wait != forTime && r.wait != forDMA && r.wait != forDrain && r.wait != forOthers:
		return
	}
	r.Clock = max(r.Clock, now)
	x.resume(r)
}

// leftOver is the fault of a launch that ended well but for messages in its rings.
func (x *run) leftOver() error {
	for i := range x.ranks {
		r := &x.ranks[i]
		for p := range r.rx {
			if n := r.rx[p].Visible(); n > 0 {
				return &fault.Unreceived{
					Place: fault.Place{Rank: int(r.index), PE: x.e.m.PEName(int(r.pe)), Time: x.result.End, Timed: true},
					Dir:   x.launch.Groups[r.group].Wiring[r.index].In[p].Dir.String(),
					From:  int(x.ranks[r.rx[p].peer].index), Count: int(n),
				}
			}
		}
	}
	for i := range x.ranks {
		r := &x.ranks[i]
		for p := range r.tx {
			if t := &r.tx[p]; t.MyHead != t.PeerTailCache {
				return fmt.Errorf("internal error: ended with %d credits of rank %d %v not home", t.MyHead-t.PeerTailCache, r.index, t.dir)
			}
		}
	}
	return nil
}

// stopAll ends the coroutines that are left and drops their values.
func (x *run) stopAll() {
	for i := range x.ranks {
		r := &x.ranks[i]
		if r.stop == nil {
			continue // not prepared
		}
		r.stop()
		if x.log != nil {
			r.ctx.DropAll()
		}
	}
}
