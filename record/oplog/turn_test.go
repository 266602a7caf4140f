package oplog_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// agent is one of several programs whose records share a log.
type agent struct {
	*bench
}

// agents makes n of them on one log; agent i is rank i.
func agents(t interface {
	Fatal(...any)
	Cleanup(func())
}, o oplog.Options, n int) []*agent {
	first := newBench(t, o)
	all := make([]*agent, n)
	for i := range all {
		all[i] = newAgent(first, i, n)
	}
	return all
}

func newAgent(b *bench, rank, world int) *agent {
	a := &agent{&bench{Log: b.Log, addrs: b.addrs}}
	a.c = tl.NewContext(tl.Setup{Core: a, Rank: rank, World: world, Wiring: &tl.Wiring{}, Ring: &tl.Ring{},
		Addrs: b.addrs, Scratch: 1 << 20})
	a.origin = oplog.Origin{Rank: int32(rank), PE: int32(rank), Line: "lib/kernel.go:5"}
	return a
}

// beside is one more program of the same rank.
func (a *agent) beside() *agent { return newAgent(a.bench, a.c.Rank(), a.c.WorldSize()) }

// Do is an executor that knows turns.
func (a *agent) Do(in *tl.Instr) {
	switch in.Op {
	case tl.OpBeginTurn:
		a.origin.Turn = in.Turn.ID
		a.BeginTurn(a.origin, in.Turn)
	case tl.OpEndTurn:
		a.EndTurn(a.origin, in.Turn)
		a.origin.Turn = 0
	default:
		a.bench.Do(in)
	}
}

// begin is the turn of an agent in collective id: an all-reduce by sum in place.
func (a *agent) begin(id int32, world int, x tl.Ref) {
	tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: id, World: world, Rank: a.c.Rank(), Label: int(id)*100 + a.c.Rank(),
		In: []tl.Ref{x}, Out: []tl.Ref{x}})
}

func take(t interface{ Fatal(...any) }, l *oplog.Log) []*oplog.CapturedTurn {
	turns, err := l.TakeTurns()
	if err != nil {
		t.Fatal(err)
	}
	return turns
}

func floats(typ dtype.Type, data []byte) []float64 {
	var v []float64
	for i := range len(data) / typ.Size() {
		v = append(v, dtype.At(typ, data, i))
	}
	return v
}

func TestTurnCapturesAndMerges(t *testing.T) {
	for _, inline := range []bool{true, false} {
		as := agents(t, oplog.Options{Inline: inline}, 2)
		x, y := as[0].put(t, 0, dtype.F32, 1, 2, 3), as[0].put(t, 1, dtype.F32, 10, 20, 30)
		as[0].begin(1, 2, x)
		as[1].begin(1, 2, y)
		c := as[0].c
		c.Store(x, c.Add(c.Load(x), c.Load(y)))
		tl.DriverOf(as[0].c).EndTurn()
		as[0].c.Store(x, c.Full(tl.Dims(3), dtype.F32, 0)) // what comes later changes nothing
		turns := take(t, as[0].Log)
		if len(turns) != 2 || !turns[0].Ended || turns[1].Ended {
			t.Fatalf("%+v", turns)
		}
		got := turns[0]
		if in, out := floats(got.Type, got.In), floats(got.Type, got.Out); !slices.Equal(in, []float64{1, 2, 3}) ||
			!slices.Equal(out, []float64{11, 22, 33}) {
			t.Errorf("from %v to %v", in, out)
		}
		want := ofRanks(as[0].Hasher(), 3, 100, 101)
		if !collective.Equal(got.Prov, want) {
			t.Errorf("%v, want %v", got.Prov, want)
		}
		if more := take(t, as[0].Log); len(more) != 0 {
			t.Errorf("taken twice: %v", more)
		}
	}
}

// ofRanks returns the provenance of n elements that hold the contributions of all labels.
func ofRanks(h *collective.Hasher, n int, labels ...int) collective.Prov {
	var p collective.Prov
	for _, label := range labels {
		own := h.Own(nil, label, 0, n)
		if p == nil {
			p = own
			continue
		}
		p = h.Merge(nil, p, own, 0)
	}
	return p
}

// Data of an earlier turn at the place of the result do not count as the result of this turn.
func TestStaleResultsDoNotCount(t *testing.T) {
	a := agents(t, oplog.Options{Inline: true}, 1)[0]
	x, y := a.put(t, 0, dtype.F32, 1, 2), a.put(t, 1, dtype.F32, 0, 0)
	for id := range int32(2) {
		tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: id + 1, World: 1, Label: int(id), In: []tl.Ref{x}, Out: []tl.Ref{y}})
		if id == 0 {
			a.c.Store(y, a.c.Load(x))
		} else {
			a.c.Store(y.Slice(0, 1), a.c.Load(x.Slice(0, 1)))
		}
		tl.DriverOf(a.c).EndTurn()
	}
	turns := take(t, a.Log)
	first := collective.MakeUnwritten(a.Hasher().Own(nil, 1, 0, 1), 1)
	if !collective.Equal(turns[0].Prov, a.Hasher().Own(nil, 0, 0, 2)) || !collective.Equal(turns[1].Prov, first) {
		t.Errorf("%v, then %v", turns[0].Prov, turns[1].Prov)
	}
}

