package dma

import (
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
	"kernbench/unit"
)

func TestQueuesAreApart(t *testing.T) {
	var e Engine
	s := &Spec{Depth: 1}
	e.Enter(Collective)
	if !e.Full(s, Collective, 0) || e.Full(s, Compute, 0) {
		t.Error("one queue is full, the other is not")
	}
}

// TestPlaces: a descriptor holds its place until its bytes have left, not until that is
// known.
func TestPlaces(t *testing.T) {
	var e Engine
	s := &Spec{Depth: 2}
	e.Enter(Compute)
	e.Enter(Compute)
	if _, ok := e.NextLeaves(Compute); ok {
		t.Error("no time of departure is known")
	}
	e.Leave(Compute, 10, 50)
	e.Leave(Compute, 12, 30)
	if at, ok := e.NextLeaves(Compute); !ok || at != 30 {
		t.Errorf("next leaves at %d", at)
	}
	if !e.Full(s, Compute, 29) || e.Full(s, Compute, 30) {
		t.Error("there is space from 30 on")
	}
	e.Enter(Compute)
	if !e.Full(s, Compute, 49) || e.Full(s, Compute, 50) {
		t.Error("there is space again from 50 on")
	}
}

// TestAgainstModel holds an engine against a list of (entered, left) pairs.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e Engine
		s := &Spec{Depth: rapid.IntRange(1, 4).Draw(t, "depth")}
		var now unit.Time
		unknown := 0
		var ends []unit.Time
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += unit.Time(rapid.IntRange(0, 4).Draw(t, "pass"))
			in := unknown
			for _, end := range ends {
				if end > now {
					in++
				}
			}
			if got := e.Used(Collective); got < in {
				t.Fatalf("at %d used %d, at least %d are", now, got, in)
			}
			if got := e.Full(s, Collective, now); got != (in >= s.Depth) {
				t.Fatalf("at %d full=%v with %d of %d", now, got, in, s.Depth)
			}
			if unknown > 0 && rapid.Bool().Draw(t, "leave") {
				unknown--
				end := now + unit.Time(rapid.IntRange(0, 12).Draw(t, "later"))
				ends = append(ends, end)
				e.Leave(Collective, now, end)
			} else { // streams enter without asking
				unknown++
				e.Enter(Collective)
			}
		}
	})
}
