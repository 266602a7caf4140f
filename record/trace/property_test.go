package trace

import (
	"bytes"
	"slices"
	"testing"

	_ "kernbench/internal/fixedseed"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// anyEvents draws a stream as executors promise it: by start, and every message with a
// number of its own.
func anyEvents(t *rapid.T) []Event {
	n := rapid.IntRange(0, 40).Draw(t, "events")
	events := make([]Event, n)
	start := unit.Time(0)
	for i := range events {
		start += unit.Time(rapid.IntRange(0, 3).Draw(t, "step"))
		events[i] = Event{
			Kind:  Kind(rapid.IntRange(0, int(Scratch)).Draw(t, "kind")),
			PE:    int32(rapid.IntRange(0, 2).Draw(t, "pe")),
			Peer:  int32(rapid.IntRange(-1, 2).Draw(t, "peer")),
			Dir:   uint8(rapid.IntRange(0, 7).Draw(t, "dir")),
			Start: start, End: start + unit.Time(rapid.IntRange(0, 9).Draw(t, "length")),
			Seq:  int64(rapid.IntRange(0, 3).Draw(t, "seq")),
			Ring: uint32(rapid.IntRange(0, 2).Draw(t, "ring")),
			Flow: uint64(rapid.IntRange(0, 3).Draw(t, "flow")),
			Line: rapid.SampledFrom([]string{"", "a.go:1", "b.go:x", "c"}).Draw(t, "line"),
		}
	}
	return events
}

// For any events, the Perfetto file is JSON that its viewer can show. No two spans of a track
// overlap, and every arrow has two ends.
func TestPerfettoOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := anyEvents(rt)
		spans, arrows := 0, map[int][]string{}
		free := map[[2]int]float64{}
		for _, e := range chromeEvents(t, events) {
			switch e.Ph {
			case "X":
				spans++
				k := [2]int{e.Pid, e.Tid}
				if e.Ts < free[k]-1e-9 { // the format's microseconds, as floats
					rt.Fatalf("process %d track %d: a span from %v while another lasts to %v", e.Pid, e.Tid, e.Ts, free[k])
				}
				free[k] = e.Ts + e.Dur
			case "s", "f":
				arrows[e.ID] = append(arrows[e.ID], e.Ph)
			}
		}
		if want := countSpans(events); spans != want {
			rt.Fatalf("%d spans of %d events", spans, want)
		}
		for id, ends := range arrows {
			if slices.Sort(ends); !slices.Equal(ends, []string{"f", "s"}) {
				rt.Fatalf("arrow %d has the ends %v", id, ends)
			}
		}
	})
}

func countSpans(events []Event) (n int) {
	for i := range events {
		if events[i].Kind != Scratch {
			n++
		}
	}
	return n
}

// Every .pftrace has a slice for each span with the exact times, and slices of a track follow each
// other. Counters count correctly, and every flow has two ends.
func TestPFTraceOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		events := anyEvents(rt)
		if rapid.Bool().Draw(rt, "late kernel") {
			events = append(events, Event{Kind: Kernel, PE: 3, Peer: -1, End: 5})
		}
		plain := rapid.Bool().Draw(rt, "plain")
		var b bytes.Buffer
		v := NewPFTrace(&b, peName, nil, plain)
		for i := range events {
			v.Emit(&events[i])
		}
		if err := v.Close(); err != nil {
			rt.Fatal(err)
		}
		got := decoded(rt, b.Bytes())
		if want := countSpans(events); len(got.slices) != want || got.open != 0 {
			rt.Fatalf("%d slices, %d of them open, of %d spans", len(got.slices), got.open, want)
		}
		for id, ends := range got.flows {
			if ends != [2]int{1, 1} {
				rt.Fatalf("flow %d begins and ends %v times", id, ends)
			}
		}
		free := map[uint64]uint64{}
		for _, s := range got.slices {
			if s.start < free[s.track] || s.end < s.start {
				rt.Fatalf("slice %q of track %d from %d to %d, where one lasts to %d", s.name, s.track, s.start, s.end, free[s.track])
			}
			free[s.track] = s.end
			exact, ok := s.notes["start_ps"]
			if plain == ok || ok && s.name != "kernel" && exact/1000 != int(s.start) {
				rt.Fatalf("slice %q at %d ns: %d ps", s.name, s.start, exact)
			}
		}
	})
}

// Events whose flow has no other end come out after a bounded number of others, without a flow.
func TestPairsHoldABoundedNumber(t *testing.T) {
	held, most, flows := 0, 0, 0
	p := newPairs(func(_ *Event, flow uint64) {
		held--
		if flow != 0 {
			flows++
		}
	})
	add := func(e Event) {
		held++
		p.add(&e)
		most = max(most, held)
	}
	add(Event{Kind: Put, Flow: 1})
	for range 3 * heldAtMost {
		add(Event{Kind: Math})
	}
	add(Event{Kind: Arrive, Flow: 1}) // too late
	add(Event{Kind: Put, Flow: 2})
	add(Event{Kind: Arrive, Flow: 2})
	p.flush()
	if held != 0 || most > heldAtMost+1 || flows != 2 {
		t.Errorf("%d events are left, %d were held at most, %d have a flow", held, most, flows)
	}
}
