package noc

import (
	"math/rand/v2"
	"testing"

	_ "kernbench/internal/fixedseed"
	"kernbench/machine"
)

// TestHalves: routes read the same as those of the machine, whether they are stored as halves or
// not. This includes routes that are added after routes were reserved.
func TestHalves(t *testing.T) {
	for name, sets := range map[string][]string{
		"one switch": {"system.levels=[{name: a, network: switch, count: 6, link: {bw_gbs: 256, latency_ns: 30}}]"},
		"one way out": {"system.levels=[{name: a, network: switch, count: 5, link: {bw_gbs: 256, latency_ns: 30}}]",
			"sip.ucie.connections=1"},
		"two levels": {"system.levels=[{name: a, network: switch, count: 3, link: {bw_gbs: 256, latency_ns: 30}}, {name: b, network: switch, count: 2, link: {bw_gbs: 256, latency_ns: 30}}]",
			"sip.ucie.connections=1"},
		"each to each": {"system.levels=[{name: a, network: full, count: 4, link: {bw_gbs: 256, latency_ns: 30}}]",
			"sip.ucie.connections=1"},
		"one switch, ideal": {"system.levels=[{name: a, network: switch, count: 4, link: {bw_gbs: 256, latency_ns: 30}}]",
			"sip.ucie.connections=1"},
	} {
		t.Run(name, func(t *testing.T) {
			m, topo := build(t, sets...)
			fidelity := Slot
			if name == "one switch, ideal" {
				fidelity = Ideal
			}
			n, _, _ := fabric(m, topo, fidelity)
			r := rand.New(rand.NewPCG(1, 2))
			nodes := []func(int) machine.NodeID{m.PE, m.HBM, m.TCM}
			check := func() {
				t.Helper()
				for range 3000 {
					from, to := nodes[r.IntN(3)](r.IntN(m.NumPEs())), nodes[r.IntN(3)](r.IntN(m.NumPEs()))
					want := m.Route(nil, from, to)
					got := n.routes.Path(n.AddRoute(from, to, false))
					if len(got) != len(want) {
						t.Fatalf("from %v to %v: %d links, want %d", from, to, len(got), len(want))
					}
					for k, h := range got {
						if id, channel := machine.LinkID(n.links[h.Number()].id), n.vcAt(h, 0); id != want[k].Link ||
							channel != n.channelOf(want, k) {
							t.Fatalf("from %v to %v: link %d is %d, channel %d, want %d, %d", from, to, k, id,
								channel, want[k].Link, n.channelOf(want, k))
						}
					}
				}
			}
			if apart := m.Apart(m.PE(0), m.PE(m.NumPEs()-1)); apart != (name == "one way out" || name == "one switch, ideal") {
				t.Errorf("routes are two halves: %v", apart)
			}
			reserve := func() {
				u := Use{From: m.TCM(0), To: m.TCM(m.NumPEs() - 1), Bytes: 64}
				n.ReserveRoutes([]Use{u, u}, 64)
				n.Release()
			}
			reserve()
			check()
			before := len(n.routes.Hops)
			check()
			if grows := len(n.routes.Hops) - before; m.Apart(m.PE(0), m.PE(m.NumPEs()-1)) && grows > before {
				t.Errorf("%d hops are stored for the same nodes again, %d were", grows, before)
			}
			reserve()
			check()
		})
	}
}
