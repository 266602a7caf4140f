package conf_test

import (
	"errors"
	"fmt"

	"kernbench/conf"
)

// A file names only what it changes; --set arguments come last.
func ExampleLoadTopology() {
	file := conf.Source{Name: "topology.yaml", Data: []byte("sip:\n  cube_mesh: {w: 2, h: 2}\n")}
	t, err := conf.LoadTopology([]conf.Source{file}, []string{"system.sips.count=1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.NumPEs(), "PEs,", t.Cube().HBMBW, "to each HBM slice")
	// Output: 32 PEs, 256 GB/s to each HBM slice
}

// Every mistake of a file is reported at once, each with its place.
func ExampleLoadTopology_errors() {
	file := conf.Source{Name: "topology.yaml", Data: []byte("system:\n  sips: {cout: 4, topology: rign_1d}\n")}
	_, err := conf.LoadTopology([]conf.Source{file}, nil)
	fmt.Println(err)
	var first *conf.Error
	fmt.Println(errors.As(err, &first), first.Line, first.Key)
	// Output:
	// topology.yaml:2:10: system.sips.cout: unknown key; did you mean "count"?
	//   2 |   sips: {cout: 4, topology: rign_1d}
	//     |          ^^^^
	// topology.yaml:2:29: system.sips.topology: found "rign_1d", want full, mesh_2d_no_wrap, ring_1d, switch or torus_2d; did you mean "ring_1d"?
	//   2 |   sips: {cout: 4, topology: rign_1d}
	//     |                             ^^^^^^^
	// true 2 system.sips.cout
}

// The settings of an algorithm are those of its entry over the defaults.
func ExampleCCL_Resolve() {
	c, err := conf.LoadCCL(nil, []string{"defaults.n_slots=8"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := c.Resolve("ring_allreduce_hbm")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Module, r.Topology, r.BufferKind, r.NSlots)
	_, err = c.Resolve("ring_allreduce_hmb")
	fmt.Println(err)
	// Output:
	// ring_allreduce ring_1d hbm 8
	// algorithm: found "ring_allreduce_hmb", which is no entry of ccl.yaml; did you mean "ring_allreduce_hbm"?
}

func ExampleNearest() {
	fmt.Println(conf.Nearest("rign_allreduce", []string{"mesh_allreduce", "ring_allreduce"}))
	// Output: ring_allreduce
}

// SplitSets assigns each argument to its file.
func ExampleSplitSets() {
	topology, ccl, err := conf.SplitSets([]string{"cube.noc.router_ns=1.5", "defaults.n_slots=8", "sips.count=4"})
	fmt.Println(topology, ccl)
	fmt.Println(err)
	// Output:
	// [cube.noc.router_ns=1.5] [defaults.n_slots=8]
	// --set: sips.count: unknown key; did you mean "system.sips.count"?
	//   --set sips.count=4
	//         ^^^^^^^^^^
}
