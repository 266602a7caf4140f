package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// sums is two all-reduces in parallel on four PEs, by programs of a grid: program i has
// elements [i*n, i*n+n) of each PE's shard.
type sums struct {
	c    *device.Context
	x    *device.Tensor
	ids  [2]int32
	turn func(t *tl.Turn) *tl.Turn // changes a rank's turn; nil: unchanged
}

const sumRanks, sumElems = 4, 3

func newSums(t testing.TB, c *device.Context) *sums {
	t.Helper()
	s := &sums{c: c, ids: [2]int32{7, 8}, turn: func(t *tl.Turn) *tl.Turn { return t }}
	s.x = must(c.Empty(sumRanks, 2*sumElems, dtype.F32, device.DPPolicy{PE: device.RowWise, NumCubes: 1}))(t)
	if err := s.x.CopyIn(ramp(s.x.Elems())); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sums) kernel(c *tl.Context, a tl.Args) {
	i := c.ProgramID(0)
	mine := a.Shard(c.Rank()).Slice(i*sumElems, sumElems)
	turn := s.turn(&tl.Turn{
		ID: s.ids[i], World: sumRanks, Rank: c.Rank(), Label: 10*int(s.ids[i]) + c.Rank(), In: []tl.Ref{mine}, Out: []tl.Ref{mine},
	})
	if turn != nil {
		tl.DriverOf(c).BeginTurn(turn)
	}
	w := a.Window(0)
	slots := c.Data(w, "slots").Slice(i*sumRanks*sumElems, sumRanks*sumElems)
	ready := c.Signals(w, "ready").At(i)
	for peer := range sumRanks {
		c.PutSignal(slots.Slice(c.Rank()*sumElems, sumElems), peer, mine, ready, tl.SignalAdd, 1)
	}
	c.WaitUntil(ready, tl.GE, sumRanks)
	sum := c.Load(c.Local(slots.Slice(0, sumElems)))
	for r := 1; r < sumRanks; r++ {
		sum = c.Add(sum, c.Load(c.Local(slots.Slice(r*sumElems, sumElems))))
	}
	c.Store(mine, sum)
	c.PipeBarrier() // until the result is there
	if turn != nil {
		tl.DriverOf(c).EndTurn()
	}
	c.Store(mine, c.Full(mine.Shape, mine.DType, -1)) // the program goes on
}

// run performs both, and hands them to the judge.
func (s *sums) run(t testing.TB, performed []device.Performed) error {
	t.Helper()
	team := must(s.c.NewTeam("all", []int32{0, 1, 2, 3}))(t)
	w := must(s.c.NewWindow("box", team, 0,
		mem.Buffer{Name: "slots", Parts: []mem.Part{mem.StagingPart("", dtype.F32, 2*sumRanks*sumElems)}},
		mem.Buffer{Name: "ready", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 2)}}))(t)
	for _, pe := range team.PEs {
		stream := must(s.c.NewStream(int(pe)))(t)
		if err := stream.Launch("sums", s.kernel, device.Grid{Programs: 2, Team: team}, s.x, w); err != nil {
			t.Fatal(err)
		}
	}
	return s.c.JudgeTurns(performed, s.c.Synchronize(context.Background()))
}

// performed returns what the two are.
func (s *sums) performed(t testing.TB) []device.Performed {
	row := must(algorithm.Lookup("window_allreduce_onephase"))(t)
	all := make([]device.Performed, len(s.ids))
	for i, id := range s.ids {
		all[i] = device.Performed{
			ID: id, Title: fmt.Sprintf("sum %d", i), Algorithm: row, Collective: "all_reduce", PEs: []int32{0, 1, 2, 3},
			Call: collective.Call{World: sumRanks, Elems: sumElems, Type: dtype.F32,
				Labels: collective.Ranks{First: 10 * int(id), N: sumRanks}},
		}
	}
	return all
}

// The judge gets what memory held when each collective ended, with whose it was.
func TestTurnsAreJudged(t *testing.T) {
	var calls []*device.Call
	c, log := judged(t, func(c *device.Call) error { calls = append(calls, c); return nil })
	s := newSums(t, c)
	if err := s.run(t, s.performed(t)); err != nil {
		t.Fatal(err)
	}
	if len(calls) != 2 || c.FirstCall() != calls[0] || !slices.Equal(c.Launches()[0].Calls, calls) {
		t.Fatalf("%d calls, first %p", len(calls), c.FirstCall())
	}
	for i, call := range calls {
		g := call.Groups[0]
		want := must(call.Collective.Expect(log.Hasher(), g.Call))(t)
		if call.Title != fmt.Sprintf("sum %d", i) || call.Plan.World != sumRanks ||
			call.Plan.Name != "window_allreduce_onephase" || call.Plan.RankToPE[3].PE != 3 {
			t.Errorf("%q, %+v", call.Title, call.Plan)
		}
		for r := range sumRanks {
			for k := range sumElems {
				in, sum := float64(r*2*sumElems+i*sumElems+k), float64(0+6+12+18+sumRanks*(i*sumElems+k))
				if a, b := dtype.At(dtype.F32, g.Inputs[r], k), dtype.At(dtype.F32, g.Outputs[r], k); a != in || b != sum {
					t.Errorf("%s, rank %d element %d: from %v to %v, want %v to %v", call.Title, r, k, a, b, in, sum)
				}
			}
			if !collective.Equal(g.Provs[r], want.Prov(nil, r)) {
				t.Errorf("%s, rank %d: provenance %v", call.Title, r, g.Provs[r])
			}
		}
	}
}

