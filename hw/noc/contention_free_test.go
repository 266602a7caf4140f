package noc

import (
	"math/rand/v2"
	"testing"
)

// TestContentionFree holds which links no message waits on against what is said of them, over all
// pairs of hops that come one after the other.
func TestContentionFree(t *testing.T) {
	m, topo := build(t, "system.sips.count=2")
	for name, tt := range map[string]struct {
		bytes int64
		some  bool
	}{"small": {1 << 8, true}, "middling": {1 << 13, true}, "larger than a buffer": {1 << 15, false}} {
		t.Run(name, func(t *testing.T) {
			n, _, _ := fabric(m, topo, Slot)
			r := rand.New(rand.NewPCG(1, uint64(tt.bytes)))
			uses := make([]Use, 100)
			for i := range uses {
				uses[i].From, uses[i].To, uses[i].Bytes = m.TCM(r.IntN(m.NumPEs())), m.TCM(r.IntN(m.NumPEs())), tt.bytes
			}
			n.ReserveRoutes(uses, 1)
			bytes, before := map[uint32]int64{}, map[uint32]map[uint32]bool{}
			for i := range uses {
				from := uint32(aSource)
				for _, h := range n.pathOf(&uses[i]) {
					li := h.Number()
					if before[li] == nil {
						before[li] = map[uint32]bool{}
					}
					before[li][from] = true
					bytes[li] += tt.bytes
					from = li + 1
				}
			}
			holds := func(li uint32) bool { return bytes[li] <= int64(n.kind(&n.links[li]).space) }
			some := false
			for li, froms := range before {
				want := len(froms) == 1 && holds(li)
				for from := range froms {
					want = want && from != aSource && holds(from-1) &&
						n.kind(&n.links[li]).spec.Rate >= n.kind(&n.links[from-1]).spec.Rate
				}
				if got := n.reached[li] >= contentionFree; got != want {
					t.Fatalf("link %d, reached from %d others with %d bytes: %v, want %v", li, len(froms), bytes[li], got, want)
				}
				if want && n.kinds[n.reached[li]-contentionFree] != *n.kind(&n.links[li]) {
					t.Fatalf("link %d is of another kind", li)
				}
				some = some || want
			}
			if some != tt.some {
				t.Errorf("some are: %v", some)
			}
		})
	}
}
