package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/report"
	"kernbench/tl"
)

// turning returns a program whose only collectives are two all-reduces in parallel, which the
// communication engines of four PEs perform, once or several times. If there are several, the last
// one is measured. add sums up the received data of a task on a rank: parts were sent for this
// task, others for the other one. If add returns false, the rank waits for data that never arrives.
func turning(name string, times int, add func(c *tl.Context, task int, parts, others []tl.Ref) (tl.Tensor, bool)) *bench.Program {
	const world, n = turnRanks, turnElems
	task := func(i int) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank()).Slice(i*n, n)
			tl.DriverOf(c).BeginTurn(&tl.Turn{
				ID: int32(i + 1), World: world, Rank: c.Rank(), Label: world*(i+1) + c.Rank(), In: []tl.Ref{mine}, Out: []tl.Ref{mine},
			})
			slots, ready := c.Data(a.Window(0), "slots"), c.Signals(a.Window(0), "ready")
			slot := func(task, rank int) tl.Sym { return slots.Slice((task*world+rank)*n, n) }
			for peer := range world {
				c.PutSignal(slot(i, c.Rank()), peer, mine, ready.At(i), tl.SignalAdd, 1)
			}
			for k := range 2 {
				c.WaitUntil(ready.At(k), tl.GE, world)
			}
			var parts, others []tl.Ref
			for r := range world {
				parts, others = append(parts, c.Local(slot(i, r))), append(others, c.Local(slot(1-i, r)))
			}
			sum, ok := add(c, i, parts, others)
			if !ok {
				c.WaitUntil(ready.At(i), tl.GE, world+1)
			}
			c.Store(mine, sum)
			c.PipeBarrier() // until the result is there
			tl.DriverOf(c).EndTurn()
		}
	}
	post := func(c *tl.Context, a tl.Args) {
		var posted []tl.Handle
		for i := range 2 {
			posted = append(posted, c.Post(&tl.Task{Name: "sum", Queue: i, Kernel: task(i), Args: a, Rank: c.Rank(), World: world}))
		}
		for _, h := range posted {
			c.Await(h)
		}
		mine := a.Shard(c.Rank())
		c.Store(mine, c.Full(mine.Shape, mine.DType, 0)) // what the program does later is its own affair
	}
	return bench.Register(bench.Program{
		Name: name, Parallel: true, Ranks: world, DType: dtype.F32,
		Run: func(ctx context.Context, h *bench.Host) error {
			team, err := h.Device.NewTeam("all", h.Devices())
			for range times {
				if err == nil {
					err = performBoth(ctx, h, team, post)
				}
			}
			if times > 1 && err == nil {
				h.Measure(h.Device.Launches()[times-1])
			}
			return err
		},
	})
}

const (
	turnRanks = 4
	turnElems = 5
)

// performBoth starts the programs that post the tasks, and has the two collectives judged.
func performBoth(ctx context.Context, h *bench.Host, team *mem.Team, post tl.Kernel) error {
	x, err := h.Device.Zeros(turnRanks, 2*turnElems, dtype.F32, device.DPPolicy{PE: device.RowWise, NumCubes: 1})
	if err != nil {
		return err
	}
	w, err := h.Device.NewWindow("box", team, 0,
		mem.Buffer{Name: "slots", Parts: []mem.Part{mem.StagingPart("", dtype.F32, 2*turnRanks*turnElems)}},
		mem.Buffer{Name: "ready", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 2)}})
	if err != nil {
		return err
	}
	values := make([]float64, x.Elems())
	for i := range values {
		values[i] = float64(i)
	}
	if err := x.CopyIn(values); err != nil {
		return err
	}
	for _, pe := range team.PEs {
		s, err := h.Device.NewStream(int(pe))
		if err != nil {
			return err
		}
		if err := s.Launch("post", post, device.Grid{Programs: 1, Team: team, Engine: true}, x, w); err != nil {
			return err
		}
	}
	row, err := algorithm.Lookup("window_allreduce_onephase")
	if err != nil {
		return err
	}
	var performed []device.Performed
	for i := range 2 {
		performed = append(performed, device.Performed{
			ID: int32(i + 1), Title: fmt.Sprintf("sum %d", i), Algorithm: row, Collective: "all_reduce", PEs: team.PEs,
			Call: collective.Call{World: turnRanks, Elems: turnElems, Type: dtype.F32,
				Labels: collective.Ranks{First: turnRanks * (i + 1), N: turnRanks}},
		})
	}
	if err := h.Device.JudgeTurns(performed, h.Device.Synchronize(ctx)); err != nil {
		return err
	}
	return h.Device.FreeWindow(w)
}

func addAll(c *tl.Context, parts []tl.Ref) tl.Tensor {
	sum := c.Load(parts[0])
	for _, p := range parts[1:] {
		sum = c.Add(sum, c.Load(p))
	}
	return sum
}

