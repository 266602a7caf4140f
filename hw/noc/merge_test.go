package noc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kernbench/hw/noc/routes"
	"kernbench/unit"
)

// TestEdges holds the edges of random routes against all pairs of hops that come one after the
// other.
func TestEdges(t *testing.T) {
	m, topo := build(t, "system.sips.count=2")
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			n, _, _ := fabric(m, topo, Slot)
			n.compressFrom *= int(seed % 2) // of every other one, routes share what they can
			r := rand.New(rand.NewPCG(1, seed))
			uses := make([]Use, 400)
			for i := range uses {
				uses[i].From, uses[i].To = m.PE(r.IntN(m.NumPEs())), m.TCM(r.IntN(8)*r.IntN(m.NumPEs()/8))
			}
			n.ReserveRoutes(uses, Load{Largest: 1, Lead: 1})

			nearest := map[uint32]map[uint32]unit.Time{} // by link and where it is reached from
			each := func(see func(li, from, e uint32, near unit.Time)) {
				for i := range uses {
					from, near := aSource|uint32(uses[i].From), unit.Time(0)
					for _, h := range n.pathOf(&uses[i]) {
						li := n.linkOf(h)
						see(li, from, edgeOf(h), near)
						from, near = li+1, near+n.kind(&n.links[li]).latency
					}
				}
			}
			each(func(li, from, _ uint32, near unit.Time) {
				if nearest[li] == nil {
					nearest[li] = map[uint32]unit.Time{}
				}
				if was, ok := nearest[li][from]; !ok || near < was {
					nearest[li][from] = near
				}
			})
			used, shared := map[uint32][2]uint32{}, 0
			each(func(li, from, e uint32, _ unit.Time) {
				if e == onlyEdge != (len(nearest[li]) == 1) {
					t.Fatalf("edge %d of a link with %d", e, len(nearest[li]))
				}
				if e == onlyEdge {
					return
				}
				if was, ok := used[e]; ok && was != [2]uint32{li, from} {
					t.Fatalf("edge %d from %x to link %d is that from %x to %d too", e, from, li, was[1], was[0])
				}
				used[e] = [2]uint32{li, from}
				want := never
				for other, near := range nearest[li] {
					if other != from {
						want = min(want, near)
					}
				}
				if got := n.mergePoint(e).otherwise(n.edge(e)); got != want {
					t.Fatalf("from elsewhere than %x link %d is %v away, want %v", from, li, got, want)
				}
				shared = max(shared, len(nearest[li]))
			})
			if shared <= perMergePoint {
				t.Errorf("at most %d edges lead to a link", shared)
			}
		})
	}
}

// pathOf is the stored route of a use; none if it is alone.
func (n *Fabric) pathOf(u *Use) []routes.Hop {
	if u.Exclusive {
		return nil
	}
	return n.routes.Path(u.Route())
}
