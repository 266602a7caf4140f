package oplog_test

import (
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// Two collectives may be sent the same memory, and parts of it, at the same time. For each of them
// it is its own contribution, until it is written.
func TestSharedContributions(t *testing.T) {
	tests := []struct {
		name   string
		second [2]int // elements that the second turn takes of the six of the first
		writes bool   // a program writes element 3 while both last
	}{
		{"the same", [2]int{0, 6}, false},
		{"a part", [2]int{2, 3}, false},
		{"the same, written", [2]int{0, 6}, true},
		{"a part, written", [2]int{2, 3}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := agents(t, oplog.Options{Inline: true}, 1)[0]
			x := a.put(t, 0, dtype.F32, 1, 2, 3, 4, 5, 6)
			outs := []tl.Ref{a.put(t, 1, dtype.F32, 0, 0, 0, 0, 0, 0), a.put(t, 2, dtype.F32, 0, 0, 0, 0, 0, 0)}
			ins := []tl.Ref{x, x.Slice(tt.second[0], tt.second[1])}
			programs := []*agent{a, a.beside()}
			for i, p := range programs {
				outs[i] = outs[i].Slice(0, ins[i].Len())
				tl.DriverOf(p.c).BeginTurn(&tl.Turn{ID: int32(i + 1), World: 1, Label: 10 * i, In: ins[i : i+1], Out: outs[i : i+1]})
			}
			if tt.writes {
				other := a.beside()
				other.c.Store(x.Slice(3, 1), other.c.Full(tl.Dims(1), dtype.F32, 9))
			}
			for i, p := range programs {
				for k := range ins[i].Len() { // the second one backwards
					at := []int{k, ins[i].Len() - 1 - k}[i]
					p.c.Store(outs[i].Slice(at, 1), p.c.Load(ins[i].Slice(at, 1)))
				}
			}
			third := a.beside() // one more, when the others have looked
			tl.DriverOf(third.c).BeginTurn(&tl.Turn{ID: 3, World: 1, Label: 20, In: ins[:1], Out: nil})
			for i, p := range programs {
				p.c.Store(outs[i].Slice(0, 1), p.c.Load(ins[i].Slice(0, 1)))
				tl.DriverOf(p.c).EndTurn()
			}
			for i, turn := range take(t, a.Log)[:2] {
				want := a.Hasher().Own(nil, 10*i, 0, ins[i].Len())
				if written := 3 - []int{0, tt.second[0]}[i]; tt.writes {
					want = collective.Overwrite(want, written, collective.MakeConstant(nil, 1))
				}
				if !collective.Equal(turn.Prov, want) {
					t.Errorf("turn %d: %v, want %v", i+1, turn.Prov, want)
				}
			}
		})
	}
}
