package sim_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// outcome holds the results of a launch.
type outcome struct {
	Err    string
	Result launch.Result // without Events and Mode
	Trace  []trace.Event
	Values []string // bytes and provenance, by rank

	events int64
	mode   string
}

// views say what else a run keeps, which must not change its result.
type views struct{ trace, data bool }

// empty is memory of a rank that holds no value.
func empty(rank int) mem.Addr { return mem.At(mem.HBM, rank, 1<<20) }

// outcome runs the launch on a new executor.
func (b *bench) outcome(t testing.TB, o sim.Options, v views) (out outcome) {
	t.Helper()
	if v.trace {
		o.Trace = sinkFunc(func(e *trace.Event) { out.Trace = append(out.Trace, *e) })
	}
	if v.data {
		o.Data = b.fill(t, func(r, i int) float64 { return float64((r*31+i*7)%61) / 4 })
		b.mapOthers(t, o)
	}
	res, err := b.run(o)
	if err != nil {
		out.Err, _, _ = strings.Cut(err.Error(), "goroutine") // stacks differ
		return out
	}
	out.Result, out.events, out.mode = *res, res.Events, res.Mode
	out.Result.Events, out.Result.Mode = 0, ""
	for g := range b.launch.Groups {
		for _, a := range b.launch.Groups[g].Args.Shards {
			if !v.data || b.n == 0 {
				continue
			}
			data, prov, err := o.Data.View(a, b.typ, max(b.n, b.result))
			if err != nil {
				t.Fatal(err)
			}
			out.Values = append(out.Values, fmt.Sprintf("%x %+v", data, prov))
		}
	}
	return out
}

// mapOthers makes the memory of the log that is not the shards of the first group.
func (b *bench) mapOthers(t testing.TB, o sim.Options) {
	t.Helper()
	for g := range b.launch.Groups {
		group := &b.launch.Groups[g]
		for r, a := range group.Args.Shards {
			if err := o.Data.Map(empty(int(group.PEs[r])), b.typ, 4); err != nil {
				t.Fatal(err)
			}
			if g == 0 || b.n == 0 {
				continue
			}
			if err := o.Data.Map(a, b.typ, b.n); err != nil {
				t.Fatal(err)
			}
			if err := o.Data.Write(a, b.typ, make([]byte, b.n*b.typ.Size())); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range group.Args.Windows {
			for r := range w.Team.PEs {
				for _, p := range w.Layout.Parts {
					if p.Word != mem.NoWord {
						continue
					}
					if err := o.Data.Map(w.Addr(r, p.Off), p.Type, p.Count); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

// inBothModes runs a launch replayed, where it can be, and event-driven, with each of some views.
// It returns the event-driven outcomes, whether the launch was replayed, and the differences. A
// launch that is replayed with the first views is replayed with all.
func (b *bench) inBothModes(t testing.TB, o sim.Options, all ...views) (outs []outcome, replayed bool, differ string) {
	t.Helper()
	for i, v := range all {
		got := b.outcome(t, o, v)
		now := strings.HasPrefix(got.mode, "replay")
		if i == 0 {
			replayed = now
		} else if got.Err == "" && now != replayed {
			differ += fmt.Sprintf("%+v: mode %q, replayed with %+v: %v\n", v, got.mode, all[0], replayed)
		}
		events := o
		events.EventDriven = true
		want := b.outcome(t, events, v)
		if now && got.events >= want.events && want.Result.Messages > 0 {
			differ += fmt.Sprintf("%+v: replayed with %d events, event-driven with %d\n", v, got.events, want.events)
		}
		if v.data && got.Err != want.Err {
			want.Err = timeOfFault.ReplaceAllString(want.Err, "") // faults of data have none when replayed
		}
		if !want.same(&got) {
			d := cmp.Diff(want, got, ignoreEvents)
			differ += fmt.Sprintf("%+v: outcomes differ (-event-driven +replayed):\n%.3000s", v, d)
		}
		outs = append(outs, want)
	}
	return outs, replayed, differ
}

// sameInBothModes fails the test if a launch that runs replayed, where it can be, has any result
// that differs from the event-driven one. It returns what inBothModes does.
func (b *bench) sameInBothModes(t testing.TB, o sim.Options, all ...views) (outs []outcome, replayed bool) {
	t.Helper()
	outs, replayed, differ := b.inBothModes(t, o, all...)
	if differ != "" {
		t.Error(differ)
	}
	return outs, replayed
}

// sameReplayed fails the test if a launch is not replayed, or if its results differ from those of
// an event-driven one. It returns the event-driven outcomes.
func (b *bench) sameReplayed(t testing.TB, o sim.Options, all ...views) []outcome {
	t.Helper()
	outs, replayed := b.sameInBothModes(t, o, all...)
	if !replayed {
		t.Errorf("not replayed: %s", b.outcome(t, o, all[0]).mode)
	}
	return outs
}

// same reports whether two outcomes are the same but for the number of events and the mode.
func (o *outcome) same(p *outcome) bool {
	return o.Err == p.Err && reflect.DeepEqual(o.Result, p.Result) && slices.Equal(o.Trace, p.Trace) && slices.Equal(o.Values, p.Values)
}

var (
	ignoreEvents = cmp.FilterPath(func(p cmp.Path) bool {
		field := p.Last().String()
		return field == ".events" || field == ".mode"
	}, cmp.Ignore())
	timeOfFault = regexp.MustCompile(` t=[0-9.]+.?s`)
)

func panicAt(now bool) {
	if now {
		panic("here")
	}
}
