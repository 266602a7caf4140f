package limits

import (
	"runtime"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/lab/run"
)

// TestTransfersTakeLittleMemory: what an algorithm moves is added up while its kernels run. Their
// instructions, at least one for each pair of ranks, are not stored.
func TestTransfersTakeLittleMemory(t *testing.T) {
	allocated := func(algorithm string, ranks int) float64 {
		x, err := run.Load(run.Spec{Algorithm: algorithm, Ranks: ranks, NElem: 1024, Sets: []string{"system.sips.count=2"}})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Transfers(t.Context(), x, algorithm, collective.Call{World: ranks, Elems: 1024, Type: dtype.F16}, false); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, c := range []struct {
		algorithm string
		most      float64 // bytes for each pair of ranks
	}{
		{"allpairs_barrier", 16},     // which moves no bytes
		{"pairwise_all_to_all", 160}, // a Transfer of 16 bytes, in a list that grows, and words of a window
	} {
		allocated(c.algorithm, 32) // what is made once
		per := (allocated(c.algorithm, 256) - allocated(c.algorithm, 64)) / (256*256 - 64*64)
		t.Logf("%s: %.1f bytes", c.algorithm, per)
		if per > c.most {
			t.Errorf("%s: %.1f bytes are allocated for each pair of ranks, want at most %.0f", c.algorithm, per, c.most)
		}
	}
}
