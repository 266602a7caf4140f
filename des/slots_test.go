package des

import (
	"math/rand/v2"
	"testing"

	"kernbench/unit"
)

// TestBorders compares the queue with a heap where events are posted close to the borders of slots.
// The clocks are at such borders too, and slots are empty in between.
func TestBorders(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, start := range []unit.Time{0, 255, 1<<16 - 700, 1<<16 - 1, 1 << 16, 3<<16 + 5, 1<<24 - 300, 1<<32 - 70_000,
		1<<40 - 1, 1<<56 - 9} {
		for _, far := range []int{16, 24, 32, 48} {
			q, ref := From(start), &oneHeap{}
			for i := range uint32(3000) {
				for q.Len() < 40 && (q.Len() > 0 || r.IntN(8) > 0) {
					delay := unit.Time(1) << r.IntN(far+1) * unit.Time(r.IntN(3))
					e := Event{Time: max(q.Now(), q.Now()+delay+unit.Time(r.IntN(5)-2)), Key: MakeKey(Arrive, i, 0, uint32(q.Len()))}
					q.Post(e)
					ref.Post(e)
				}
				if r.IntN(3) == 0 {
					next, ok := q.Next()
					if ok != (len(ref.heap) > 0) || ok && next != ref.heap[0].Time {
						t.Fatalf("from %v, 2^%d, event %d: the next is at %v, %v", start, far, i, next, ok)
					}
				}
				got, ok := q.Pop()
				if want, is := ref.Pop(); got != want || ok != is {
					t.Fatalf("from %v, 2^%d: event %d is %+v, want %+v", start, far, i, got, want)
				}
			}
		}
	}
}
