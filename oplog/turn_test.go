package oplog_test

import (
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/oplog"
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
		a := &agent{bench: &bench{Log: first.Log}}
		a.c = tl.NewContext(tl.Setup{Core: a, Rank: i, World: n, Wiring: &tl.Wiring{}, Ring: &tl.Ring{}, Addrs: first.addrs, Scratch: 1 << 20})
		a.origin = oplog.Origin{Rank: int32(i), PE: int32(i), Line: "lib/kernel.go:5"}
		all[i] = a
	}
	return all
}

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
	a.c.BeginTurn(&tl.Turn{ID: id, World: world, Rank: a.c.Rank(), Label: int(id)*100 + a.c.Rank(), In: []tl.Ref{x}, Out: []tl.Ref{x}})
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
		as[0].c.EndTurn()
		as[0].c.Store(x, c.Full(tl.Dims(3), dtype.F32, 0)) // what comes later changes nothing
		turns := take(t, as[0].Log)
		if len(turns) != 2 || !turns[0].Ended || turns[1].Ended {
			t.Fatalf("%+v", turns)
		}
		got := turns[0]
		if in, out := floats(got.Type, got.In), floats(got.Type, got.Out); !slices.Equal(in, []float64{1, 2, 3}) || !slices.Equal(out, []float64{11, 22, 33}) {
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

// ofRanks is the provenance of n elements that hold the contributions of all labels.
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
