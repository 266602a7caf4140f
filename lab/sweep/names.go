package sweep

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
)

// FindCollective returns the collective with a name such as all_reduce, allreduce, alltoall or
// all_reduce_perf. At least one algorithm performs it.
func FindCollective(name string) (*collective.Collective, error) {
	key := bare(strings.TrimSuffix(strings.ToLower(name), "_perf"))
	var found *collective.Collective
	var performed []string
	for _, co := range collective.All() {
		if names := AlgorithmsOf(co.Name); len(names) > 0 {
			performed = append(performed, co.Name)
		}
		if bare(co.Name) == key || bare(co.NCCLName()) == key {
			found = co
		}
	}
	switch {
	case found != nil && slices.Contains(performed, found.Name):
		return found, nil
	case found != nil:
		return nil, fmt.Errorf("no algorithm performs %s: there are some for %s", found.Name, strings.Join(performed, ", "))
	}
	if near := conf.Nearest(name, performed); near != "" {
		return nil, fmt.Errorf("unknown collective %q; did you mean %q?", name, near)
	}
	return nil, fmt.Errorf("unknown collective %q: want one of %s", name, strings.Join(performed, ", "))
}

// bare returns a name without underscores and hyphens, in which spellings differ.
func bare(name string) string { return strings.NewReplacer("_", "", "-", "").Replace(name) }

// AlgorithmsOf lists the library's algorithms of a collective by name.
func AlgorithmsOf(collective string) []string {
	var names []string
	for _, a := range algorithm.All() {
		if a.Collective == collective {
			names = append(names, a.Name)
		}
	}
	return names
}

// DefaultAlgorithm returns the algorithm for a collective if the user names none. It is
// defaults.algorithm of ccl.yaml if that performs the collective, else the algorithm that the bench
// of the collective runs, else the first by name.
func DefaultAlgorithm(ccl *conf.CCL, what *collective.Collective) string {
	for _, name := range []string{ccl.Defaults().Algorithm, bench.For(what.Name).Algorithm} {
		if c, err := device.ResolveAlgorithm(ccl, name); err == nil && name != "" && c.Algorithm.Collective == what.Name {
			return name
		}
	}
	return AlgorithmsOf(what.Name)[0]
}
