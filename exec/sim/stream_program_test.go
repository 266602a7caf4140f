package sim_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// A queueing is a random program of streams. Each stream has operations over blocks of memory. Each
// device has some blocks in its HBM and in its copy of a window. Whatever the numbers are, it is a
// program.
type queueing struct {
	devices int
	streams []int // device of each
	queue   int   // depth of the DMA queues
	poll    bool
	order   mem.Ordering
	engine  string   // comm_engine.per; empty: programs have none to post to
	acts    []queued // in the order in which they are queued
}

// queued is one operation of a stream.
type queued struct {
	stream int
	do     streamAct
	from   block
	to     block
	word   int // or event, or number of a group launch
	dev    int // whose word
	count  int64
	grid   int
	hold   int // resident
	post   int // what programs do with their work: 0: it; 1, 2: post it to a queue; 3, 4: and await it
}

// block is one of the blocks of a device: the first few lie in HBM, the others in the window.
type block struct{ dev, i int }

const (
	plainBlocks = 2
	blocks      = 4
	blockElems  = 12
	eventCount  = 4
	wordCount   = 3
)

type streamAct uint8

const (
	actCopy streamAct = iota
	actRows           // a copy of rows that lie apart
	actRecord
	actAwait
	actWait
	actWrite
	actLoadStore // kernels: each program takes its part of the blocks
	actPut
	actPutNBI
	actPutTensor
	actPutSignal // and adds 1 to a word of the device that has the block
	actCombine
	actGet
	actNotify
	actWaitIn // for a word of the device
	actCompute
	actMeet  // all programs of the grid, by a word that only grows
	actClaim // parts are claimed by an atomic
	actSpin  // until a word is there
	actGroup // a group launch with a barrier
	streamActs
)

func (b block) addr() mem.Addr { return mem.At(mem.HBM, b.dev, int64(b.i)*blockElems*4) }

// windows are one over all devices, in their order, and one over all in the other order.
func (q *queueing) windows() ([]*mem.Window, error) {
	var all [2]*mem.Window
	for i := range all {
		pes := make([]int32, q.devices)
		for d := range pes {
			pes[d] = int32(d)
		}
		if i == 1 {
			slices.Reverse(pes)
		}
		w, err := newWindow(pes, []mem.Buffer{
			{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.I32, (blocks-plainBlocks)*blockElems)}},
			{Name: "sig", Parts: []mem.Part{mem.SignalPart("", []mem.WordType{mem.Int64, mem.Int32}[i], wordCount)}},
		})
		if err != nil {
			return nil, err
		}
		w.Base += int64(i) << 16
		w.Team.Meeting.Base += int64(i) << 16
		all[i] = w
	}
	return all[:], nil
}

// place returns the address of a block: those of a window in the copy of its device.
func (q *queueing) place(w *mem.Window, b block) mem.Addr {
	if b.i < plainBlocks {
		return b.addr()
	}
	r, _ := w.Team.Rank(b.dev)
	return w.Addr(r, int64(b.i-plainBlocks)*blockElems*4)
}

