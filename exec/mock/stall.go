package mock

import (
	"slices"

	"kernbench/exec/stall"
	"kernbench/fault"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// stall explains why streams cannot continue.
func (x *run) stall() error {
	var blocked []fault.Blocked
	var grids []fault.Grid
	var programs []*rank // of those blocked that are programs or tasks; nil: a stream
	left := 0
	for _, s := range x.batch.streams {
		if s.over {
			continue
		}
		left++
		if s.grid.started == 0 {
			blocked, programs = append(blocked, s.describe()), append(programs, nil)
			continue
		}
		g := &s.grid
		if g.started < g.Grid {
			grids = append(grids, fault.Grid{
				Rank: s.Rank, Stream: s.ID, Kernel: g.Name, Programs: g.Grid, Resident: g.Resident, Ended: g.ended,
				Waiting: len(g.resident),
			})
		}
		for _, r := range g.resident {
			b := r.describe(func() []int { return x.ranksWithWork(r.stream, r) })
			b.Of = s.ProgramName(g.GridLaunch, r.program)
			blocked, programs = append(blocked, b), append(programs, r)
		}
	}
	for _, e := range x.batch.engines {
		for i := range e.queues {
			if tasks := e.queues[i].tasks; len(tasks) > 0 { // the others have not begun
				t := tasks[0]
				b := t.rank.describe(func() []int { return x.ranksWithWork(t.stream, t.rank) })
				b.Of = t.name()
				blocked, programs = append(blocked, b), append(programs, t.rank)
			}
		}
	}
	x.hung = true
	for i, r := range programs {
		if r != nil {
			r.stop()
			blocked[i].StoppedAt(r.place)
		}
	}
	slices.SortStableFunc(blocked, func(a, b fault.Blocked) int { return a.Rank - b.Rank })
	slices.SortStableFunc(grids, func(a, b fault.Grid) int { return a.Rank - b.Rank })
	return fault.NewStall(len(x.batch.streams), left, blocked, grids)
}

// describe returns what a stream waits for outside of its programs.
func (s *stream) describe() fault.Blocked {
	op := &s.Ops[s.at]
	peers := s.run.ranksWithWork(s, nil)
	b := fault.Blocked{Peers: peers}
	switch op.Kind {
	case launch.StreamAwait:
		b.Word = "event " + op.Event.Name
	case launch.StreamLaunch:
		g := op.Launch.Gang
		b.Word = g.Waits(len(s.run.batch.gangs[g]))
	case launch.StreamWait:
		b = stall.ForWord(&tl.Instr{Op: tl.OpWaitWord, Side: &s.side}, s.PE, peers)
	}
	b.Place, b.Of = s.place(op), s.Name()
	return b
}

// ranksWithWork returns, in order, the ranks of streams with work left, without s and its program
// or task r.
func (x *run) ranksWithWork(s *stream, r *rank) []int {
	var ranks []int
	for _, o := range x.batch.streams {
		if o == s && (r == nil || s.grid.left() == 1) {
			continue
		}
		if !o.over {
			ranks = append(ranks, o.Rank)
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
