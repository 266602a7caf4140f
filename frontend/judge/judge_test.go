package judge

import (
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// pair returns a plan of two ranks that exchange their only chunk and add it to their own, in
// place. Blocks: 0 sends, 1 receives; the receiver waits until the sender has read.
func pair() *plan.Plan {
	p := &plan.Plan{Collective: "all_reduce", InPlace: true, Want: plan.RelationOf("all_reduce", 2, 1, plan.None),
		Channels: []plan.Channel{{From: 0, To: 1, Depth: 1}, {From: 1, To: 0, Depth: 1}}}
	for rank := range 2 {
		p.Ranks = append(p.Ranks, plan.Rank{
			Memories: []int{1, 1}, Input: 0, Output: 1,
			Views: []plan.View{{Name: "i", Memory: 0, Cells: 1}, {Name: "o", Memory: 0, Cells: 1}, {Name: "s", Memory: 1, Cells: 1}},
			Blocks: []plan.Block{
				{ID: 0, Steps: []plan.Step{{Op: "s", Take: plan.None, Send: rank, Src: []plan.Span{cell(0)}, Publish: true}}},
				{ID: 1, Steps: []plan.Step{{Op: "rrc", Take: 1 - rank, Send: plan.None, Src: []plan.Span{cell(0)},
					Dst:   []plan.Span{cell(0)},
					After: []plan.Dep{{Block: 0, Index: 0}}}}},
			},
		})
	}
	return p
}

func cell(view int) plan.Span { return plan.Span{Rank: plan.None, View: view, N: 1} }

func TestVerdicts(t *testing.T) {
	step := func(p *plan.Plan, rank, block int) *plan.Step { return &p.Ranks[rank].Blocks[block].Steps[0] }
	for _, c := range []struct {
		name   string
		change func(*plan.Plan)
		want   plan.Verdict
		text   string
	}{
		{"right", func(*plan.Plan) {}, plan.OK, ""},
		{"no dependency", func(p *plan.Plan) { step(p, 1, 1).After = nil }, plan.Race, "rank 1 tb 0 step 0 (s)"},
		{"a copy onto itself", func(p *plan.Plan) {
			p.Ranks[0].Memories = []int{1, 3}
			p.Ranks[0].Views[2].Cells = 3
			b := &p.Ranks[0].Blocks[0]
			span := func(first, n int) []plan.Span { return []plan.Span{{Rank: plan.None, View: 2, First: first, N: n}} }
			copies := func(index int, src, dst []plan.Span) {
				b.Steps = append(b.Steps, plan.Step{Op: "cpy", Index: index, Take: plan.None, Send: plan.None, Src: src, Dst: dst})
			}
			for i := range 3 {
				copies(1, []plan.Span{cell(0)}, span(i, 1))
			}
			copies(2, span(0, 2), span(1, 2))
		}, plan.Race, "tb 0 step 2 (cpy) reads s[0:2] and writes s[1:3]: nothing orders its threads"},
		{"contribution twice", func(p *plan.Plan) {
			b := &p.Ranks[0].Blocks[1]
			b.Steps = append(b.Steps, plan.Step{Op: "re", Index: 1, Take: plan.None, Send: plan.None,
				Src: []plan.Span{cell(0), cell(0)}, Dst: []plan.Span{cell(0)}})
		}, plan.Wrong, "it has too often rank 0's i[0] 2 times, rank 1's i[0] 2 times"},
		{"copied in place of added", func(p *plan.Plan) { step(p, 0, 1).Src = nil }, plan.Wrong, "rank 0 o[0] holds rank 1's i[0]"},
		{"scratch never written", func(p *plan.Plan) { step(p, 0, 0).Src[0].View = 2 }, plan.UndefinedRead,
			"rank 0 tb 0 step 0 (s) reads s[0]"},
		{"a message too many", func(p *plan.Plan) {
			b := &p.Ranks[0].Blocks[1]
			b.Steps = append(b.Steps, plan.Step{Op: "s", Index: 1, Take: plan.None, Send: 0, Src: []plan.Span{cell(0)}})
		}, plan.Leftover, "channel 0->1 chan 0: 1 of 2 messages are left"},
		{"no message", func(p *plan.Plan) { p.Ranks[0].Blocks[0].Steps = nil; step(p, 0, 1).After = nil },
			plan.Deadlock, "no data on channel 0->1 chan 0"},
		{"never published", func(p *plan.Plan) { step(p, 0, 0).Publish = false }, plan.Deadlock,
			"rank 0 tb 1 step 0 (rrc): waits for step 0 of tb 0"},
		{"no relation", func(p *plan.Plan) { p.Want = nil }, plan.NoPostcondition, "all_reduce"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pair()
			c.change(p)
			j := Judge(p)
			if !slices.Contains(j.Verdicts, c.want) {
				t.Fatalf("verdicts %v, want %v; findings %v", j.Verdicts, c.want, j.Findings)
			}
			if c.want == plan.OK {
				return
			}
			for _, f := range j.Findings {
				if f.Verdict == c.want && strings.Contains(f.Text, c.text) {
					return
				}
			}
			t.Errorf("findings %v, want one of %v with %q", j.Findings, c.want, c.text)
		})
	}
}

