package sim

import (
	"slices"

	"kernbench/fault"
	"kernbench/tl/launch"
)

// stalled explains why streams cannot continue.
func (x *run) stalled() error {
	var stuck, open []*rank // open: the streams among what has not ended
	var grids []fault.Grid
	at := max(x.e.q.Now(), x.result.End)
	for i := range x.ranks {
		r := &x.ranks[i]
		if r.next == nil || r.done {
			continue // never started, or ended
		}
		at = max(at, r.since)
		if r.stream != nil {
			open = append(open, r)
			if g, ok := r.stream.stuckGrid(); ok {
				g.Rank, g.Stream = int(r.index), x.batch.Streams[r.id].ID
				if g.NeverStarted() > 0 {
					grids = append(grids, g)
				}
				continue // its programs say why
			}
		}
		stuck = append(stuck, r)
	}
	slices.SortStableFunc(stuck, func(a, b *rank) int { return int(a.index - b.index) })
	blocked := make([]fault.Blocked, len(stuck))
	for i, r := range stuck {
		blocked[i] = r.describeInStream(r.living(open))
	}
	x.hung = true
	for i, r := range stuck {
		if r.stream != nil {
			blocked[i].Of = x.batch.Streams[r.id].Name()
			blocked[i].Place = r.placeOfOp()
		} else {
			r.stop()
			if r.task != nil {
				blocked[i].Of = r.task.name()
			} else {
				blocked[i].Of = x.batch.Streams[r.parent.id].ProgramName(r.parent.stream.grid.GridLaunch, r.program)
			}
			blocked[i].Place = r.place
		}
		blocked[i].Time = r.since
	}
	d := fault.NewStall(len(x.batch.Streams), len(open), blocked, grids)
	d.Time, d.Timed = at, true
	return d
}

// living returns the ranks with work left apart from a stream, its programs and their tasks. open
// are the streams that have not ended.
func (r *rank) living(open []*rank) []int {
	var ranks []int
	for _, o := range open {
		if g := &o.stream.grid; o == r || o == r.parent && g.Grid-g.ended+g.tasks == 1 {
			continue
		}
		ranks = append(ranks, int(o.index))
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// stuckGrid returns the grid whose programs a stream waits for, and whether there is one.
func (s *stream) stuckGrid() (g fault.Grid, ok bool) {
	if s.op == nil || s.op.Kind != launch.StreamLaunch || s.grid.started == 0 {
		return g, false
	}
	l := &s.grid
	return fault.Grid{
		Kernel: l.Name, Programs: l.Grid, Resident: l.Resident, Ended: l.ended, Waiting: l.started - l.ended,
	}, true
}

// describeInStream returns what a stream, a program or a task waits for, without its place. living
// are the ranks with work left.
func (r *rank) describeInStream(living []int) fault.Blocked {
	if r.wait != forOthers {
		b := r.describe()
		if r.wait != forCell {
			b.Peers = living
		}
		return b
	}
	b := fault.Blocked{Word: "its own end", Peers: living}
	switch op := r.stream.op; op.Kind {
	case launch.StreamAwait:
		b.Word = "event " + op.Event.Name
	case launch.StreamLaunch:
		b.Word = op.Launch.Gang.Waits(len(r.run.batch.gangs[op.Launch.Gang].came))
	}
	return b
}
