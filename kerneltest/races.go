package kerneltest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"
)

// Races performs one schedule of a kernel, as often as the judge of races requires. It returns the
// contents of the ranks' shards and the last report. Config.History is not used. An error is a
// fault of the kernel. Then the report covers the accesses before it.
func Races(k tl.Kernel, cfg Config) ([][]float64, *race.Report, error) {
	o, rep, err := observeRaces(k, cfg)
	if err != nil {
		return nil, rep, err
	}
	return o.Outputs, rep, nil
}

func observeRaces(k tl.Kernel, cfg Config) (*Outcome, *race.Report, error) {
	var m memory
	d := race.New(race.Options{Order: cfg.Order, Region: m.name})
	for {
		cfg.History = d.Log()
		o, err := Observe(context.Background(), m.watch(k), cfg)
		rep := d.Report()
		if err != nil || !rep.Again {
			return o, rep, err
		}
		d = d.Next()
	}
}

// memory is the layout of memory in a run of the mock executor.
type memory struct {
	mu   sync.Mutex // the judge of races calls name while kernels run
	args tl.Args
}

// watch returns a kernel that stores its arguments in m, and then runs k.
func (m *memory) watch(k tl.Kernel) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		m.mu.Lock()
		m.args = a
		m.mu.Unlock()
		k(c, a)
	}
}

// name returns the name of the data at an address.
func (m *memory) name(a mem.Addr) string {
	m.mu.Lock()
	defer m.mu.Unlock()
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
