package device

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/topology"
)

// ResolvedAlgorithm is an algorithm with its settings and its logical topology. The settings are
// those of its entry in ccl.yaml over the defaults.
type ResolvedAlgorithm struct {
	Config    conf.Resolved
	Algorithm *algorithm.Algorithm
	Topology  *topology.Topology
}

// ResolveAlgorithm finds an algorithm by the name of its entry in ccl.yaml, or by its own:
// one that is registered needs no entry. "" is defaults.algorithm.
func ResolveAlgorithm(ccl *conf.CCL, name string) (*ResolvedAlgorithm, error) {
	cfg, err := ccl.Resolve(name)
	if err != nil {
		asked := name
		if name == "" {
			name = ccl.Defaults().Algorithm
		}
		if _, unknown := algorithm.Lookup(name); unknown == nil {
			cfg = ccl.Merge(name)
		} else if asked == "" {
			return nil, err
		} else {
			return nil, algorithm.Unknown(name, known(ccl, name))
		}
	}
	alg, err := algorithm.Lookup(cfg.Module)
	if err != nil {
		return nil, noModule(ccl, &cfg, err)
	}
	top, err := lookupTopology(&cfg, alg)
	return &ResolvedAlgorithm{cfg, alg, top}, err
}

// maxWrong is the most mistakes that CheckEntries lists.
const maxWrong = 20

// CheckEntries finds mistakes in all entries of ccl.yaml that need the registries to detect.
func CheckEntries(ccl *conf.CCL) error {
	var wrong conf.Errors
	for _, name := range ccl.Names() {
		_, err := ResolveAlgorithm(ccl, name)
		if err != nil && len(wrong) == maxWrong {
			return append(wrong, &conf.Error{Msg: "more mistakes follow"})
		}
		if e, ok := errors.AsType[*conf.Error](err); ok {
			wrong = append(wrong, e)
		} else if err != nil {
			return err
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return wrong
}

// noModule returns the error for an entry whose module is not registered. The module of an entry
// that names none is its own name, so a misspelled name ends here, too.
func noModule(ccl *conf.CCL, cfg *conf.Resolved, unknown error) error {
	entry := ccl.Entry(cfg.Name)
	if entry != nil && entry.Module != "" {
		var names []string
		for _, a := range algorithm.All() {
			names = append(names, a.Name)
		}
		if near := conf.Nearest(entry.Module, names); near != "" {
			return cfg.Errorf("module", "unknown algorithm %q; did you mean %q?", entry.Module, near)
		}
		return cfg.Errorf("module", "%v", unknown)
	}
	hint := ""
	if near := conf.Nearest(cfg.Name, known(ccl, cfg.Name)); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return ccl.Errorf("algorithms."+cfg.Name,
		"names no module, and no algorithm has this name; a new entry needs module: NAME%s", hint)
}

// known lists the names of all entries and algorithms, except the name without.
func known(ccl *conf.CCL, without string) []string {
	names := ccl.Names()
	for _, a := range algorithm.All() {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == without })
}

// lookupTopology finds the logical topology of a choice, and checks that a grid is set only for one
// that uses it.
func lookupTopology(cfg *conf.Resolved, alg *algorithm.Algorithm) (*topology.Topology, error) {
	name := cfg.Topology
	if name == "" {
		name = alg.Topology
	}
	top, err := topology.Lookup(name)
	switch {
	case err != nil && cfg.Topology == "":
		return nil, fmt.Errorf("algorithm %s: %w", alg.Name, err)
	case err != nil:
		return nil, cfg.Errorf("topology", "%v", err)
	case !top.Planar && cfg.W > 0:
		return nil, cfg.Errorf("w", "%s", noGrid(name))
	case !top.Planar && cfg.H > 0:
		return nil, cfg.Errorf("h", "%s", noGrid(name))
	}
	return top, nil
}

func noGrid(name string) string {
	planar := topologies(func(t *topology.Topology) bool { return t.Planar })
	return fmt.Sprintf("w and h are for %s; the topology is %s", strings.Join(planar, " and "), name)
}

// topologies lists the names of the topologies for which wanted is true.
func topologies(wanted func(*topology.Topology) bool) []string {
	var names []string
	for _, t := range topology.All() {
		if wanted(t) {
			names = append(names, t.Name)
		}
	}
	return names
}
