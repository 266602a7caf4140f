package run

import "testing"

// BenchmarkRun is the main job at 64 KiB per rank, from configuration to verdict, with
// timing only and with every byte checked.
func BenchmarkRun(b *testing.B) {
	for name, verify := range map[string]bool{"timing": false, "verify": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				r, err := Run(b.Context(), Spec{NElem: 32768, VerifyData: verify})
				if err != nil || !r.OK() {
					b.Fatal(err, r)
				}
			}
		})
	}
}
