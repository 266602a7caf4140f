package mock

import (
	"context"

	"kernbench/fault"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// batch is the additional state of a run of streams.
type batch struct {
	streams []*stream
	events  map[*launch.Event]*event
	gangs   map[*launch.Gang][]*stream // streams that wait at their launch of a gang

	engine  *launch.Engine // nil: there are none
	engines []*engine      // of the PEs, in the order of the streams
	byPE    map[int32]*engine
}

// event is an event that streams of this run record or await.
type event struct {
	number  uint32 // in the account of memory
	marked  bool   // in this run
	waiting []*stream
}

// stream is a queue of operations. It takes turns as ranks do.
type stream struct {
	schedState
	*launch.Stream
	run     *run
	agent   history.Agent
	at      int         // operation in progress
	side    tl.OneSided // the word that it waits for or writes
	copied  tl.Value    // read by a copy that has not written yet
	grid    grid        // of a launch in progress
	traffic tl.Traffic  // of programs that have ended
}

// progress is the state of an operation after a turn.
type progress uint8

const (
	waits progress = iota // an event will wake the stream
	again                 // it continues in its next turn
	ended
)

// RunStreams performs the queued work of all streams, in parallel, and returns when all of it is
// complete. The first fault ends it.
func (e *Executor) RunStreams(ctx context.Context, b *launch.Batch) (*launch.Result, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	x := e.begin(ctx, &launch.Launch{Name: "streams", Addrs: b.Addrs, Scratch: b.Scratch,
		Ring: tl.Ring{Slots: 1, SlotBytes: 8}, Watch: b.Watch})
	x.batch = &batch{events: map[*launch.Event]*event{}, gangs: map[*launch.Gang][]*stream{}}
	for i := range b.Streams {
		s := &stream{Stream: &b.Streams[i], run: x}
		s.agent = x.history.Begins(history.AgentInfo{Rank: s.Rank, PE: int(s.PE), Stream: s.ID, Program: -1}, history.Host, 0)
		x.batch.streams = append(x.batch.streams, s)
		x.enter(s)
	}
	x.engines(b)
	defer x.clear()
	if err := x.loop(); err != nil {
		return nil, err
	}
	x.accountEngines()
	x.result.Traffic = b.Traffic(func(i int) tl.Traffic { return x.batch.streams[i].traffic })
	return x.finish()
}

// advance performs operations until one must wait. In random schedules it performs one.
func (s *stream) advance() {
	x := s.run
	for s.at < len(s.Ops) {
		p, err := s.do(&s.Ops[s.at])
		switch {
		case err != nil:
			x.failed = err
			return
		case p == waits:
			x.sleep(s)
			return
		case p == ended:
			s.at++
		}
		if x.random != nil {
			s.lowPriority = x.oneIn(holdsBackQueue)
			return
		}
	}
	x.leave(s)
	x.history.Joins(history.Host, s.agent, 0)
}

// do continues an operation.
func (s *stream) do(op *launch.StreamOp) (progress, error) {
	switch op.Kind {
	case launch.StreamCopy:
		return s.copy(op)
	case launch.StreamLaunch:
		return s.launch(op), nil
	case launch.StreamRecord:
		s.record(op)
	case launch.StreamAwait:
		return s.await(op), nil
	case launch.StreamWait, launch.StreamWrite:
		return s.word(op)
	}
	return ended, nil
}

// place returns the place of an operation.
func (s *stream) place(op *launch.StreamOp) fault.Place {
	return fault.Place{Rank: s.Rank, Op: op.Kind.String(), Line: op.Line}
}

// copy copies memory to memory. In random schedules other actors may run between its read and its
// write.
func (s *stream) copy(op *launch.StreamOp) (progress, error) {
	x := s.run
	if log := x.log; log != nil {
		n := int(op.Bytes) / op.Type.Size()
		o := oplog.Origin{Rank: int32(s.Rank), PE: s.PE, Line: op.Line, Call: op.Kind.String()}
		if s.copied == 0 {
			s.copied = log.NewValue()
			for k := range op.Rows {
				log.Load(o, s.copied, k*n, n, n*op.Rows, op.Type, op.Src+offset(k, op.SrcPitch))
			}
			if x.random != nil {
				return again, nil
			}
		}
		for k := range op.Rows {
			log.Store(o, op.Dst+offset(k, op.DstPitch), s.copied, int32(k*n), n, op.Type)
		}
		log.Release(s.copied)
		s.copied = 0
	}
	if x.history != nil {
		s.account(op, history.Copy).SetCopied(op, x.history.NextOp())
	}
	return ended, nil
}

// record marks an event as having happened.
func (s *stream) record(op *launch.StreamOp) {
	x := s.run
	e := x.event(op.Event)
	op.Event.Happened, e.marked = true, true
	if x.history != nil {
		s.account(op, history.Mark).Ring = e.number
	}
	for _, w := range e.waiting {
		x.wake(w)
	}
	e.waiting = nil
}

// await waits for an event. One that was recorded in an earlier run has happened.
func (s *stream) await(op *launch.StreamOp) progress {
	x := s.run
	e := x.event(op.Event)
	if !op.Event.Happened {
		e.waiting = append(e.waiting, s)
		return waits
	}
	if e.marked && x.history != nil {
		s.account(op, history.Pass).Ring = e.number
	}
	return ended
}

// event returns the state of an event in this run.
func (x *run) event(e *launch.Event) *event {
	v := x.batch.events[e]
	if v == nil {
		v = &event{}
		if x.history != nil {
			v.number = x.history.NextRings(1)
		}
		x.batch.events[e] = v
	}
	return v
}

// word writes a word or waits for one.
func (s *stream) word(op *launch.StreamOp) (progress, error) {
	x := s.run
	if err := op.CheckWord(s.place(op)); err != nil {
		return ended, err
	}
	s.side = op.Side()
	if op.Kind == launch.StreamWrite {
		if x.history != nil {
			s.account(op, history.Notify).SetNotification(&s.side)
		}
		x.set(op.Win, s.side.Peer, op.Word, s.side.WordType.Wrap(op.Value))
		return ended, nil
	}
	if s.side.Failing(0) >= 0 {
		x.watch(s, &s.side)
		return waits, nil
	}
	if x.history != nil {
		s.account(op, history.Wait).SetLook(&s.side, op.Word)
	}
	return ended, nil
}

// account adds a record of a stream's operation.
func (s *stream) account(op *launch.StreamOp, k history.Kind) *history.Record {
	rec := s.run.history.Begin(k, s.agent)
	rec.Call, rec.Line = op.Kind.String(), op.Line
	return rec
}
