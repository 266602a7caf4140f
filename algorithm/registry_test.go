package algorithm_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/tl"
	"kernbench/topology"
)

func TestRowsAreComplete(t *testing.T) {
	last := ""
	for _, a := range algorithm.All() {
		if a.Name <= last {
			t.Errorf("%s comes after %s, want the order of names", a.Name, last)
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

func TestLookupSuggestsNames(t *testing.T) {
	for name, want := range map[string]string{
		"ring_alreduce": `did you mean "ring_allreduce"?`,
		"":              "kernbench list algorithms prints all",
	} {
		if _, err := algorithm.Lookup(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Lookup(%q): %v, want it to contain %q", name, err, want)
		}
	}
}

func TestRegisterRefusesDefects(t *testing.T) {
	kernel := func(*tl.Context, tl.Args) {}
	for name, a := range map[string]algorithm.Algorithm{
		"two of a name": {Name: "hello_send", Kernel: kernel},
		"no name":       {Kernel: kernel},
		"no kernel":     {Name: "idle"},
		"a dot":         {Name: "ring.max", Kernel: kernel},
		"a blank":       {Name: "ring max", Kernel: kernel},
		"a flag":        {Name: "-ring", Kernel: kernel},
		"other letters": {Name: "rïng", Kernel: kernel},
	} {
		a.Collective, a.Topology = "all_reduce", "none"
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

// A name may have letters, digits, _ and -. Register accepts it and then refuses the collective.
func TestRegisterAcceptsNames(t *testing.T) {
	for _, name := range []string{"a", "Z", "0", "_", "ring-2_B9z"} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "unheard_of") {
					t.Errorf("%s: %s", name, text)
				}
			}()
			algorithm.Register(algorithm.Algorithm{Name: name, Collective: "unheard_of", Kernel: func(*tl.Context, tl.Args) {}})
		}()
	}
}

// Register accepts a name of 128 bytes and refuses the collective. It refuses a name of 129 bytes.
func TestRegisterRefusesLongNames(t *testing.T) {
	for length, refused := range map[int]bool{128: false, 129: true} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); strings.Contains(text, "needs a name") != refused {
					t.Errorf("%d bytes: %s", length, text)
				}
			}()
			algorithm.Register(algorithm.Algorithm{
				Name: strings.Repeat("a", length), Collective: "unheard_of", Kernel: func(*tl.Context, tl.Args) {},
			})
		}()
	}
}
