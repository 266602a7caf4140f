package race

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Times joined two at a time are those joined one by one.
func TestLanes(tt *testing.T) {
	times := rapid.SliceOfN(rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32Range(0, 1<<31-1),
		rapid.SampledFrom([]uint32{0, 1, 1<<31 - 2, 1<<31 - 1})), 0, 19)
	rapid.Check(tt, func(t *rapid.T) {
		own, other := times.Draw(t, "own"), times.Draw(t, "other")
		other = other[:min(len(own), len(other))]
		first, joined := len(other), slices.Clone(own)
		for i := len(other) - 1; i >= 0; i-- {
			if other[i] > own[i] {
				first, joined[i] = i, other[i]
			}
		}
		if got := firstLater(own[:len(other)], other); got != first {
			t.Errorf("the first later time is at %d, want %d", got, first)
		}
		if raise(own, other); !slices.Equal(own, joined) {
			t.Errorf("joined: %v, want %v", own, joined)
		}
	})
}
