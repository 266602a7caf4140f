package noc

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/machine"
)

// TestCompress: routes read the same as those of the machine, link by link, whether they share
// parts or not. TestEdges compares their edges.
func TestCompress(t *testing.T) {
	for name, c := range map[string]struct {
		sets  []string
		pairs func(pes int, add func(from, to int))
	}{
		"neighbours": {[]string{"system.sips.count=4"}, func(pes int, add func(from, to int)) {
			for pe := range pes {
				for _, by := range []int{1, 8, 128} {
					add(pe, (pe+by)%pes)
					add(pe, (pe+pes-by)%pes)
				}
			}
		}},
		"any": {[]string{"system.sips.count=3"}, func(pes int, add func(from, to int)) {
			r := rand.New(rand.NewPCG(1, 2))
			for range 2000 {
				add(r.IntN(pes), r.IntN(pes))
			}
		}},
		"all": {[]string{"system.sips.count=1"}, func(pes int, add func(from, to int)) {
			for k := range pes * pes {
				add(k/pes, k%pes)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m, topo := build(t, c.sets...)
			n, _, _ := fabric(m, topo, Slot)
			n.compressFrom = 0
			early := n.AddRoute(m.TCM(0), m.HBM(9), false)
			var uses []Use
			kinds := m.PairClasses()
			c.pairs(m.NumPEs(), func(from, to int) {
				uses = append(uses, Use{From: m.TCM(from), To: m.TCM(to), Kind: kinds.Number(from, to), Bytes: 4096})
			})
			slices.SortStableFunc(uses, func(a, b Use) int { return int(a.To - b.To) })
			n.ReserveRoutes(uses, 256)
			whole := checkRoutes(t, n, uses)
			if stored := len(n.routes.Hops) - n.kept; stored > whole*3/4 {
				t.Errorf("%d hops are stored as %d", whole, stored)
			}
			n.Release()
			n.compressFrom = whole + 1
			n.ReserveRoutes(uses, 256)
			checkRoutes(t, n, uses)
			n.Release()
			if got, want := n.routes.Path(early), m.Route(nil, m.TCM(0), m.HBM(9)); len(got) != len(want) {
				t.Errorf("a route that is kept has %d links, want %d", len(got), len(want))
			}
		})
	}
}

// checkRoutes reads each route, and returns how many links all have.
func checkRoutes(t *testing.T, n *Fabric, uses []Use) (whole int) {
	t.Helper()
	for i := range uses {
		u := &uses[i]
		if u.Exclusive {
			continue
		}
		want := n.m.Route(nil, u.From, u.To)
		whole += len(want)
		got := n.routes.Path(u.Route())
		if len(got) != len(want) {
			t.Fatalf("from %v to %v: %d links, want %d", u.From, u.To, len(got), len(want))
		}
		for k, h := range got {
			if id, channel := machine.LinkID(n.links[h.Number()].id), n.vcAt(h, 0); id != want[k].Link || channel != n.channelOf(want, k) {
				t.Fatalf("from %v to %v: link %d is %d, channel %d, want %d, %d", u.From, u.To, k, id, channel,
					want[k].Link, n.channelOf(want, k))
			}
		}
	}
	return whole
}