// batch makes what an executor runs.
func (q *queueing) batch(ws []*mem.Window) *launch.Batch {
	b := &launch.Batch{Addrs: &mem.Map{}, Scratch: 1 << 16, Poll: q.poll, PollEvery: 7 * unit.Nanosecond, WakeCost: 3 * unit.Nanosecond}
	if q.engine != "" {
		b.Engine = &launch.Engine{Scratch: 1 << 15}
	}
	for i, d := range q.streams {
		b.Streams = append(b.Streams, launch.Stream{ID: i, PE: int32(d), Rank: d})
	}
	var events [eventCount]*launch.Event
	event := func(i int) *launch.Event {
		if events[i%eventCount] == nil {
			events[i%eventCount] = &launch.Event{Name: fmt.Sprint("event ", i)}
		}
		return events[i%eventCount]
	}
	manyEvents := map[int]*launch.Event{} // of ordered programs, which number theirs on from there
	recorded := map[*launch.Event]bool{}
	gangs := map[int]*launch.Gang{}
	for n, a := range q.acts {
		s := &b.Streams[a.stream]
		w := ws[0]
		op := launch.StreamOp{Line: fmt.Sprint("queue.go:", n+1)}
		e := func() *launch.Event {
			if a.word < eventCount {
				return event(a.word)
			}
			if manyEvents[a.word] == nil {
				manyEvents[a.word] = &launch.Event{Name: fmt.Sprint("event ", a.word)}
			}
			return manyEvents[a.word]
		}
		switch a.do {
		case actCopy, actRows:
			op.Kind, op.Type = launch.StreamCopy, dtype.I32
			op.Dst, op.Src, op.Bytes, op.Rows = q.place(w, a.to), q.place(w, a.from), blockElems*4, 1
			if a.do == actRows {
				op.Bytes, op.Rows, op.DstPitch, op.SrcPitch = 8, 3, 12, 16
			}
		case actRecord:
			if op.Kind, op.Event = launch.StreamRecord, e(); recorded[op.Event] {
				continue
			}
			recorded[op.Event] = true
		case actAwait:
			op.Kind, op.Event = launch.StreamAwait, e()
		case actWait, actWrite:
			op.Kind, op.Win, op.Word = launch.StreamWait, w, int32(a.word%wordCount)
			if a.do == actWrite {
				op.Kind = launch.StreamWrite
			}
			op.Peer, _ = w.Team.Rank(a.dev)
			op.Cmp, op.Value = tl.GE, a.count
		default:
			op.Kind = launch.StreamLaunch
			g := &launch.GridLaunch{
				Name: fmt.Sprint("act", a.do), World: q.devices, Grid: a.grid, Resident: a.hold,
				Kernel: kernelOf(q, a), Args: tl.Args{Windows: ws, DType: dtype.I32},
			}
			g.Rank, _ = ws[1].Team.Rank(int(s.PE)) // that of the other team
			if a.do == actGroup {
				if gangs[a.word] == nil {
					gangs[a.word] = &launch.Gang{}
				}
				g.Gang = gangs[a.word]
				g.Gang.Members++
			}
			op.Launch = g
		}
		s.Ops = append(s.Ops, op)
	}
	return b
}

// kernelOf returns what the programs of an operation do: its work, or its posting. Inlined into a
// method of this package it would pass for a part of the executor, whose lines are not reported.
//
//go:noinline
func kernelOf(q *queueing, a queued) tl.Kernel {
	return func(c *tl.Context, args tl.Args) {
		pid, n := c.ProgramID(0), c.NumPrograms(0)
		if q.engine == "" || a.post == 0 {
			perform(q, a, pid, n, c, args)
			return
		}
		h := c.Post(&tl.Task{
			Name: fmt.Sprint("act", a.do), Queue: a.post % tl.EngineQueues, Rank: c.Rank(), World: c.WorldSize(), Args: args,
			Kernel: func(c *tl.Context, args tl.Args) { perform(q, a, pid, n, c, args) },
		})
		if a.post > tl.EngineQueues {
			c.Await(h)
		}
	}
}

// perform is the work of program pid of n of an operation. It is no method, so that faults
// name its lines.
func perform(q *queueing, a queued, pid, n int, c *tl.Context, args tl.Args) {
	w := args.Window(0)
	sig := c.Signals(w, "sig").At(a.word % wordCount)
	me, _ := c.TeamRank(w.Team)
	peer, _ := w.Team.Rank(a.to.dev)
	owner, _ := w.Team.Rank(a.from.dev)
	part := func(b block, i int) tl.Ref {
		return c.Ref(q.place(w, b), tl.Dims(blockElems), args.DType).Chunk(n, i)
	}
	sym := func(b block) tl.Sym { // the parts of blocks of the window
		return c.Data(w, "data").Slice((b.i-plainBlocks)*blockElems, blockElems).Chunk(n, pid)
	}
	add := func(i int) {
		x := c.Load(part(a.from, i))
		c.Store(part(a.to, i), c.Add(x, c.Full(x.Shape(), args.DType, float64(1+pid+a.word))))
	}
	switch a.do {
	case actLoadStore:
		add(pid)
	case actPut:
		c.Put(sym(a.to), peer, part(a.from, pid))
	case actPutNBI:
		c.PutNBI(sym(a.to), peer, part(a.from, pid))
		if pid%2 == 1 {
			c.Quiet()
		}
	case actPutTensor:
		c.PutTensor(sym(a.to), peer, c.Load(part(a.from, pid)))
	case actPutSignal:
		c.PutSignal(sym(a.to), peer, part(a.from, pid), sig, tl.SignalAdd, 1)
	case actCombine:
		c.PutCombine(sym(a.to), peer, part(a.from, pid), tl.Sum)
	case actGet:
		c.Get(part(a.to, pid), sym(a.from), owner)
	case actNotify:
		c.Notify(sig, peer, tl.SignalAdd, 1)
	case actWaitIn:
		c.WaitUntil(sig, tl.GE, a.count)
	case actCompute:
		x := c.Full(tl.Dims(64+a.word*32), args.DType, float64(pid))
		for range 1 + (a.word+pid)%3 {
			x = c.Add(x, x)
		}
		c.Store(part(a.to, pid), x.Slice(0, part(a.to, pid).Len()))
	case actMeet:
		c.Notify(sig, me, tl.SignalAdd, 1)
		c.WaitUntil(sig, tl.GE, a.count)
		add(pid)
	case actClaim:
		for {
			i := c.FetchAdd(sig, me, 1) - a.count
			if i < 0 || i >= int64(n) {
				return
			}
			x := c.Load(part(a.from, int(i)))
			c.Store(part(a.to, int(i)), c.Add(x, x))
		}
	case actSpin:
		for range 400 {
			if c.Test(sig, tl.GE, a.count) {
				break
			}
		}
	case actGroup:
		if pid > 0 {
			return
		}
		next := (me + 1) % w.Team.Size()
		whole := c.Data(w, "data").Slice((a.to.i-plainBlocks)*blockElems, blockElems)
		c.Put(whole, next, c.Ref(q.place(w, a.from), tl.Dims(blockElems), args.DType))
		c.Barrier(w.Team)
		x := c.Load(c.Local(whole))
		c.Store(c.Local(whole), c.Add(x, x))
	}
}

