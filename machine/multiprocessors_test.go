package machine

import (
	"testing"

	"kernbench/conf"
)

// A multiprocessor of Hopper and Blackwell has 128 FP32 cores, one of an A100 and a compute unit of
// an MI300X has 64. So the lanes of a preset say how many there are.
func TestMultiprocessorsFitLanes(t *testing.T) {
	for name, cores := range map[string]int{"dgx-a100": 64, "dgx-h100": 128, "leaf-spine-roce": 128, "dgx-h200": 128,
		"dgx-b200": 128, "mi300x-8": 64} {
		files, err := ReadSource(name)
		if err != nil {
			t.Fatal(err)
		}
		topo, err := conf.LoadTopology(files, nil)
		if err != nil {
			t.Fatal(err)
		}
		if pe := topo.PE(); pe.SMs == 0 || pe.SMs*cores != pe.Math.Lanes {
			t.Errorf("%s: %d multiprocessors of %d cores, and %d lanes", name, pe.SMs, cores, pe.Math.Lanes)
		}
	}
}
