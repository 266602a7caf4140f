package algorithm_test

import (
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/tl"
	"kernbench/topology"
)

func TestRowsAreWhole(t *testing.T) {
	last := ""
	for _, a := range algorithm.All() {
		if a.Name <= last {
			t.Errorf("%s comes after %s", a.Name, last)
		}
		last = a.Name
		if _, err := collective.Lookup(a.Collective); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		if _, err := topology.Lookup(a.Topology); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
		if a.Summary == "" || a.Steps == "" || a.Cost == "" || a.Source == "" {
			t.Errorf("%s: summary, steps, cost and source must be given", a.Name)
		}
		if got, err := algorithm.Lookup(a.Name); got != a || err != nil {
			t.Errorf("Lookup(%q) = %v, %v", a.Name, got, err)
		}
	}
}

func TestLookupSuggests(t *testing.T) {
	tests := []struct{ name, want string }{
		{"ring_alreduce", `did you mean ring_allreduce?`},
		{"tree", `did you mean tree_allreduce?`},
		{"allreduce", "mesh_allreduce or ring_allreduce or ring_allreduce_chunked or tree_allreduce"},
		{"zzz", "known are hello_send, mesh_allreduce, ring_allreduce, ring_allreduce_chunked, tree_allreduce"},
		{"", "known are hello_send"},
	}
	for _, tt := range tests {
		_, err := algorithm.Lookup(tt.name)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Lookup(%q): %v, want it to contain %q", tt.name, err, tt.want)
		}
	}
}

func TestRegisterRefusesDefects(t *testing.T) {
	kernel := func(*tl.Context, tl.Args) {}
	for name, a := range map[string]algorithm.Algorithm{
		"two of a name": {Name: "hello_send", Kernel: kernel},
		"no name":       {Kernel: kernel},
		"no kernel":     {Name: "idle"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			algorithm.Register(a)
		})
	}
}