// leftover holds the results of a run of streams, and its outcome.
type leftover struct {
	err    error
	res    launch.Result
	data   [][]byte
	words  [][]int64
	trace  collector
	report *race.Report
}

type streamExecutor interface {
	RunStreams(context.Context, *launch.Batch) (*launch.Result, error)
}

// on runs it on an executor that make gives.
func (q *queueing) on(make func(*oplog.Log, *leftover) streamExecutor) (*leftover, error) {
	ws, err := q.windows()
	if err != nil {
		return nil, err
	}
	log := oplog.New(oplog.Options{Timed: true, Inline: true})
	defer log.Close()
	for d := range q.devices {
		if err := log.Map(block{d, 0}.addr(), dtype.I32, plainBlocks*blockElems); err != nil {
			return nil, err
		}
		var buf [plainBlocks * blockElems * 4]byte
		for i := range plainBlocks * blockElems {
			dtype.SetInt(dtype.I32, buf[:], i, int64(1000*d+i))
		}
		if err := log.Write(block{d, 0}.addr(), dtype.I32, buf[:]); err != nil {
			return nil, err
		}
	}
	for _, w := range ws {
		if err := zero(log, w); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o := &leftover{}
	res, err := make(log, o).RunStreams(ctx, q.batch(ws))
	if o.err = err; err != nil {
		return o, nil
	}
	o.res = *res
	for d := range q.devices {
		for i := range blocks {
			b, err := log.Read(q.place(ws[0], block{d, i}), dtype.I32, blockElems)
			if err != nil {
				return nil, err
			}
			o.data = append(o.data, slices.Clone(b))
		}
		o.words = append(o.words, ws[0].Words(d))
	}
	return o, nil
}

func (q *queueing) onSim(f noc.Fidelity, yield bool, seed uint64) (*leftover, error) {
	return q.judged(func(l *oplog.Log, o *leftover, d *race.Detector) streamExecutor {
		return q.sim(sim.Options{Data: l, Fidelity: f, Yield: yield, Trace: &o.trace, Seed: seed, History: d.Log()})
	})
}

// sim makes an executor for the program.
func (q *queueing) sim(o sim.Options) *sim.Executor {
	return sim.New(machineFor(q.queue, q.order, q.engine), o)
}

func (q *queueing) onMock(seed uint64) (*leftover, error) {
	return q.judged(func(l *oplog.Log, _ *leftover, d *race.Detector) streamExecutor {
		return mock.New(mock.Options{Data: l, RecordLines: true, Order: q.order, Seed: seed, History: d.Log()})
	})
}

// judged is on, with the report of the judge of races.
func (q *queueing) judged(make func(*oplog.Log, *leftover, *race.Detector) streamExecutor) (*leftover, error) {
	d := race.New(race.Options{Order: q.order})
	for {
		o, err := q.on(func(l *oplog.Log, o *leftover) streamExecutor { return make(l, o, d) })
		if err != nil {
			return nil, err
		}
		if o.report = d.Report(); !o.report.Again || o.err != nil {
			return o, nil
		}
		d = d.Next()
	}
}

// differ returns the differences between the results of two runs.
func (o *leftover) differ(b *leftover) string {
	for i := range o.data {
		if !bytes.Equal(o.data[i], b.data[i]) {
			return fmt.Sprintf("block %d of device %d holds %x and %x", i%blocks, i/blocks, o.data[i], b.data[i])
		}
	}
	return cmp.Diff(o.words, b.words)
}