// A kernel may compute freely before, between and after its turns, and other kernels may do so
// during them. Only instructions of a turn merge, by its operation over its ranks.
func TestOnlyTurnsMerge(t *testing.T) {
	add := func(c *tl.Context, x, y tl.Ref) { c.Store(x, c.Add(c.Load(x), c.Load(y))) }
	mean := func(by float64) func(c *tl.Context, x, y tl.Ref) {
		return func(c *tl.Context, x, y tl.Ref) {
			c.Store(x, c.Scale(dtype.Mul, c.Add(c.Load(x), c.Load(y)), by))
		}
	}
	prepared := func(f float64) func(c *tl.Context, x, y tl.Ref) {
		return func(c *tl.Context, x, y tl.Ref) {
			c.Store(x, c.Combine(tl.Max, c.Full(tl.Dims(1), x.DType, f), c.Maximum(c.Load(x), c.Load(y))))
		}
	}
	tests := []struct {
		name string
		op   tl.ReduceOp
		do   func(c *tl.Context, x, y tl.Ref)
		who  int // 0: the program whose turn it is, 1: another one, which is in none
		want collective.Kind
	}{
		{"the sum", tl.Sum, add, 0, collective.Written},
		{"another operation", tl.Max, add, 0, collective.Opaque},
		{"another program", tl.Sum, add, 1, collective.Opaque},
		{"the mean", tl.Avg, mean(0.25), 0, collective.Written},
		{"the mean of another world", tl.Avg, mean(0.5), 0, collective.Opaque},
		{"into what is less than all", tl.Max, prepared(-math.MaxFloat32), 0, collective.Opaque},
		{"into the least", tl.Max, prepared(math.Inf(-1)), 0, collective.Written},
		{"into a number", tl.Max, prepared(1), 0, collective.Opaque},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			as := agents(t, oplog.Options{Inline: true}, 2)
			x, y := as[0].put(t, 0, dtype.F32, 1), as[0].put(t, 1, dtype.F32, 2)
			add(as[0].c, x, y)
			tl.DriverOf(as[0].c).BeginTurn(&tl.Turn{ID: 1, World: 2, Op: tl.Sum, In: []tl.Ref{x}, Out: []tl.Ref{x}})
			tl.DriverOf(as[0].c).EndTurn()
			as[0].c.Store(x, as[0].c.Scale(dtype.Mul, as[0].c.Load(x), 3))
			for i, ref := range []tl.Ref{x, y} {
				tl.DriverOf(as[i].c).BeginTurn(&tl.Turn{ID: 2, World: 4, Rank: i, Label: 10 + i, Op: tt.op,
					In: []tl.Ref{ref}, Out: []tl.Ref{ref}})
			}
			other := as[0].beside()
			tt.do([]*agent{as[0], other}[tt.who].c, x, y)
			tl.DriverOf(as[0].c).EndTurn()
			turns := take(t, as[0].Log)
			if in := floats(dtype.F32, turns[1].In)[0]; in != 9 {
				t.Errorf("from %v, want (1+2)*3", in)
			}
			if got := turns[1].Prov[0].Kind; got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestTurnFaults(t *testing.T) {
	turn := &tl.Turn{ID: 4, World: 1}
	tests := []struct {
		name string
		do   func(a *agent, x tl.Ref) // x: four elements, of which the first two are written
		text string
	}{
		{"a contribution that was never written", func(a *agent, x tl.Ref) {
			tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 4, World: 1, In: []tl.Ref{x.Slice(0, 1), x.Slice(1, 3)}})
		}, "rank 0 begin_turn at lib/kernel.go:5: reads hbm[9]:0x4: element 1 of the access was never written"},
		{"no memory", func(a *agent, _ tl.Ref) {
			tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 4, World: 1, In: []tl.Ref{a.ref(8, 3, dtype.F32)}})
		}, "begin_turn at lib/kernel.go:5"},
		{"no memory for the result", func(a *agent, x tl.Ref) {
			x.Addr += 8
			tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 4, World: 1, Out: []tl.Ref{x}})
		}, "only 8 bytes are mapped from there on"},
		{"elements of two types", func(a *agent, x tl.Ref) {
			y := x.Slice(1, 1)
			y.DType = dtype.I32
			tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 4, World: 1, In: []tl.Ref{x.Slice(0, 1)}, Out: []tl.Ref{y}})
		}, "a turn of f32 has a piece of i32: all of them are of one type"},
		{"twice", func(a *agent, _ tl.Ref) {
			a.BeginTurn(a.origin, turn)
			a.BeginTurn(a.origin, turn)
		}, "rank 0 begin_turn at lib/kernel.go:5: the turn has begun already"},
		{"an end without a beginning", func(a *agent, _ tl.Ref) { a.EndTurn(a.origin, turn) },
			"end_turn at lib/kernel.go:5: the turn has not begun"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, inline := range []bool{true, false} {
				a := agents(t, oplog.Options{Inline: inline}, 1)[0]
				if err := errors.Join(a.Map(at(9), dtype.F32, 4), a.Write(at(9), dtype.F32, make([]byte, 8))); err != nil {
					t.Fatal(err)
				}
				before := a.ref(9, 2, dtype.F32)
				tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 3, World: 1, In: []tl.Ref{before}, Out: []tl.Ref{before}})
				tl.DriverOf(a.c).EndTurn()
				tt.do(a, a.ref(9, 4, dtype.F32))
				turns, err := a.TakeTurns()
				if err == nil || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %v, want %q", err, tt.text)
				}
				if len(turns) == 0 || !turns[0].Ended || turns[len(turns)-1].Turn.ID == 4 && turns[len(turns)-1].Ended {
					t.Errorf("what ended before is lost, or what failed has ended: %+v", turns)
				}
			}
		})
	}
}
