package mock

import (
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// grid is the launch that a stream is at.
type grid struct {
	*launch.GridLaunch // nil: none
	started            int
	ended              int
	resident           []*rank // those that have started and not ended

	tasks int                    // posted by programs and not ended
	last  [tl.EngineQueues]*task // the last that they have posted to each queue; nil: none
}

// left returns the number of programs, and of tasks that they have posted, that have not ended.
func (g *grid) left() int { return g.Grid - g.ended + g.tasks }

func offset(k int, pitch int64) mem.Addr { return mem.Addr(int64(k) * pitch) }

// launch starts a kernel, or a group launch when all its members have arrived. It ends when all
// programs have ended, and all tasks that they have posted.
func (s *stream) launch(op *launch.StreamOp) progress {
	l := op.Launch
	switch {
	case s.grid.GridLaunch != nil && s.grid.left() == 0:
		s.accountTasks(op)
		s.grid = grid{}
		return ended
	case s.grid.GridLaunch != nil:
		return waits
	}
	s.grid.GridLaunch = l
	if l.Gang == nil {
		s.startGrid()
		return waits
	}
	came := append(s.run.batch.gangs[l.Gang], s)
	s.run.batch.gangs[l.Gang] = came
	if len(came) == l.Gang.Members {
		for _, o := range came {
			o.startGrid()
		}
	}
	return waits
}

// startGrid starts as many programs as may be resident.
func (s *stream) startGrid() {
	for range min(s.grid.Grid, s.grid.Resident) {
		s.startProgram()
	}
}

// startProgram starts the next program of the grid.
func (s *stream) startProgram() {
	x, g := s.run, &s.grid
	r := &rank{run: x, stream: s, index: g.Rank, pe: s.PE, ringUse: ringUse{served: -1}, wiring: &tl.Wiring{}, program: g.started}
	r.start(tl.Setup{
		Rank: g.Rank, World: g.World, PEsPerCube: 1, Scratch: x.launch.Scratch, Program: g.started, Grid: g.Grid,
		CoreType: g.CoreType(g.started), Engine: x.batch.engine != nil,
	}, g.Kernel, g.Args)
	r.agent = x.history.Begins(history.AgentInfo{Rank: s.Rank, PE: int(s.PE), Stream: s.ID, Program: g.started}, s.agent, 0)
	g.started++
	g.resident = append(g.resident, r)
	x.enter(r)
}

// programEnded starts the next program in place of one that has ended, or resumes the stream.
func (s *stream) programEnded(r *rank) {
	x, g := s.run, &s.grid
	g.ended++
	g.resident = slices.DeleteFunc(g.resident, func(o *rank) bool { return o == r })
	s.traffic.Add(tl.DriverOf(r.kernel).Traffic())
	r.clear()
	switch {
	case g.started < g.Grid:
		s.startProgram()
	case g.left() == 0:
		x.wake(s)
	}
}
