package des

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortInstant: events of one instant come in the order of their keys, whatever part of these
// differs.
func TestSortInstant(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		name string
		key  func(i int) Key
	}{
		{"in order", func(i int) Key { return MakeKey(Arrive, uint32(i), 0, 0) }},
		{"backwards", func(i int) Key { return MakeKey(Arrive, uint32(9999-i), 0, 0) }},
		{"components", func(int) Key { return MakeKey(Arrive, r.Uint32N(1<<16), 0, 0) }},
		{"counters", func(int) Key { return MakeKey(Retry, 7, 1, r.Uint32()) }},
		{"few sequences, counters backwards", func(i int) Key { return MakeKey(Settle, 7, uint8(r.IntN(3)), uint32(9999-i)) }},
		{"two crowds", func(int) Key { return MakeKey(Phase(2*r.IntN(2)), r.Uint32N(50), 0, r.Uint32N(500)) }},
		{"one apart", func(i int) Key { return MakeKey(Phase(i&1), uint32(i&1), 0, r.Uint32N(4)) }},
		{"all bits", func(int) Key { return Key(r.Uint64()) }},
	} {
		for _, n := range []int{1, 2, small, small + 1, 100, 255, 256, 257, 3000} {
			var q sorter
			var s []Event
			for i := range n {
				s = append(s, Event{Time: 3, Key: tt.key(i), Target: uint32(i)})
			}
			want := slices.Clone(s)
			slices.SortFunc(want, byTime)
			q.sortInstant(s)
			if !slices.EqualFunc(s, want, func(a, b Event) bool { return byTime(a, b) == 0 }) {
				t.Errorf("%s: %d events are out of order", tt.name, n)
			}
			slices.SortFunc(s, func(a, b Event) int { return cmp.Compare(a.Target, b.Target) })
			if i := slices.IndexFunc(s, func(e Event) bool { return s[e.Target].Target != e.Target }); i >= 0 {
				t.Errorf("%s: of %d events number %d is lost", tt.name, n, i)
			}
		}
	}
}
