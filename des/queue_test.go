package des

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
	"kernbench/unit"
)

// byTime orders events as a plain sort does.
func byTime(a, b Event) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Key, b.Key)) }

func TestPopIsTotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		n := rapid.IntRange(0, 300).Draw(t, "events")
		var all []Event
		for i := range n {
			e := Event{
				Time: unit.Time(rapid.IntRange(0, 20).Draw(t, "time")),
				Key: MakeKey(Phase(rapid.IntRange(0, 2).Draw(t, "phase")), uint32(rapid.IntRange(0, 3).Draw(t, "component")),
					uint8(rapid.IntRange(0, 2).Draw(t, "sequence")), uint32(i)),
			}
			all = append(all, e)
			q.Post(e)
		}
		slices.SortFunc(all, byTime)
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
	popped := func(times ...unit.Time) *Queue {
		q := &Queue{}
		for _, at := range times {
			q.Post(Event{Time: at})
			q.Pop()
		}
		return q
	}
	for _, tt := range []struct {
		name string
		q    *Queue
		at   unit.Time
	}{
		{"before an event", popped(5), 4},
		{"before a window", popped(5, 70_000), 69_000},
		{"before the clock of a new queue", From(1000), 999},
		{"long before it", From(1 << 40), 5},
		{"before all", &Queue{}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			tt.q.Post(Event{Time: tt.at})
		})
	}
}

// TestMixedPostAndPop compares the queue with a sorted list while events are posted and popped in
// turns. The spans range from within a window to that of the highest digit.
func TestMixedPostAndPop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var model []Event
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				span := rapid.SampledFrom([]int64{0, 3, 600, 100_000, 5_000_000, 1 << 40, 1<<62 - 1}).Draw(t, "span")
				span = min(span, int64(unit.MaxTime-q.Now()))
				e := Event{Time: q.Now() + unit.Time(rapid.Int64Range(0, span).Draw(t, "delay")),
					Key: MakeKey(0, uint32(i%3), 0, uint32(i))}
				q.Post(e)
				k, _ := slices.BinarySearchFunc(model, e, byTime)
				model = slices.Insert(model, k, e)
				continue
			}
			if rapid.Bool().Draw(t, "look") {
				if at, ok := q.Next(); ok != (len(model) > 0) || ok && at != model[0].Time {
					t.Fatalf("step %d: the next is at %v %v, want %+v", i, at, ok, model)
				}
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

// TestPrefetch: when nothing is posted in between, all events are shown in order before they come.
// The next events of a window are shown again soon.
func TestPrefetch(t *testing.T) {
	var q Queue
	var coming []Event
	again, since := 0, 0
	q.Prefetch(func(events []Event, fresh bool) {
		switch since = 0; {
		case fresh && len(coming) > 0:
			t.Fatalf("a window begins before %d events", len(coming))
		case fresh:
			coming = slices.Clone(events)
		case !slices.Equal(events, coming[1:]): // without the one that is being popped
			t.Fatalf("%d events are shown, not the %d that come", len(events), len(coming)-1)
		default:
			again++
		}
	})
	const live, events = 5000, 50_000
	r := rand.New(rand.NewPCG(1, 2))
	for i := range uint32(events) {
		q.Post(Event{Time: q.Now()/1000*1000 + unit.Time(2+r.IntN(20))*1000, Key: MakeKey(0, i, 0, 0)})
		if i < live {
			continue
		}
		e, _ := q.Pop()
		if len(coming) == 0 {
			t.Fatalf("event %+v comes unseen", e)
		}
		if e != coming[0] {
			t.Fatalf("event %+v comes in place of %+v", e, coming[0])
		}
		if since++; since > often {
			t.Fatalf("%d events come unseen", since)
		}
		coming = coming[1:]
	}
	if again < 1000 {
		t.Errorf("%d looks that do not begin a window", again)
	}
}

// TestCrowdsAreSorted compares the queue with a sorted list when thousands of events share few
// instants. Their keys differ in some of their parts only, and popped events post others.
func TestCrowdsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		span := rapid.SampledFrom([]int64{1, 2, 200, 3_000, 100_000}).Draw(t, "span")
		phases := rapid.IntRange(1, 3).Draw(t, "phases")
		components := rapid.SampledFrom([]int{1, 7, 300, 1 << 28}).Draw(t, "components")
		sequences := rapid.SampledFrom([]int{1, 256}).Draw(t, "sequences")
		var q Queue
		var posted, popped []Event
		post := func() {
			e := Event{
				Time:   q.Now() + unit.Time(r.Int64N(span)),
				Key:    MakeKey(Phase(r.IntN(phases)), uint32(r.IntN(components)), uint8(r.IntN(sequences)), uint32(len(posted))),
				Target: uint32(len(posted)),
			}
			posted = append(posted, e)
			q.Post(e)
		}
		for range rapid.SampledFrom([]int{20, 70, 500, 5_000}).Draw(t, "events") {
			post()
		}
		// An event that is posted at the instant of the event popped last may come before it by its
		// key. So the whole is sorted by time alone, and by key between posts.
		from := 0
		inOrder := func() {
			if !slices.IsSortedFunc(popped[from:], byTime) {
				t.Fatalf("popped out of order after %d events", from)
			}
			from = len(popped)
		}
		more := len(posted)
		for {
			e, ok := q.Pop()
			if !ok {
				break
			}
			popped = append(popped, e)
			if len(posted) < 2*more && r.IntN(3) == 0 {
				inOrder()
				post()
			}
		}
		inOrder()
		if !slices.IsSortedFunc(popped, func(a, b Event) int { return cmp.Compare(a.Time, b.Time) }) {
			t.Fatal("time went back")
		}
		slices.SortFunc(popped, func(a, b Event) int { return cmp.Compare(a.Target, b.Target) })
		if !slices.Equal(popped, posted) {
			t.Fatalf("%d events came out of %d, or others", len(popped), len(posted))
		}
	})
}

// TestPeaksAreBounded: after a crowd, the queue keeps the memory that the crowd filled and uses it
// again. A queue with few events has little memory.
func TestPeaksAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var q Queue
	hold := func(live, events int) {
		for q.Len() < live {
			q.Post(Event{Time: q.Now() + unit.Time(r.Int64N(50_000)), Key: Key(r.Uint64() >> 3)})
		}
		for range events {
			e, _ := q.Pop()
			e.Time += unit.Time(r.Int64N(50_000))
			q.Post(e)
		}
		for q.Len() > 0 {
			q.Pop()
		}
	}
	most := func(live int) int { return (live/perBlock+min(live, 3*digits)+2)*3/2 + fewest }
	for _, live := range []int{10, 300, 20_000} {
		for range 3 {
			hold(live, 5*live)
		}
		if n := len(q.events) / places; n > most(live) {
			t.Errorf("%d blocks of %d events after %d lived, want at most %d", n, perBlock, live, most(live))
		}
	}
	if allocs := testing.AllocsPerRun(3, func() { hold(20_000, 50_000) }); allocs > 2 {
		t.Errorf("%v allocations in a queue that has grown", allocs)
	}
}

// TestEventsAreCompact: a block fills whole cache lines.
func TestEventsAreCompact(t *testing.T) {
	if n := blockBytes; n%line != 0 {
		t.Errorf("a block has %d bytes, not whole lines", n)
	}
}
