package des

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kernbench/unit"
)

func TestPopIsTotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		n := rapid.IntRange(0, 300).Draw(t, "events")
		var all []Event
		for i := range n {
			e := Event{
				Time: unit.Time(rapid.IntRange(0, 20).Draw(t, "time")),
				Key: MakeKey(Phase(rapid.IntRange(0, 2).Draw(t, "phase")), uint32(rapid.IntRange(0, 3).Draw(t, "component")),
					uint8(rapid.IntRange(0, 2).Draw(t, "lane")), uint32(i)),
			}
			all = append(all, e)
			q.Post(e)
		}
		slices.SortFunc(all, func(a, b Event) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Key, b.Key))
		})
		for i, want := range all {
			got, ok := q.Pop()
			if !ok || got != want {
				t.Fatalf("pop %d: got %+v %v, want %+v", i, got, ok, want)
			}
			if q.Now() != want.Time {
				t.Fatalf("clock %v after an event at %v", q.Now(), want.Time)
			}
		}
		if _, ok := q.Pop(); ok {
			t.Fatal("popped more than was posted")
		}
	})
}

func TestKeyOrder(t *testing.T) {
	ordered := []Key{
		MakeKey(Arrive, 1, 0, 7), MakeKey(Arrive, 1, 0, 8), MakeKey(Arrive, 1, 1, 0),
		MakeKey(Arrive, 2, 0, 0), MakeKey(Retry, 0, 0, 0), MakeKey(Settle, 0, 0, 0),
	}
	if !slices.IsSorted(ordered) {
		t.Errorf("keys out of order: %x", ordered)
	}
}

func TestThePastIsClosed(t *testing.T) {
	var q Queue
	q.Post(Event{Time: 5})
	q.Pop()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	q.Post(Event{Time: 4})
}

// TestMixedPostAndPop holds the queue against a sorted list while events are posted and
// popped in turns, over spans from within a bucket to far beyond the wheel.
func TestMixedPostAndPop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var model []Event
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				span := rapid.SampledFrom([]int64{0, 3, 600, 100_000, 5_000_000, 1 << 40}).Draw(t, "span")
				e := Event{Time: q.Now() + unit.Time(rapid.Int64Range(0, span).Draw(t, "delay")), Key: MakeKey(0, uint32(i%3), 0, uint32(i))}
				q.Post(e)
				k, _ := slices.BinarySearchFunc(model, e, func(a, b Event) int {
					return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Key, b.Key))
				})
				model = slices.Insert(model, k, e)
				continue
			}
			got, ok := q.Pop()
			if ok != (len(model) > 0) || ok && got != model[0] {
				t.Fatalf("step %d: popped %+v %v, want %+v", i, got, ok, model)
			}
			if ok {
				model = model[1:]
			}
			if q.Len() != len(model) {
				t.Fatalf("Len %d, want %d", q.Len(), len(model))
			}
		}
	})
}

// BenchmarkHold is the hold model: pop an event, post one a random time later.
func BenchmarkHold(b *testing.B) {
	for _, live := range []int{1e3, 1e5, 1e6} {
		b.Run(itoa(live), func(b *testing.B) {
			var q Queue
			r := rand.New(rand.NewPCG(1, 2))
			delay := make([]unit.Time, 1<<12)
			for i := range delay {
				delay[i] = unit.Time(r.Int64N(100_000))
			}
			for i := range live {
				q.Post(Event{Time: delay[i&4095], Key: MakeKey(Arrive, uint32(i), 0, 0)})
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				e, _ := q.Pop()
				e.Time += delay[i&4095]
				q.Post(e)
			}
		})
	}
}

func itoa(n int) string {
	switch n {
	case 1e3:
		return "1e3"
	case 1e5:
		return "1e5"
	}
	return "1e6"
}
