package oplog_test

import (
	"errors"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// A program that touches what a running turn is to write finds what the host had written. The
// access is reported with the turn, and the log can be used afterwards.
func TestEarlyAccess(t *testing.T) {
	load := func(a *agent, x tl.Ref) { a.c.Store(x.Slice(0, 2), a.c.Load(x.Slice(1, 2))) }
	tests := []struct {
		name    string
		access  func(a *agent, x tl.Ref)
		first   int
		op      string
		written bool // the host had written the result's memory
		ended   bool // the turn ends after the access
	}{
		{"load", load, 1, "load", true, true},
		{"load of a turn that never ends", load, 1, "load", true, false},
		{"load of what nothing had written", load, 1, "load", false, true},
		{"another turn", func(a *agent, x tl.Ref) {
			tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 2, World: 1, Label: 7, In: []tl.Ref{x.Slice(2, 1)}})
			tl.DriverOf(a.c).EndTurn()
		}, 0, "begin_turn", true, true},
		{"update", func(a *agent, x tl.Ref) {
			v := a.NewValue()
			a.Load(a.origin, v, 0, 1, 1, dtype.F32, x.Addr)
			a.Combine(a.origin, x.Slice(2, 1).Addr, v, 0, 1, dtype.F32, dtype.Add)
			a.Release(v)
		}, 0, "", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range []oplog.Options{{Inline: true}, {}, {Inline: true, Races: true}} {
				a := agents(t, o, 1)[0]
				x := a.ref(9, 4, dtype.F32)
				n := 2
				if tt.written {
					n = 4
				}
				if err := errors.Join(a.Map(at(9), dtype.F32, 4), a.Write(at(9), dtype.F32, make([]byte, 4*n))); err != nil {
					t.Fatal(err)
				}
				tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 1, World: 1, Out: []tl.Ref{x.Slice(2, 2)},
					Name: "AllReduce handle 0 turn 0", Await: "Wait(handle 0)"})
				tt.access(a.beside(), x)
				if tt.ended {
					tl.DriverOf(a.c).EndTurn()
				}
				turns, err := a.TakeTurns()
				e, ok := errors.AsType[*fault.Early](err)
				switch {
				case o.Races:
					if err != nil {
						t.Errorf("beside a judge of races: %v", err)
					}
				case !ok || e.Work != "AllReduce handle 0 turn 0 of rank 0" || e.Await != "Wait(handle 0)" ||
					e.First != tt.first || e.Line != "lib/kernel.go:5" || tt.op != "" && e.Op != tt.op:
					t.Errorf("got %v, want element %d", err, tt.first)
				}
				if turns[0].Ended != tt.ended {
					t.Errorf("ended %v", turns[0].Ended)
				}
				if _, err := a.Read(at(9), dtype.F32, n); err != nil {
					t.Errorf("a read after the launch: %v", err)
				}
				a.c.Store(x, a.c.Full(x.Shape, x.DType, 1))
				if _, err := a.TakeTurns(); err != nil {
					t.Errorf("the next launch: %v", err)
				}
			}
		})
	}
}

// Memory that a turn forgets and does not write can be read when no later turn will write it.
// Memory that was never written stays so.
func TestForgottenIsRemembered(t *testing.T) {
	a := agents(t, oplog.Options{Inline: true}, 1)[0]
	x := a.ref(9, 6, dtype.F32)
	if err := errors.Join(a.Map(at(9), dtype.F32, 6), a.Write(at(9), dtype.F32, make([]byte, 20))); err != nil {
		t.Fatal(err)
	}
	b := a.beside()
	tl.DriverOf(a.c).BeginTurn(&tl.Turn{ID: 1, World: 1, Out: []tl.Ref{x}})
	tl.DriverOf(b.c).BeginTurn(&tl.Turn{ID: 2, World: 1, Out: []tl.Ref{x.Slice(1, 3)}})
	a.c.Store(x.Slice(0, 1), a.c.Full(tl.Dims(1), x.DType, 1))
	tl.DriverOf(a.c).EndTurn()
	b.c.Store(x.Slice(1, 1), b.c.Full(tl.Dims(1), x.DType, 2))
	tl.DriverOf(b.c).EndTurn()
	turns := take(t, a.Log)
	for i, want := range [][]int{{1, 5}, {1, 2}} {
		var got []int
		for _, run := range turns[i].Prov {
			got = append(got, int(run.N))
		}
		if !slices.Equal(got, want) {
			t.Errorf("turn %d has %v, not one element of its own", i+1, turns[i].Prov)
		}
	}
	data, err := a.Read(at(9), dtype.F32, 5)
	if err != nil || !slices.Equal(floats(dtype.F32, data), []float64{1, 2, 0, 0, 0}) {
		t.Errorf("%v, %v", data, err)
	}
	if _, err := a.Read(at(9), dtype.F32, 6); !errors.As(err, new(*fault.Unwritten)) {
		t.Errorf("element 5 was never written: %v", err)
	}
}
