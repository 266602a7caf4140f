package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// recording makes a log that keeps the records of each agent, in their own order. With a clock,
// agents alternate in another order than without.
func recording() (*history.Log, func() map[string][]string) {
	all := map[string][]string{}
	var log *history.Log
	log = history.New(func(recs []history.Record) {
		for _, r := range recs {
			who := log.Info(r.Agent).String()
			text := fmt.Sprintf("%v %v %v %v", r.Kind, r.Range, r.Source, r.Line)
			if r.Kind == history.Start || r.Kind == history.Join {
				text = fmt.Sprintf("%v %v", r.Kind, log.Info(r.Other))
			}
			all[who] = append(all[who], text)
		}
	})
	return log, func() map[string][]string {
		log.Flush()
		for who := range all {
			// Programs end in an order of their own.
			slices.SortStableFunc(all[who], func(a, b string) int {
				if strings.HasPrefix(a, "join") && strings.HasPrefix(b, "join") {
					return strings.Compare(a, b)
				}
				return 0
			})
		}
		return all
	}
}

// Streams tell the same of themselves with a clock and without.
func TestStreamsTellTheSameAsWithoutAClock(t *testing.T) {
	var got [2]map[string][]string
	for i := range got {
		s := newStreams(t, 2, 64)
		e := &launch.Event{Name: "copied"}
		s.add(0, copyOp(mem.At(mem.HBM, 1, away), mem.At(mem.HBM, 0, 0), 64), launch.StreamOp{Kind: launch.StreamRecord, Event: e})
		s.add(1, launch.StreamOp{Kind: launch.StreamAwait, Event: e}, launchOp(func(c *tl.Context, _ tl.Args) {
			r := tl.Ref{Addr: mem.At(mem.HBM, 1, away+int64(c.ProgramID(0))*64), Shape: tl.Dims(16), DType: dtype.F32}
			x := c.Load(r)
			c.Store(r, c.Add(x, x))
		}, 4, 2))
		log, all := recording()
		var err error
		if i == 0 {
			_, err = sim.New(s.m, sim.Options{Data: s.log, History: log}).RunStreams(t.Context(), &s.batch)
		} else {
			_, err = mock.New(mock.Options{Data: s.log, History: log}).RunStreams(t.Context(), &s.batch)
		}
		if err != nil {
			t.Fatal(err)
		}
		got[i] = all()
	}
	if len(got[0]) != 1+2+4 {
		t.Errorf("%d agents tell of themselves, want the host, 2 streams and 4 programs: %v", len(got[0]), got[0])
	}
	for who, what := range got[0] {
		if !slices.Equal(what, got[1][who]) {
			t.Errorf("%s:\nwith a clock    %q\nwithout a clock %q", who, what, got[1][who])
		}
	}
}
