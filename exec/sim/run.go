package sim

import (
	"context"

	"kernbench/des"
	"kernbench/fault"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/internal/slab"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// run is one launch.
type run struct {
	e         *Executor
	launch    *launch.Launch
	log       *oplog.Log
	ring      *tl.Ring
	ranks     []rank // of all groups, one after the other
	rings     []ring
	sizing    map[int]*ipcq.Sizing // of their slots, by number
	mostSlots int                  // of a ring
	left      int                  // of the kernels, those that have not ended
	all       int
	xfers     slab.Table[transfer]
	multis    slab.Table[multi]
	start     unit.Time
	result    launch.Result
	fault     error // earliest in simulated time
	faultAt
	tracing
	ctx   context.Context
	hung  bool
	batch *batch // of a run of streams, or nil
	words
	causing
	history   *history.Log
	still     bool   // nothing happens any more
	mode      string // see launch.Result.Mode
	watched   bool   // its instructions need more than to be carried out: see issueWatched
	loop      des.Loop
	cancelled bool // a kernel has seen that the launch was
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
	seat      int32  // PE at which it sits: the same, but for a communication engine that several share
	source    uint32 // that the fabric keeps what it sends in order by
	group     int32
	base      int32 // id of rank 0 of the group

	tx, rx         []*ring   // by port
	fromHBM, toHBM noc.Route // its own slice

	any int // port that the last undirected receive took from

	wait     waiting
	waitPort int32
	waitCell int32
	since    unit.Time
	flying   int32 // transfers of its own that are not complete
	inUse    int   // rings that it has sent into
	pipes    int32 // composites that are not complete
	posted   [seqSeen + 1]uint32
	under    []access // of memory, under way
	calls    uint32
	polls    int32     // made with nothing else between
	instr    *tl.Instr // being carried out
	computed unit.Time // when the latest arithmetic is done

	next  func() (struct{}, bool)
	yield func(struct{}) bool
	book  *history.Book // nil: no account of memory is kept

	why *because // nil: causes are not recorded

	sided // one-sided communication

	stop    func()
	err     error
	began   unit.Time
	issued  unit.Time // clock at which the instruction at hand was issued, in a run that is traced
	scratch int64     // in use, as the trace has it
	flows   uint32    // that it has begun, in the trace

	stream  *stream // of a rank that is a stream
	parent  *rank   // of a program of a grid, or of a task that such a one has posted: its stream
	program int     // its number
	task    *task   // of a communication engine; nil: it is none
	turn    int32   // number of the collective that has begun, or 0

	agent     history.Agent // in the account of memory
	done      bool
	dismissed bool        // told to end without a result
	sends     []sending   // in the account, by port; nil: there is none
	posts     []*task     // that it has posted and not awaited
	place     fault.Place // where it was when the launch hung
}

// ring is a ring from one rank to another, both ends.
type ring struct {
	ipcq.Ring
	sizing   *ipcq.Sizing
	slots    []ipcq.Slot
	tokens   []ipcq.Token // by slot
	payload  payload      // that was sent last
	from, to int32        // ids
	out, in  uint8        // ports
	credit   unit.Time    // that one takes on its way back
	late     unit.Time    // from a token's arrival until it is seen
	source   noc.Route    // from the sender's TCM
	onward   noc.Route    // from the memory that holds the sender's own slots
	fetch    noc.Route    // from the slots' memory to the receiver
	why      *ringCauses  // nil: causes are not recorded
}

// payload is what one send puts into a ring.
type payload struct {
	ipcq.Stream
	token ipcq.Token // all of it
	per   int32      // elements of a slot
	slot  int32      // that the source lies in, or -1
	in    uint8      // ring of that slot
	line  string     // of the send, if lines are recorded
}

// waiting is what a parked kernel waits for.
type waiting uint8

const (
	nothing   waiting = iota
	forTime           // global time to reach its clock
	forToken          // a token at ring waitPort
	forAny            // a token at any ring
	forCredit         // a free slot of ring waitPort
	forStream         // the payload in ring waitPort to be accepted whole
	forCell           // waitCell to be complete
	forDMA            // room in a DMA queue
	forCopy           // a copy to memory to be complete
	forAccess         // earlier accesses to the same memory to be complete
	forOthers         // of a stream: its programs, its copy, its gang, an event
	forSource         // the source of put waitCell to be read
	forWord           // words
	forChange         // any word to change: it has polled in vain

	// From here on what progress ends.
	forGet     // get waitCell to be complete
	forReply   // that to atomic waitCell
	forPeer    // what was sent to peer waitPort to be acknowledged
	forPipes   // composites to be complete
	forEngines // loads, stores and composites to be complete
	forQuiet   // everything to be complete
	forDrain   // its transfers to be complete
)

// Event kinds beyond the fabric's.
const (
	kindWake   = noc.FirstFree + iota // rank Index: its clock has been reached
	kindCredit                        // rank Index: credit for ring Arg
	kindLate                          // put Index arrives at last
	kindSeen                          // transfer Index is seen by its receiver
)

// Sequences order the events of one rank at one instant: each has one poster.
const (
	seqProgram uint8 = iota // transfers that the kernel starts
	seqPipe                 // transfers of composites
	seqReply                // data that a request asked for
	seqWake
	seqLate        // puts that a random schedule puts off
	seqSeen        // what has arrived and is yet to be seen
	seqToken  = 16 // plus ring
	seqCredit = 64 // plus ring
)

// key is the tie-break of what this rank causes.
func (r *rank) key(p des.Phase, sequence uint8, counter uint32) des.Key {
	return des.MakeKey(p, r.component, sequence, counter)
}

func (r *rank) nextKey(p des.Phase, sequence uint8) des.Key {
	r.posted[sequence]++
	return r.key(p, sequence, r.posted[sequence])
}
