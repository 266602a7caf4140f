package noc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kernbench/hw/noc/routes"
)

// TestReached holds how messages reach each link against all pairs of hops that come one after the
// other.
func TestReached(t *testing.T) {
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
			n.ReserveRoutes(uses, 1)
			froms := map[uint32]map[uint32]bool{}
			for i := range uses {
				from := aSource | uint32(uses[i].From)
				for _, h := range n.pathOf(&uses[i]) {
					li := h.Number()
					if froms[li] == nil {
						froms[li] = map[uint32]bool{}
					}
					froms[li][from] = true
					from = li + 1
				}
			}
			several := 0
			for li, from := range froms {
				if got := n.reached[li] == bySeveral; got != (len(from) > 1) {
					t.Fatalf("link %d: by several edges %v, and there are %d", li, got, len(from))
				}
				if len(from) > 1 {
					several++
				}
			}
			if several < 10 || several > len(froms)-10 {
				t.Errorf("several edges lead to %d of %d links", several, len(froms))
			}
		})
	}
}

// pathOf returns the stored route of a use; none if it is alone.
func (n *Fabric) pathOf(u *Use) []routes.Hop {
	if u.Exclusive {
		return nil
	}
	return n.routes.Path(u.Route())
}
