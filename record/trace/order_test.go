package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/unit"
)

// collected is a sink that keeps the events it gets.
type collected []Event

func (c *collected) Emit(e *Event) { *c = append(*c, *e) }

// TestSorter: events that come out of order, but not far after the others, are passed on in order,
// in parts or all at the end. Hidden ones and those left out are not passed on.
func TestSorter(t *testing.T) {
	for _, at := range []int{1, 7, 100, 0} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			var got collected
			s := Sorter{Shown: &got, Kept: at}
			var want []Event
			early := 0
			for i := range 1000 {
				e := Event{Start: unit.Time(i + r.IntN(30)), PE: int32(r.IntN(4)), Seq: int64(i)}
				hidden := r.IntN(10) == 0
				if !hidden && e.Start <= 1010 {
					want = append(want, e)
				}
				if s.Add(e, hidden) {
					s.Flush(unit.Time(i))
				}
				early = max(early, len(got))
			}
			s.End(func(e *Event) bool { return e.Start > 1010 })
			Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%d events in another order than %d", len(got), len(want))
			}
			if early == 0 != (at == 0) {
				t.Errorf("%d events were handed on before the end", early)
			}
		})
	}
}