var (
	turnsRight = turning("lab_test_turns", 1, func(c *tl.Context, _ int, parts, _ []tl.Ref) (tl.Tensor, bool) {
		return addAll(c, parts), true
	})
	turnsTwoTimes = turning("lab_test_turns_two_times", 2, func(c *tl.Context, _ int, parts, _ []tl.Ref) (tl.Tensor, bool) {
		return addAll(c, parts), true
	})
	turnsStray = turning("lab_test_turns_stray", 1, func(c *tl.Context, task int, parts, others []tl.Ref) (tl.Tensor, bool) {
		if task == 1 && c.Rank() == 2 {
			parts[1] = others[3]
		}
		return addAll(c, parts), true
	})
	turnsTwice = turning("lab_test_turns_twice", 1, func(c *tl.Context, task int, parts, _ []tl.Ref) (tl.Tensor, bool) {
		if task == 0 && c.Rank() == 1 {
			parts[0] = parts[2]
		}
		return addAll(c, parts), true
	})
	turnsStuck = turning("lab_test_turns_stuck", 1, func(c *tl.Context, task int, parts, _ []tl.Ref) (tl.Tensor, bool) {
		return addAll(c, parts), task != 1 || c.Rank() != 3
	})
)

// A run whose collectives are turns is judged as any other, and names the one that is wrong.
func TestTurns(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		t.Run("right", func(t *testing.T) {
			r := right(t, run.Spec{Bench: turnsRight.Name, Executor: executor, Schedules: 3})
			if r.Collectives != 2 || r.Algorithm != "window_allreduce_onephase" || r.Collective != "all_reduce" ||
				r.Op != "sum" || r.WorldSize != 4 || r.ElemsPerRank != 5 || len(r.Schedules.Outcomes) != 1 {
				t.Errorf("%+v", r)
			}
			if executor == sim.Name && (r.SimulatedTime <= 0 || r.AlgBW != 2*5*4/r.SimulatedTime.Ns() || r.BusBW != r.AlgBW*1.5) {
				t.Errorf("in %v, %v and %v GB/s", r.SimulatedTime, r.AlgBW, r.BusBW)
			}
			var text bytes.Buffer
			if err := report.Text(&text, r); err != nil ||
				!strings.Contains(text.String(), "collectives     2, performed by programs of streams\n") {
				t.Errorf("%v\n%s", err, &text)
			}
		})
		t.Run("the last is measured", func(t *testing.T) {
			once, r := right(t, run.Spec{Bench: turnsRight.Name, Executor: executor}),
				right(t, run.Spec{Bench: turnsTwoTimes.Name, Executor: executor})
			if r.Collectives != 4 || r.SimulatedTime != once.SimulatedTime || r.AlgBW != once.AlgBW ||
				r.BusBW != once.BusBW || !slices.Equal(r.Traffic, once.Traffic) {
				t.Errorf("%+v, once %+v", r, once)
			}
			if strings.Contains(strings.Join(r.Notes, "\n"), "own launches") {
				t.Errorf("as if it had not measured a collective: %q", r.Notes)
			}
		})
		t.Run("no data", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Bench: turnsRight.Name, Executor: executor})
			if err != nil || !r.OK() || r.RanksChecked || r.Collectives != 2 ||
				r.Verdict("provenance").State != run.NotChecked || r.Verdict("values").State != run.NotChecked {
				t.Errorf("%+v: %v", r, err)
			}
		})
		for _, tt := range []struct {
			program *bench.Program
			want    run.Failure
			reason  string
		}{
			{turnsStray, run.Failure{Collective: "sum 1", Rank: 2, Missing: []int{1}}, "1 from other collectives"},
			{turnsTwice, run.Failure{Collective: "sum 0", Rank: 1, Missing: []int{0}, Duplicated: []int{2}},
				"counted more than once: rank 2"},
		} {
			t.Run(tt.program.Name, func(t *testing.T) {
				r, err := run.Run(ctx, run.Spec{Bench: tt.program.Name, VerifyData: true, Executor: executor})
				if err != nil || r.OK() || r.RanksOK != 3 || r.RanksFailed != 1 || len(r.Failures) != 1 {
					t.Fatalf("%+v: %v", r, err)
				}
				f := r.Failures[0]
				if f.Collective != tt.want.Collective || f.Rank != tt.want.Rank ||
					f.PE != fmt.Sprintf("sip0.cube0.pe%d", f.Rank) || f.Elements != 5 ||
					!slices.Equal(f.Missing, tt.want.Missing) || !slices.Equal(f.Duplicated, tt.want.Duplicated) ||
					!strings.Contains(f.Reason, tt.reason) {
					t.Errorf("%+v", f)
				}
				var text bytes.Buffer
				if err := report.Text(&text, r); err != nil || !strings.Contains(text.String(), f.PE+") in "+f.Collective+": provenance") {
					t.Errorf("%v\n%s", err, &text)
				}
			})
		}
		t.Run("stuck", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Bench: turnsStuck.Name, VerifyData: true, Executor: executor})
			if !errors.As(err, new(*fault.Deadlock)) || r.RanksChecked || r.Collectives != 0 ||
				r.Algorithm != "window_allreduce_onephase" || r.Verdict("provenance").State != run.NotChecked {
				t.Errorf("%+v: %v", r, err)
			}
		})
	})
}
