package bound_test

import (
	"fmt"
	"testing"

	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/dtype"
	_ "kernbench/internal/fewcollections"
	"kernbench/machine"
)

// BenchmarkLimits finds the limits of one call on a machine of 2, 8 or 32 SIPs.
func BenchmarkLimits(b *testing.B) {
	for _, sips := range []int{2, 8, 32} {
		topo, err := conf.LoadTopology(nil, []string{fmt.Sprintf("system.sips.count=%d", sips)})
		if err != nil {
			b.Fatal(err)
		}
		m, err := machine.Build(topo)
		if err != nil {
			b.Fatal(err)
		}
		pes := make([]int32, m.NumPEs())
		for i := range pes {
			pes[i] = int32(i)
		}
		for _, co := range []*collective.Collective{collective.AllGather, collective.ReduceScatter,
			collective.AllReduce, collective.AllToAll, collective.Broadcast} {
			b.Run(fmt.Sprintf("%d/%s", len(pes), co.Name), func(b *testing.B) {
				for b.Loop() {
					s, err := bound.New(m, pes)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := s.Limits(co, collective.Call{World: len(pes), Elems: len(pes) * 1024, Type: dtype.F32},
						bound.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
