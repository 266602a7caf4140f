package trace

import (
	"slices"
	"testing"

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
			Kind:  Kind(rapid.IntRange(0, int(Copy)).Draw(t, "kind")),
			PE:    int32(rapid.IntRange(0, 2).Draw(t, "pe")),
			Peer:  int32(rapid.IntRange(-1, 2).Draw(t, "peer")),
			Dir:   uint8(rapid.IntRange(0, 7).Draw(t, "dir")),
			Start: start, End: start + unit.Time(rapid.IntRange(0, 9).Draw(t, "length")),
			Seq: int64(rapid.IntRange(0, 3).Draw(t, "seq")),
		}
	}
	return events
}

// Whatever happened, the Perfetto file is JSON that its viewer can show: no two spans of a
// track overlap, and every arrow has two ends.
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
		if spans != len(events) {
			rt.Fatalf("%d spans of %d events", spans, len(events))
		}
		for id, ends := range arrows {
			if slices.Sort(ends); !slices.Equal(ends, []string{"f", "s"}) {
				rt.Fatalf("arrow %d has the ends %v", id, ends)
			}
		}
	})
}
