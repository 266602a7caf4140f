package run

import (
	"cmp"
	"fmt"
)

// Reproduce returns what a person types to see a run again.
func (x *Job) Reproduce() string {
	s := fmt.Sprintf("%s run --bench %s --algorithm %s --ranks %d --n-elem %d --dtype %v --op %v --platform %s --verify-data",
		cmp.Or(x.CalledAs, "kernbench"), x.Bench, x.Algorithm, x.Ranks, x.NElem, x.DType, x.Op, x.Executor)
	for _, f := range []struct{ flag, value string }{{"topology", x.Topology}, {"ccl", x.CCL}} {
		if f.value != "" {
			s += fmt.Sprintf(" --%s %s", f.flag, f.value)
		}
	}
	for _, set := range x.Sets {
		s += fmt.Sprintf(" --set '%s'", set)
	}
	if x.Input != "" {
		s += fmt.Sprintf(" --input '%s'", x.Input)
	}
	if x.Seed != 0 {
		s += fmt.Sprintf(" --seed %d", x.Seed)
	}
	return s
}
