package replay

import (
	"errors"

	"kernbench/des"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/machine"
	"kernbench/program"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Input is a program to replay, and the machine.
type Input struct {
	Program *program.Program
	Parts   *program.Parts // of a long program
	Launch  *launch.Launch
	Start   unit.Time

	Machine *machine.Machine
	Spec    *pe.Spec
	Net     *noc.Fabric // at rest; its sink passes on its calls
	Queue   *des.Queue  // of Net
	Ideal   bool        // fidelity of Net
	HBM     *machine.LinkSpec
	Message unit.Bytes // the largest that the fabric carries

	// Timing returns the times of a ring between two PEs in addition to the fabric's. late is the
	// time from a token's arrival until it is visible, credit that of a credit to the sender.
	Timing func(from, to int) (late, credit unit.Time)

	Trace bool
	Look  func(done, ranks int, now unit.Time) error // is called at intervals with the progress; an error ends the replay
}

// ErrIrregular is returned for a program that does not end properly: a rank waits for ever, or a
// message is left over or unexpected. Event-driven simulation finds the reason.
var ErrIrregular = errors.New("the program does not run to its end")

// Replay is the state of one replay.
type Replay struct {
	in *Input

	// Times that every step needs.
	issue, send, recv, setup unit.Time
	hbmLatency               unit.Time
	traced                   bool

	ranks     []rank   // of all groups, one after the other
	streams   []stream // number 0 is none
	result    launch.Result
	reached   unit.Time
	rest      unit.Time
	irregular bool
	left      int // ranks that have not ended
	events    []trace.Event
	notes     []notes // of ranks, if they are traced
	connections
	common
	carriers
	readyRanks
}

// readyRanks are the ranks that can go on: a circular buffer.
type readyRanks struct {
	ready []int32
	first int
	going int
}

// timing holds what rings between PEs of equal placement have in common.
type timing struct{ late, credit unit.Time }

// New prepares a replay: it makes the rings that are used and reserves their routes. Close must
// be called at its end.
func New(in *Input) *Replay {
	x := &Replay{
		in: in, issue: in.Spec.Issue, send: in.Spec.Send, recv: in.Spec.Recv, setup: in.Spec.DMA.Setup,
		hbmLatency: in.HBM.Router + in.HBM.Wire, traced: in.Trace,
		connections: connections{sizing: ipcq.NewSizing(in.Launch.Ring.Slots)},
		ranks:       make([]rank, in.Launch.World()), left: in.Launch.World(),
		carriers: carriers{wires: make([]wire, 1)}, streams: make([]stream, 1), rest: in.Start,
	}
	x.result, x.firstOfSize = launch.Result{Start: in.Start, End: in.Start}, map[size]uint32{}
	x.lowerTypes(in.Program.TensorTypes)
	x.more = in.Program.More
	x.seat()
	x.connect()
	return x
}

// Unfit returns why the program cannot be replayed, or "".
func (x *Replay) Unfit() string {
	switch {
	case x.limited && x.long:
		return "payloads of several slots, whose messages can fill the DMA queue"
	case x.shared && x.setup == 0 && (x.long || x.limited || x.send == 0):
		// A send that a credit releases would enter the fabric at the instant of the credit. A
		// replay does not know the order of events of one instant that cause each other.
		return "a send follows its credit in no time"
	}
	return ""
}

// Close gives up what the replay has reserved.
func (x *Replay) Close() { x.in.Net.Release() }

// seat gives each rank its place, its steps and its tensors.
func (x *Replay) seat() {
	in := x.in
	base, id, ports := int32(0), int32(0), uint32(0)
	for gi := range in.Launch.Groups {
		g := &in.Launch.Groups[gi]
		for i, pe := range g.PEs {
			w := &g.Wiring[i]
			f := &x.ranks[id]
			f.id, f.index, f.pe, f.group, f.base = id, int32(i), pe, int32(gi), base
			f.clock, f.memory = in.Start, in.Start
			for u := range f.units {
				f.units[u] = in.Start
			}
			f.tx, f.rx, f.ins = ports, ports+uint32(len(w.Out)), int32(len(w.In))
			f.steps = noSteps
			ports += uint32(len(w.Out) + len(w.In))
			id++
		}
		base += int32(len(g.PEs))
	}
	x.ports = make([]uint32, ports)
	if x.traced {
		x.notes = make([]notes, len(x.ranks))
	}
	if !in.Program.Long {
		x.shareRecords()
	}
}

// shareRecords gives each rank the steps of its record.
func (x *Replay) shareRecords() {
	blocks, records := x.in.Program.Blocks, x.lowerRecords()
	tensors := 0
	for i := range blocks {
		tensors += records[blocks[i].Record].tensors
	}
	all := make([]tensor, tensors)
	for i := range all {
		all[i].slot = none
	}
	for i := range blocks {
		f, k := &x.ranks[blocks[i].Rank], &records[blocks[i].Record]
		f.steps, f.tensors, all = k.steps, all[:k.tensors:k.tensors], all[k.tensors:]
	}
}

// Run replays all ranks until the machine is at rest. It fails with ErrIrregular, or with an error
// of Input.Look.
func (x *Replay) Run() (*launch.Result, error) {
	q := x.in.Queue
	before := q.Popped()
	x.ready, x.going = make([]int32, len(x.ranks)), len(x.ranks)
	for i := range x.ready {
		x.ready[i] = int32(i)
	}
	err := q.Run(&des.Loop{
		Work:   x.next,
		Handle: x.handle,
		Look: func() error {
			return x.in.Look(len(x.ranks)-x.left, len(x.ranks), max(q.Now(), x.reached))
		},
	})
	if err != nil {
		return nil, err
	}
	if x.irregular || x.left > 0 || !x.drained() {
		return nil, ErrIrregular
	}
	x.result.Events = q.Popped() - before
	x.countTraffic()
	return &x.result, nil
}

// drained reports whether all rings are empty, with all credits home.
func (x *Replay) drained() bool {
	for i := range x.rings {
		if r := &x.rings[i]; r.Visible != r.Taken || r.Sent != r.Credited {
			return false
		}
	}
	return true
}

func (x *Replay) countTraffic() {
	x.result.Traffic = make([]tl.Traffic, len(x.ranks))
	if x.in.Program.Long {
		copy(x.result.Traffic, x.in.Parts.Traffic)
	}
	for i := range x.in.Program.Blocks {
		b := &x.in.Program.Blocks[i]
		x.result.Traffic[b.Rank] = x.in.Program.Records[b.Record].Traffic
	}
	for i := range x.result.Traffic {
		x.result.Traffic[i].Rank = i
	}
}

// Rest returns the time at which the latest message, credit and access ended.
func (x *Replay) Rest() unit.Time { return x.rest }

// Events are the events of the trace, unordered.
func (x *Replay) Events() []trace.Event { return x.events }

// handle acts on an event.
func (x *Replay) handle(ev des.Event) bool {
	if noc.Kind(ev) == kindWake {
		x.woken(&x.ranks[noc.Index(ev)])
	} else {
		x.in.Net.Handle(ev)
	}
	return !x.irregular
}

// next advances the first ready rank. It returns false if no rank is ready.
func (x *Replay) next() bool {
	if x.going == 0 || x.irregular {
		return false
	}
	f := &x.ranks[x.ready[x.first]]
	x.going--
	if x.first++; x.first == len(x.ready) {
		x.first = 0
	}
	x.reached = max(x.reached, f.clock)
	x.step(f)
	return true
}

// wake makes a waiting rank ready, before all others: what it waited for is still in the cache, and
// ranks that exchange messages advance together.
func (x *Replay) wake(f *rank) {
	f.wait = nothing
	if x.first--; x.first < 0 {
		x.first = len(x.ready) - 1
	}
	x.ready[x.first] = f.id
	x.going++
}
