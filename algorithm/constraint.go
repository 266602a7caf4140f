package algorithm

import (
	"fmt"

	"kernbench/topology"
)

// Constraints lists the conditions of an algorithm on the call and the machine, as text.
func (a *Algorithm) Constraints() []string {
	var all []string
	if a.Constraint != "" {
		all = append(all, a.Constraint)
	}
	if a.Ops != nil {
		all = append(all, "op "+names(a.Ops))
	}
	if a.Types != nil {
		all = append(all, "dtype "+names(a.Types))
	}
	if t, err := topology.Lookup(a.Topology); err == nil {
		if t.Planar {
			all = append(all, "N = w h")
		}
		if t.MaxRanks > 0 {
			all = append(all, fmt.Sprintf("N <= %d", t.MaxRanks))
		}
	}
	if a.MinSlots > 0 {
		all = append(all, fmt.Sprintf("n_slots >= %d", a.MinSlots))
	}
	switch {
	case a.Multimem && a.Groups == nil:
		all = append(all, "a switch that joins all ranks and reduces")
	case a.Multimem:
		all = append(all, "a switch that joins the ranks of each node and reduces")
	}
	if a.Atomics {
		all = append(all, "fabric.p2p_native_atomics")
	}
	return all
}