// Two ranks that both send two messages and then receive hang if a channel holds one.
func TestDepthDeadlock(t *testing.T) {
	p := pair()
	for rank := range 2 {
		b := &p.Ranks[rank].Blocks[0]
		send, take := b.Steps[0], plan.Step{Op: "r", Take: 1 - rank, Send: plan.None, Dst: []plan.Span{cell(2)}}
		p.Ranks[rank].Blocks = []plan.Block{{Steps: []plan.Step{send, send, take, take}}}
		for i := range 4 {
			p.Ranks[rank].Blocks[0].Steps[i].Index = i
		}
	}
	st := Finishes(p)
	if st == nil {
		t.Fatal("depth 1: found no deadlock")
	}
	if !st.Cycle || len(st.Chain) != 2 || st.Chain[0].Reason != "no slot" || st.Chain[0].Step != 1 {
		t.Errorf("deadlock %+v, want a cycle of two blocks at step 1 without a slot", st)
	}
	if st := Finishes(p.WithDepth(2)); st != nil {
		t.Errorf("depth 2: %v", st)
	}
}

// A counter orders the signalling step before the waiting one, across ranks, and a write into
// another rank's memory is an access of that memory.
func TestCounters(t *testing.T) {
	build := func(ordered bool) *plan.Plan {
		p := pair()
		p.Want = plan.RelationOf("broadcast", 2, 1, 0)
		p.Counters = []plan.Counter{{Rank: 1, Name: "sem"}}
		remote := plan.Span{Rank: 1, View: 2, N: 1}
		put := plan.Step{Op: "put", Take: plan.None, Send: plan.None, Src: []plan.Span{cell(0)}, Dst: []plan.Span{remote}}
		copyStep := plan.Step{Op: "copy", Take: plan.None, Send: plan.None, Src: []plan.Span{cell(2)}, Dst: []plan.Span{cell(0)}}
		copyStep.Wait = []plan.Count{{Counter: 0, N: 1}}
		signal := plan.Step{Op: "signal", Index: 1, Take: plan.None, Send: plan.None, Signal: []plan.Count{{Counter: 0, N: 1}}}
		steps := []plan.Step{put, signal}
		if !ordered {
			slices.Reverse(steps)
		}
		p.Ranks[0].Blocks = []plan.Block{{Steps: steps}}
		p.Ranks[1].Blocks = []plan.Block{{Steps: []plan.Step{copyStep}}}
		return p
	}
	if j := Judge(build(true)); !j.OK() {
		t.Errorf("put, signal: %v", j.Findings)
	}
	if j := Judge(build(false)); !slices.Contains(j.Verdicts, plan.Race) {
		t.Errorf("signal, put: %v, want RACE", j.Findings)
	}
	p := build(true)
	p.Ranks[0].Blocks[0].Steps[1].Signal = nil
	if j := Judge(p); j.Stuck == nil || j.Stuck.Chain[0].Reason != "no signal" {
		t.Errorf("no signal: %v, want DEADLOCK", j.Findings)
	}
}

// A flag only grows. A wait for a step that does not publish ends with a later one that does, and
// is ordered after it.
func TestLaterPublisher(t *testing.T) {
	p := pair()
	for rank := range 2 {
		b := &p.Ranks[rank].Blocks[0]
		b.Steps[0].Publish = false
		b.Steps = append(b.Steps, plan.Step{Op: "nop", Index: 3, Take: plan.None, Send: plan.None, Publish: true})
	}
	if j := Judge(p); !j.OK() {
		t.Errorf("findings %v, want OK", j.Findings)
	}
}

func TestRootIsFound(t *testing.T) {
	p := pair()
	p.Want = plan.RelationOf("broadcast", 2, 1, plan.None)
	p.Ranks[1].Blocks = p.Ranks[1].Blocks[:1]
	step := &p.Ranks[0].Blocks[1].Steps[0]
	step.Src = nil
	p.Ranks[0].Blocks[0].Steps[0] = plan.Step{Op: "nop", Take: plan.None, Send: plan.None, Publish: true}
	if j := Judge(p); !j.OK() || j.Root != 1 {
		t.Errorf("root %d, findings %v; want root 1 and OK", j.Root, j.Findings)
	}
}
