package race

import (
	"context"
	"fmt"
	"strings"

	"kernbench/exec/mock"
	"kernbench/mem"
	"kernbench/tl"
)

// Run is mock.Run for kernels over symmetric memory: a hazard ends the test too. What it
// returns lies in the ranks' shards afterwards.
func Run(t mock.TB, k tl.Kernel, cfg mock.Config) [][]float64 {
	t.Helper()
	out, rep, err := Try(k, cfg)
	switch {
	case err != nil:
		t.Fatalf("%v", err)
	case rep.Total > 0:
		var text strings.Builder
		for i := range rep.Hazards {
			text.WriteString("\n" + rep.Hazards[i].String())
		}
		t.Fatalf("%d hazards:%s", rep.Total, text.String())
	case rep.Unsettled:
		t.Fatalf("no hazards found, but the program could not be judged to its end: its notifications come in ever other orders")
	}
	return out
}

// Try runs a kernel on the mock executor, as often as the judge asks for, and returns what
// lies in the ranks' shards and the last report. The configuration's History is not used. An
// error is a fault of the kernel; the report is then on what came before.
func Try(k tl.Kernel, cfg mock.Config) ([][]float64, *Report, error) {
	var m memory
	d := New(Options{Order: cfg.Order, Region: m.name})
	for {
		cfg.History = d.Log()
		o, err := mock.Observe(context.Background(), m.watch(k), cfg)
		rep := d.Report()
		if err != nil {
			return nil, rep, err
		}
		if !rep.Again {
			return o.Outputs, rep, nil
		}
		d = d.Next()
	}
}

// memory is what lies where in a run of the mock executor, as its kernel is told.
type memory struct{ args tl.Args }

// watch is a kernel that remembers what it was told.
func (m *memory) watch(k tl.Kernel) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		m.args = a
		k(c, a)
	}
}

// name names what lies at an address.
func (m *memory) name(a mem.Addr) string {
	name := ""
	for _, w := range m.args.Windows {
		name += w.NameAt(a)
	}
	elements := func(what string, at []mem.Addr, n func(rank int) int) {
		for r, first := range at {
			if size := m.args.DType.Size(); a >= first && a < first+mem.Addr(n(r)*size) {
				name = fmt.Sprintf("%s[%d]", what, int(a-first)/size)
			}
		}
	}
	elements("shard", m.args.Shards, func(int) int { return m.args.NElem })
	elements("result", m.args.Outs, func(r int) int { return m.args.OutElems[r] })
	part, index, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s of rank %d, element %s", part, a.Unit(), index)
}
