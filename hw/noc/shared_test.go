package noc

import (
	"runtime"
	"testing"

	"kernbench/conf"
	"kernbench/des"
	"kernbench/machine"
	"kernbench/record/cause"
)

// TestExplainedRoutesAreShared: an explained run has a route for each pair of PEs and kind of
// transfer. Together they take little, and a route that is asked for again takes nothing.
func TestExplainedRoutesAreShared(t *testing.T) {
	m, err := machine.Build(conf.DefaultTopology())
	if err != nil {
		t.Fatal(err)
	}
	const pes = 128
	perPair := func(log *cause.Log) (first, again float64, n *Fabric) {
		n = New(&des.Queue{}, m, nil, Slot, Sizes{Message: 4096, Flit: 256, Buffer: 4096})
		n.Explain(log)
		all := func() float64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for from := range pes {
				for to := range pes {
					n.AddRoute(m.PE(from), m.HBM(to), false)
				}
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc-before.TotalAlloc) / (pes * pes)
		}
		return all(), all(), n
	}
	first, again, shares := perPair(cause.New())
	apart, _, own := perPair(nil)
	t.Logf("%.0f bytes for each pair, then %.0f; %.0f without sharing", first, again, apart)
	if first > apart/2 || again > 1 {
		t.Errorf("%.0f bytes are allocated for each pair, then %.0f: want at most half of %.0f, then none", first, again, apart)
	}
	for from := range pes {
		for to := range 8 {
			a, b := shares.AddRoute(m.PE(from), m.HBM(to*to), true), own.AddRoute(m.PE(from), m.HBM(to*to), true)
			for ; !a.Empty() && !b.Empty() && shares.firstHop(a) == own.firstHop(b); a, b = shares.routes.Onward(a), own.routes.Onward(b) {
			}
			if !a.Empty() || !b.Empty() {
				t.Fatalf("the route from PE %d to %d differs", from, to*to)
			}
		}
	}
}

// firstHop returns the first hop of a route, with the machine's number of its link.
func (n *Fabric) firstHop(r Route) [2]uint32 {
	h := n.routes.Hop(r)
	return [2]uint32{n.links[h.Number()].id, uint32(h.Channel())}
}