// judged returns a context with data whose collectives go to check.
func judged(t testing.TB, check func(*device.Call) error) (*device.Context, *oplog.Log) {
	t.Helper()
	log := oplog.New(oplog.Options{Inline: true})
	t.Cleanup(log.Close)
	return openJudged(t, log, check), log
}

func openJudged(t testing.TB, log *oplog.Log, check func(*device.Call) error) *device.Context {
	t.Helper()
	top := must(conf.LoadTopology(nil, small))(t)
	return must(device.New(device.Config{
		Machine: must(machine.Build(top))(t), Executor: mock.New(mock.Options{Data: log}), Check: check,
	}))(t)
}

func TestTurnsThatDoNotFit(t *testing.T) {
	tests := []struct {
		name string
		turn func(t *tl.Turn) *tl.Turn // of rank 2 in the second
		call func(p *device.Performed) // of the second
		text string
	}{
		{"a rank without one", func(*tl.Turn) *tl.Turn { return nil }, nil,
			"sum 1: turns of a collective refused: rank 2 (sip0.cube0.pe2) took no part to the end"},
		{"another operation", func(t *tl.Turn) *tl.Turn { t.Op = tl.Max; return t }, nil,
			"turn 8 of rank 2 has operation max, the collective sum"},
		{"another label", func(t *tl.Turn) *tl.Turn { t.Label = 5; return t }, nil, "has label 5, the collective 82"},
		{"another world", func(t *tl.Turn) *tl.Turn { t.World = 3; return t }, nil, "a turn of rank 2 of 3, in a collective of 4"},
		{"a rank beyond", func(t *tl.Turn) *tl.Turn { t.Rank = 4; return t }, nil, "a turn of rank 4 of 4"},
		{"the rank of another", func(t *tl.Turn) *tl.Turn { t.Rank, t.Label = 1, 81; return t }, nil, "rank 1 ended turn 8 twice"},
		{"less input", func(t *tl.Turn) *tl.Turn {
			t.In = []tl.Ref{t.In[0].Slice(0, 2)}
			t.Out = t.In
			return t
		}, nil, "has bytes of input 8, the collective 12"},
		{"less output", func(t *tl.Turn) *tl.Turn { t.Out = []tl.Ref{t.Out[0].Slice(0, 2)}; return t }, nil,
			"has bytes of output 8, the collective 12"},
		{"other elements", nil, func(p *device.Performed) { p.Call.Type = dtype.I32 }, "has elements of f32, the collective i32"},
		{"fewer PEs", nil, func(p *device.Performed) { p.PEs = p.PEs[1:] }, "3 PEs for 4 ranks"},
		{"no such collective", nil, func(p *device.Performed) { p.Collective = "all_redouble" }, "all_redouble"},
		{"a call that cannot be", nil, func(p *device.Performed) { p.Call.Elems = -1 }, "the number cannot be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSums(t, open(t))
			if tt.turn != nil {
				s.turn = func(turn *tl.Turn) *tl.Turn {
					if turn.Rank == 2 && turn.ID == s.ids[1] {
						return tt.turn(turn)
					}
					return turn
				}
			}
			performed := s.performed(t)
			if tt.call != nil {
				tt.call(&performed[1])
			}
			if err := s.run(t, performed); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %q", err, tt.text)
			}
		})
	}
}

// A launch that failed is not judged, and nothing of it is taken for what comes next.
func TestTurnsOfAFailedLaunch(t *testing.T) {
	judgedCalls := 0
	c, _ := judged(t, func(*device.Call) error { judgedCalls++; return nil })
	s := newSums(t, c)
	s.turn = func(t *tl.Turn) *tl.Turn {
		if t.Rank == 3 {
			panic("rank 3 does not come")
		}
		return t
	}
	err := s.run(t, s.performed(t))
	if !errors.As(err, new(*fault.Panic)) || judgedCalls > 0 || c.FirstCall() == nil {
		t.Fatalf("%v, %d judged", err, judgedCalls)
	}
	if err := c.JudgeTurns(s.performed(t)[:1], nil); !errors.Is(err, device.ErrTurns) {
		t.Errorf("nothing was launched since: %v", err)
	}
}

// Without data the calls are recorded, and there is nothing to judge.
func TestTurnsWithoutData(t *testing.T) {
	var titles []string
	c := openJudged(t, nil, func(c *device.Call) error {
		if g := c.Groups[0]; g.Inputs != nil || g.Outputs != nil {
			t.Errorf("%s has data", c.Title)
		}
		titles = append(titles, c.Title)
		return nil
	})
	s := newSums(t, c)
	if err := s.run(t, s.performed(t)); err != nil || !slices.Equal(titles, []string{"sum 0", "sum 1"}) {
		t.Errorf("%q: %v", titles, err)
	}
}
