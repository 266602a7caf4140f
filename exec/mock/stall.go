package mock

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// stall explains why streams cannot go on.
func (x *run) stall() error {
	var blocked []fault.Blocked
	var grids []fault.Grid
	var programs []*rank // of those blocked that are programs; nil: a stream
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
				Rank: s.Rank, Stream: s.ID, Kernel: g.Name, Programs: g.Grid, Resident: g.Resident, Ended: g.ended, Waiting: len(g.resident),
			})
		}
		for _, r := range g.resident {
			b := r.describe(func(*mem.Window) []int { return x.living(r.stream, r) })
			b.Of = fmt.Sprintf("program %d of %d of %s on stream %d", r.program, g.Grid, g.Name, s.ID)
			blocked, programs = append(blocked, b), append(programs, r)
		}
	}
	x.hung = true
	for i, r := range programs {
		if r != nil {
			r.stop()
			blocked[i].Place = r.place
		}
	}
	slices.SortStableFunc(blocked, func(a, b fault.Blocked) int { return a.Rank - b.Rank })
	slices.SortStableFunc(grids, func(a, b fault.Grid) int { return a.Rank - b.Rank })
	return fault.NewStall(len(x.batch.streams), left, blocked, grids)
}

// describe says what a stream waits for that is at no program.
func (s *stream) describe() fault.Blocked {
	op := &s.Ops[s.at]
	peers := s.run.living(s, nil)
	b := fault.Blocked{Peers: peers}
	switch op.Kind {
	case tl.StreamAwait:
		b.Word = "event " + op.Event.Name
	case tl.StreamLaunch:
		g := op.Launch.Gang
		b.Word = fmt.Sprintf("the other launches of its group: %d of %d are there", len(s.run.batch.gangs[g]), g.Members)
	case tl.StreamWait:
		b = s.side.WaitsForWord(op.Word, op.Win.Words(op.Peer)[op.Word], peers)
		if op.Win.Team.PEs[op.Peer] != s.PE {
			b.Word += fmt.Sprintf(" of rank %d", op.Peer)
		}
	}
	b.Place, b.Of = s.place(op), fmt.Sprintf("stream %d", s.ID)
	return b
}

// living are the ranks, in order, that have something left to do besides a stream, or besides
// a program of it.
func (x *run) living(s *stream, r *rank) []int {
	var ranks []int
	for _, o := range x.batch.streams {
		if o == s && (r == nil || len(s.grid.resident) == 1 && s.grid.started == s.grid.Grid) {
			continue
		}
		if !o.over {
			ranks = append(ranks, o.Rank)
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
