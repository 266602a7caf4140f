package sim_test

import (
	"cmp"
	"slices"
	"testing"

	"kernbench/exec/sim"
	"kernbench/record/oplog"
	"kernbench/record/trace"

	"pgregory.net/rapid"
)

// A trace that is handed on in parts has the same events as one that is handed on at the end. They
// are in the order of their start, except kernels. Those of transfers have their source lines.
func TestTraceInParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := dice(t)
		p := matched(d)
		if d.IntN(2) == 0 {
			p = touching(d)
		}
		opts := sim.Options{RecordLines: true, Scope: trace.Scope{Counters: true}}
		whole, err := p.onSimWith(opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range whole.trace {
			switch e.Kind {
			case trace.Load, trace.Store, trace.Message, trace.Put, trace.Get, trace.Notify:
				if e.Line == "" {
					t.Fatalf("%v without a line: %+v", e.Kind, e)
				}
			}
		}
		m := machineFor(p.queue, p.order, "")
		parts, err := p.on(func(l *oplog.Log, c *collector) executor {
			opts.Data, opts.Trace = l, c
			e := sim.New(m, opts)
			e.TraceAt(3)
			return e
		})
		if err != nil {
			t.Fatal(err)
		}
		isKernel := func(e trace.Event) bool { return e.Kind == trace.Kernel }
		rest := slices.DeleteFunc(slices.Clone(parts.trace), isKernel)
		if !slices.IsSortedFunc(rest, func(a, b trace.Event) int { return cmp.Compare(a.Start, b.Start) }) {
			t.Fatalf("events in parts do not come by their start\n%+v", p)
		}
		if !slices.Equal(rest, slices.DeleteFunc(slices.Clone(whole.trace), isKernel)) {
			t.Fatalf("events in parts differ\n%+v", p)
		}
		if len(parts.trace) != len(whole.trace) {
			t.Fatalf("%d events in parts, %d at once", len(parts.trace), len(whole.trace))
		}
	})
}
