package sim

import (
	"kernbench/des"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/internal/slab"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/frames"
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
	xfers     slab.Table[transfer]
	tokens    slab.Table[ipcq.Token] // in flight
	multis    slab.Table[multi]
	groups    map[any]*group // by the team or group that instructions name
	start     unit.Time
	mode      string // see launch.Result.Mode
	history   *history.Log
	batch     *batch // of a run of streams, or nil
	progress
	tracing
	words
	causing
}

// rank is one PE of a launch, or one block of several on a PE: the Core of its kernel. Its parts
// stand in the files that change them.
type rank struct {
	pe.PE
	parking       // its coroutine
	outstanding   // what it has begun and is not complete
	issuing       // the instruction at hand
	ringUse       // its rings
	oneSidedState // one-sided communication
	hosted        // of streams and programs
	tasking       // communication engines
	traced        // its trace
	accounted     // its account of memory

	run       *run
	ctx       *tl.Context
	wiring    *tl.Wiring // its rings
	engines   *pe.PE     // PE whose engines it uses: its own, except for programs of streams
	component uint32     // breaks ties between events
	id        int32      // in run.ranks
	index     int32      // of the rank in its group
	block     int32      // among the blocks of its group: the same, but where ranks have several
	pe        int32
	seat      int32  // PE that holds it: the same, except for a communication engine that several PEs share
	source    uint32 // the fabric keeps messages with the same source in order
	group     int32
	base      int32 // id of rank 0 of the group

	blocks         []rank    // all blocks of its rank; nil: it is the only one
	tx, rx         []*ring   // by port
	fromHBM, toHBM noc.Route // its own slice
	posted         [seqSeen + 1]uint32
	causes         *rankCauses // nil: causes are not recorded
}

// ring is a ring from one rank to another, both ends.
type ring struct {
	ipcq.Ring
	sizing    *ipcq.Sizing
	slots     []ipcq.Slot
	tokens    []ipcq.Token // by slot
	payload   payload      // last payload that was sent
	from, to  int32        // ids
	out, in   uint8        // ports
	credit    unit.Time    // time of a credit to the sender
	late      unit.Time    // from a token's arrival until it is seen
	head      unit.Time    // of a token without its bytes; 0: not known
	written   unit.Time    // when channels have written the latest token that came
	source    noc.Route    // from the sender's TCM
	fromSlots noc.Route    // from the memory that holds the sender's own slots
	fetch     noc.Route    // from the slots' memory to the receiver
	causes    *ringCauses  // nil: causes are not recorded
}

// payload holds what one send puts into a ring.
type payload struct {
	ipcq.Stream
	token    ipcq.Token   // all of it
	per      int32        // elements of a slot
	slot     int32        // slot that holds the source, or -1
	in       uint8        // ring of that slot
	channels uint16       // of the send
	line     *frames.Call // of the send, if lines are recorded
}

// Event kinds beyond the fabric's.
const (
	kindWake   = noc.FirstFree + iota // rank Index: its clock has been reached
	kindCredit                        // rank Index: credit for ring Arg
	kindLate                          // put Index arrives at last
	kindSeen                          // transfer Index is seen by its receiver
)

// Sequences order the events of one rank at one instant. One component posts each sequence.
const (
	seqProgram uint8 = iota // transfers that the kernel starts
	seqPipe                 // transfers of composites
	seqReply                // data that a request asked for
	seqWake
	seqLate        // puts that a random schedule delays
	seqSeen        // arrivals that are not seen yet
	seqToken  = 16 // plus ring
	seqCredit = 64 // plus ring
)

// key returns the tie-break of what this rank causes.
func (r *rank) key(p des.Phase, sequence uint8, counter uint32) des.Key {
	return des.MakeKey(p, r.component, sequence, counter)
}

func (r *rank) nextKey(p des.Phase, sequence uint8) des.Key {
	r.posted[sequence]++
	return r.key(p, sequence, r.posted[sequence])
}
