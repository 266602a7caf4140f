package selfbench

import (
	"testing"

	"kernbench/lab/run"
)

// BenchmarkRun is the simulations of the table's rows within this process, for profiles:
// go test ./selfbench -run xxx -bench Run/ring-1024-slot -cpuprofile cpu.prof -memprofile mem.prof
func BenchmarkRun(b *testing.B) {
	sips := func(count string) []string { return []string{"system.sips.count=" + count} }
	_, halls := ofSwitches([]int{8, 8, 8})
	for _, r := range []struct {
		name string
		spec run.Spec
	}{
		{"ring-256-slot", run.Spec{NElem: 32768}},
		{"ring-256-verify", run.Spec{NElem: 32768, VerifyData: true}},
		{"ring-1024-slot", run.Spec{NElem: 32768, Sets: sips("8")}},
		{"ring-1024-ideal", run.Spec{NElem: 32768, Sets: sips("8"), Fidelity: "ideal"}},
		{"ring-4096-slot", run.Spec{NElem: 32768, Sets: sips("32")}},
		{"ring-4096-ideal", run.Spec{NElem: 32768, Sets: sips("32"), Fidelity: "ideal"}},
		{"provenance-4096", run.Spec{NElem: 32768, Sets: sips("32"), VerifyData: true}},
		{"torus-4096", run.Spec{NElem: 32768, Sets: sips("32"), Algorithm: "torus_allreduce"}},
		{"torus-4096-links", run.Spec{NElem: 32768, Topology: "tpu-v4",
			Sets: []string{"system.levels.0.dims=[64,64]"}, Algorithm: "torus_allreduce"}},
		{"halving-65536-ideal", run.Spec{NElem: 8192, Sets: sips("512"), Algorithm: "halving_doubling_allreduce", Fidelity: "ideal"}},
		{"hierarchical-65536-slot", run.Spec{NElem: 8192, Sets: []string{halls}, Algorithm: hierarchicalName}},
		{"hierarchical-65536-ideal", run.Spec{NElem: 8192, Sets: []string{halls}, Algorithm: hierarchicalName, Fidelity: "ideal"}},
	} {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := run.Run(b.Context(), r.spec); err != nil || !res.OK() {
					b.Fatal(err, res)
				}
			}
		})
	}
}
