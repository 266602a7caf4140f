package view

import (
	"context"
	"strings"

	"kernbench/fault"
	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/machine/draw"
	"kernbench/record/trace"
	"kernbench/unit"
)

// Options select what is shown of a run.
type Options struct {
	Name    string        // of the run on the page; "": its algorithm and ranks
	From    unit.Time     // of the window that has single spans
	Until   unit.Time     // 0: to the end
	Machine *draw.Drawing // nil: the page has no drawing
}

// Observe explains a run, and returns it as a page shows it, with the explanation and the result.
// If the run ends with a fault the explanation is nil, and the error is that fault: the page shows
// it too. After any other error there is no Run.
func Observe(ctx context.Context, s explain.Spec, o Options) (*Run, *explain.Report, *run.Result, error) {
	events := newEvents()
	s.Detail, s.Run.Events, s.Run.Use = true, events, true
	r, res, err := explain.Run(ctx, s)
	switch {
	case err != nil && (res == nil || !fault.Is(err) || ctx.Err() != nil):
		return nil, nil, res, err
	case err != nil:
		v := Outcome(res, o)
		return v, nil, res, err
	}
	v := Outcome(res, o)
	v.explained(r)
	d := r.TakeDetail()
	l := newLaner(d, events, o)
	l.measure()
	v.Timeline = l.timeline()
	v.Links = l.links(res.Use)
	v.Timeline.Operations, v.Timeline.Calls, v.Timeline.Lines, v.Timeline.Resources = l.names.columns()
	v.Lines = l.lineTimes(r)
	v.Sources = sources(v.Lines, s.Run.Program)
	return v, r, res, nil
}

// Explanation returns a run as an explanation shows it that was kept as JSON: without a time line.
func Explanation(r *explain.Report, name string) *Run {
	v := &Run{Name: name, OK: true, Time: r.SimulatedTime, Launch: r.Launch, Notes: r.Notes, Verdicts: []run.Verdict{}}
	if name == "" {
		v.Name = r.Algorithm
	}
	v.fact("collective", r.Collective)
	v.fact("algorithm", r.Algorithm)
	v.fact("bench", r.Bench)
	v.count("ranks", r.WorldSize)
	v.fact("bytes per rank", r.Bytes.String())
	v.fact("machine", r.Machine)
	v.explained(r)
	for _, s := range r.Lines {
		line, call, ok := strings.Cut(s.Name, " ")
		if !ok {
			line, call = "", s.Name
		}
		v.Lines = append(v.Lines, LineTime{Line: line, Call: call, Path: s.Time})
	}
	v.Lines = v.Lines[:min(len(v.Lines), maxRows)]
	return v
}

// explained adds the contents of an explanation.
func (v *Run) explained(r *explain.Report) {
	v.Reasons, v.Classes, v.Gap, v.Slots = r.Reasons, r.Classes, r.Gap, r.Slots
	v.Resources = r.Resources[:min(len(r.Resources), maxRows)]
	v.Story = r.Story[:min(len(r.Story), maxRows)]
	v.Changes = r.Changes
	if r.Rank != nil {
		v.count("explained end of rank", *r.Rank)
	}
	if r.Explained != r.Time() {
		v.fact("explained", r.From.String()+" to "+r.Until.String())
	}
}

// events is the consumer of a run's events: which ranks do the same, and how full rings are.
type events struct {
	does  map[place]uint64 // by rank: a sum over what it does, in any order
	rings map[uint32]place // the sender of each ring
	slots map[place][]change
}

// place is a rank and its PE: ranks of several groups may have the same number.
type place struct{ rank, pe int32 }

// change is a change of a number of slots.
type change struct {
	at   unit.Time
	ring uint32
	by   int32
}

func newEvents() *events {
	return &events{does: map[place]uint64{}, rings: map[uint32]place{}, slots: map[place][]change{}}
}

// Emit implements trace.Sink.
func (e *events) Emit(v *trace.Event) {
	p := place{v.Rank, v.PE}
	switch v.Kind {
	case trace.Send, trace.Recv, trace.Load, trace.Store, trace.Math, trace.Gemm, trace.Put, trace.Get, trace.Notify,
		trace.Atomic, trace.Copy, trace.Post:
		e.does[p] += mix(uint64(v.Kind)+1, uint64(v.Bytes))
	case trace.Kernel:
		e.does[p] += mix(uint64(v.Kind)+1, 0)
	case trace.Message:
		if v.Ring != 0 {
			e.rings[v.Ring] = p
			e.slots[p] = append(e.slots[p], change{v.Start, v.Ring, 1})
		}
	case trace.Credit:
		if to, ok := e.rings[v.Ring]; ok && v.Ring != 0 {
			e.slots[to] = append(e.slots[to], change{v.End, v.Ring, -1})
		}
	}
}

// mix hashes two numbers.
func mix(a, b uint64) uint64 {
	h := (a*0x9e3779b97f4a7c15 ^ b) * 0xff51afd7ed558ccd
	h ^= h >> 32
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}
