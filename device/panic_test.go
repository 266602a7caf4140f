package device_test

import (
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/tl"
)

func init() {
	idle := func(*tl.Context, tl.Args) {}
	oops := func() { panic("oops") }
	for _, a := range []algorithm.Algorithm{
		{Name: "panics_in_neighbors", Neighbors: func(int, int, map[tl.Dir]int) map[tl.Dir]int { oops(); return nil }},
		{Name: "panics_in_check", Check: func(int, int) error { oops(); return nil }},
		{Name: "panics_in_kernelargs", KernelArgs: func(int, int) []int { oops(); return nil }},
	} {
		a.Collective, a.Topology, a.Kernel = "all_reduce", "ring_1d", idle
		algorithm.Register(a)
	}
}

// TestPanicsOfAnAlgorithm: a panic in a function of a user's row is an error that names
// the algorithm and the function.
func TestPanicsOfAnAlgorithm(t *testing.T) {
	for name, function := range map[string]string{
		"panics_in_neighbors": "Neighbors", "panics_in_check": "Check", "panics_in_kernelargs": "KernelArgs",
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			x := must(c.EmptyRanks(4, 2, dtype.F32))(t)
			_, err := c.InstallIPCQ(name, device.Install{World: 4})
			if err == nil {
				_, err = c.Launch(t.Context(), name, x)
			}
			if err == nil || !strings.Contains(err.Error(), "algorithm "+name+": its "+function+" panicked: oops") {
				t.Errorf("got %v", err)
			}
		})
	}
}
