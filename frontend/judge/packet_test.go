package judge

import (
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// Views of the plans of this file.
const (
	viewInput = iota
	viewOutput
	viewScratch
	viewOther
)

// packetPair is all_reduce of one cell on two ranks, out of place, in several launches. Each rank
// puts its input as a packet into the peer's scratch, and adds the packet that it got. Every second
// launch uses another scratch if double is set.
func packetPair(launches int, double bool) *plan.Plan {
	p := &plan.Plan{Collective: "all_reduce", Launches: launches, Want: plan.RelationOf("all_reduce", 2, 1, plan.None)}
	none := plan.None
	for rank := range 2 {
		k := plan.Rank{Memories: []int{1, 1, 1, 1}, Input: viewInput, Output: viewOutput}
		for i, name := range []string{"i", "o", "s", "t"} {
			k.Views = append(k.Views, plan.View{Name: name, Memory: i, Cells: 1})
		}
		var b plan.Block
		for launch := range launches {
			if launch > 0 {
				b.Steps = append(b.Steps, plan.Step{Op: "begin", Take: none, Send: none, Launch: launch, Begin: true})
			}
			scratch := viewScratch
			if double && launch%2 == 1 {
				scratch = viewOther
			}
			packet := func(rank int) plan.Span { return plan.Span{Rank: rank, View: scratch, N: 1, Packet: true} }
			b.Steps = append(b.Steps,
				plan.Step{Op: "ppkt", Index: 0, Take: none, Send: none, Launch: launch,
					Src: []plan.Span{cell(viewInput)}, Dst: []plan.Span{packet(1 - rank)}},
				plan.Step{Op: "repkt", Index: 1, Take: none, Send: none, Launch: launch,
					Src: []plan.Span{cell(viewInput), packet(none)}, Dst: []plan.Span{cell(viewOutput)}})
		}
		k.Blocks = []plan.Block{b}
		p.Ranks = append(p.Ranks, k)
	}
	return p
}

func has(j *Judgment, v plan.Verdict, text string) bool {
	return slices.ContainsFunc(j.Findings, func(f plan.Finding) bool { return f.Verdict == v && strings.Contains(f.Text, text) })
}

func TestPackets(t *testing.T) {
	if j := Judge(packetPair(1, false)); !j.OK() {
		t.Errorf("one launch: %v", j.Findings)
	}
	if j := Judge(packetPair(3, true)); !j.OK() || j.Cells != 6 {
		t.Errorf("two halves, three launches: %d chunks, %v", j.Cells, j.Findings)
	}
	// With one half the second launch may write before the peer has read in the first.
	if j := Judge(packetPair(2, false)); !has(j, plan.Race, "(ppkt) in launch 2") {
		t.Errorf("one half, two launches: %v, want RACE", j.Findings)
	}
	p := packetPair(2, true)
	p.Ranks[1].Blocks[0].Steps[3].Dst = nil
	if j := Judge(p); !has(j, plan.Deadlock, "packet rank 0 t[0] is not written, which no block would write") {
		t.Errorf("no packet in the second launch: %v, want DEADLOCK", j.Findings)
	}
	if st := Finishes(p); st == nil || st.Chain[0].Reason != "no packet" {
		t.Errorf("without data: %v, want a deadlock", st)
	}
}

// Of two writers of a packet a reader knows the first only: the second may come later.
func TestPacketWrittenTwice(t *testing.T) {
	p := packetPair(1, false)
	token := plan.Span{Rank: 0, View: viewOther, N: 1, Packet: true}
	first := plan.Step{Op: "cpkt", Take: plan.None, Send: plan.None, Src: []plan.Span{cell(viewInput)},
		Dst: []plan.Span{{Rank: plan.None, View: viewScratch, N: 1, Packet: true}, token}}
	p.Ranks[1].Blocks[0].Steps = slices.Insert(p.Ranks[1].Blocks[0].Steps, 0, first)
	second := &p.Ranks[0].Blocks[0].Steps[0] // after the first: they do not race with each other
	second.Src = append(second.Src, token)
	if j := Judge(p); !has(j, plan.Race, "(repkt)") {
		t.Errorf("findings %v, want RACE of the reader with the peer's packet", j.Findings)
	}
}

// A result of an earlier launch that is not overwritten is no result of this one.
func TestEachLaunchHasItsOwnResult(t *testing.T) {
	p := packetPair(3, true)
	steps := p.Ranks[0].Blocks[0].Steps
	steps[4].Dst = nil // rank 0's repkt in the second launch
	j := Judge(p)
	if j.Cells-j.Right != 1 || !has(j, plan.Wrong,
		"after launch 2 rank 0 o[0] holds 0 of 2 contributions; it lacks rank 0's i[0] of launch 2, rank 1's i[0] of launch 2; it must not hold rank 0's i[0], rank 1's i[0]") {
		t.Errorf("%d of %d right, %v", j.Right, j.Cells, j.Findings)
	}
}

// Begin reads the output and writes the input. Accesses of the peer that are not complete race with
// it.
func TestBeginTakesPart(t *testing.T) {
	p := packetPair(2, true)
	late := plan.Step{Op: "copy", Index: 2, Take: plan.None, Send: plan.None,
		Src: []plan.Span{cell(viewInput)}, Dst: []plan.Span{{Rank: 0, View: viewInput, N: 1}}}
	p.Ranks[1].Blocks[0].Steps = slices.Insert(p.Ranks[1].Blocks[0].Steps, 2, late)
	if j := Judge(p); !has(j, plan.Race, "(begin) in launch 2") {
		t.Errorf("findings %v, want RACE", j.Findings)
	}
}

// relaxedPair is rank 0 writing into rank 1's scratch and signalling, and rank 1 reading it.
func relaxedPair(relaxed bool) *plan.Plan {
	p := pair()
	p.Want = plan.RelationOf("broadcast", 2, 1, 0)
	p.Counters = []plan.Counter{{Rank: 1, Name: "sem"}}
	count := []plan.Count{{Counter: 0, N: 1}}
	none := plan.None
	p.Ranks[0].Blocks = []plan.Block{{Steps: []plan.Step{
		{Op: "put", Take: none, Send: none, Src: []plan.Span{cell(0)}, Dst: []plan.Span{{Rank: 1, View: 2, N: 1}}},
		{Op: "signal", Index: 1, Take: none, Send: none, Signal: count, Relaxed: relaxed},
	}}}
	p.Ranks[1].Blocks = []plan.Block{{Steps: []plan.Step{
		{Op: "wait", Take: none, Send: none, Wait: count, Relaxed: relaxed},
		{Op: "copy", Index: 1, Take: none, Send: none, Src: []plan.Span{cell(2)}, Dst: []plan.Span{cell(0)}},
	}}}
	return p
}

func TestRelaxedIsNoted(t *testing.T) {
	if j := Judge(relaxedPair(false)); !j.OK() || len(j.Notes) > 0 {
		t.Errorf("release and acquire: %v, notes %v", j.Findings, j.Notes)
	}
	j := Judge(relaxedPair(true))
	if !j.OK() || len(j.Notes) != 1 || !strings.Contains(j.Notes[0], "1 pairs of steps are ordered by relaxed signals only") {
		t.Errorf("relaxed: %v, notes %v; want OK and a note", j.Findings, j.Notes)
	}
}

func TestSignalsLeft(t *testing.T) {
	p := relaxedPair(false)
	p.Ranks[0].Blocks[0].Steps[1].Signal = []plan.Count{{Counter: 0, N: 2}}
	if j := Judge(p); !has(j, plan.Leftover, "sem: 1 signals are left") {
		t.Errorf("findings %v, want LEFTOVER", j.Findings)
	}
	p.Counters[0].Spare = true
	if j := Judge(p); !j.OK() {
		t.Errorf("spare: %v", j.Findings)
	}
}

// If the result of a race is right in one order, another order shows the mistake.
func TestGreedyShowsARace(t *testing.T) {
	p := relaxedPair(false)
	p.Ranks[0].Blocks[0].Steps[1].Signal = nil
	p.Ranks[1].Blocks[0].Steps[0].Wait = nil
	p.Ranks[0].Blocks[0].Steps = p.Ranks[0].Blocks[0].Steps[:1]
	slices.Reverse(p.Ranks) // rank 1 reads, and in a greedy order it comes first
	p.Ranks[1].Blocks[0].Steps[0].Dst[0].Rank = 0
	p.Want = plan.RelationOf("broadcast", 2, 1, 1)
	if j := Judge(p); !has(j, plan.Race, "if each block goes as far as it can, 1 of 2 chunks are wrong") {
		t.Errorf("findings %v", j.Findings)
	}
}
