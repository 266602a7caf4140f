package sim

import (
	"slices"

	"kernbench/fault"
	"kernbench/tl/launch"
)

// stalled stops the ranks of streams that cannot continue, and returns an error with the wait of
// each.
func (x *run) stalled() error {
	var stuck, open []*rank // open: streams that have not ended
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
				continue // the report shows its programs instead
			}
		}
		stuck = append(stuck, r)
	}
	slices.SortStableFunc(stuck, func(a, b *rank) int { return int(a.index - b.index) })
	blocked := make([]fault.Blocked, len(stuck))
	for i, r := range stuck {
		blocked[i] = r.describeInStream(r.ranksWithWork(open))
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
			blocked[i].StoppedAt(r.place)
		}
		blocked[i].Time = r.since
	}
	d := fault.NewStall(len(x.batch.Streams), len(open), blocked, grids)
	d.Time, d.Timed = at, true
	return d
}

// ranksWithWork returns the ranks of the streams in open, without the stream of r. That one counts
// only if it has other programs or tasks than r. open lists the streams that have not ended.
func (r *rank) ranksWithWork(open []*rank) []int {
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

// stuckGrid returns the grid whose programs a stream waits for. ok is false if it waits for none.
func (s *stream) stuckGrid() (g fault.Grid, ok bool) {
	if s.op == nil || s.op.Kind != launch.StreamLaunch || s.grid.started == 0 {
		return g, false
	}
	l := &s.grid
	return fault.Grid{
		Kernel: l.Name, Programs: l.Grid, Resident: l.Resident, Ended: l.ended, Waiting: l.started - l.ended,
	}, true
}

// describeInStream returns what a stream, a program or a task waits for, without the source
// position. active lists the ranks with work left.
func (r *rank) describeInStream(active []int) fault.Blocked {
	if r.wait != forOthers {
		b := r.describe()
		if r.wait != forCell {
			b.Peers = active
		}
		return b
	}
	b := fault.Blocked{Word: "its own end", Peers: active}
	switch op := r.stream.op; op.Kind {
	case launch.StreamAwait:
		b.Word = "event " + op.Event.Name
	case launch.StreamLaunch:
		b.Word = op.Launch.Gang.Waits(len(r.run.batch.gangs[op.Launch.Gang].arrived))
	}
	return b
}
