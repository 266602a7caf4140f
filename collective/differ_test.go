package collective

import (
	"fmt"
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	h := NewHasher(1, false)
	want := h.Own(nil, 0, 0, 10)
	got := Overwrite(h.Own(nil, 0, 0, 10), 3, h.Own(MakeUnwritten(nil, 2), 1, 5, 2))
	var places []string
	for at, d := range Differences(want, got) {
		places = append(places, fmt.Sprint(at, " ", d.Got.N, " ", d.Got.Kind))
	}
	if want := []string{"3 2 unwritten", "5 2 written"}; !slices.Equal(places, want) {
		t.Errorf("differences %q, want %q", places, want)
	}
	for range Differences(want, want) {
		t.Error("a vector differs from itself")
	}
}

func TestSingleDifference(t *testing.T) {
	h := NewHasher(1, false)
	sum := func(ranks ...int) Run {
		p := MakeNeutral(nil, 4)
		for _, r := range ranks {
			p = h.Merge(nil, p, h.Own(nil, r, 0, 4), 0)
		}
		return p[0]
	}
	all := Ranks{First: 1, N: 4, Stride: 2} // 1, 3, 5, 7
	tests := []struct {
		name string
		got  []int
		rank int
		over bool
		ok   bool
	}{
		{"one missing", []int{1, 3, 7}, 5, false, true},
		{"one twice", []int{1, 3, 3, 5, 7}, 3, true, true},
		{"two missing", []int{1, 3}, 0, false, false},
		{"a stranger for one", []int{1, 3, 5, 9}, 0, false, false},
		{"a stranger too many", []int{1, 3, 5, 7, 9}, 0, false, false},
	}
	for _, tt := range tests {
		rank, over, ok := h.Single(Difference{Want: sum(1, 3, 5, 7), Got: sum(tt.got...)}, all)
		if rank != tt.rank || over != tt.over || ok != tt.ok {
			t.Errorf("%s: rank %d over %v ok %v, want %d %v %v", tt.name, rank, over, ok, tt.rank, tt.over, tt.ok)
		}
	}
}

func TestRoundAndMaxDepth(t *testing.T) {
	h := NewHasher(1, false)
	p := h.Own(MakeNeutral(nil, 2), 0, 0, 2)
	q := h.Merge(nil, p, h.Own(nil, 1, 0, 4), 0)
	Round(q)
	if q[0].Depth != 1 || q[1].Depth != 2 || q.MaxDepth() != 2 {
		t.Errorf("depths %d and %d, largest %d; want 1, 2, 2", q[0].Depth, q[1].Depth, q.MaxDepth())
	}
	if Round(p); p[0].Depth != 0 {
		t.Errorf("an element without contributors has depth %d", p[0].Depth)
	}
}
