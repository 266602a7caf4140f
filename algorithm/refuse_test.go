package algorithm_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/tl"
)

// TestRegisterRefuses: Register refuses an unknown collective or topology and suggests a similar
// name.
func TestRegisterRefuses(t *testing.T) {
	kernel := func(*tl.Context, tl.Args) {}
	for _, c := range []struct{ collective, topology, want string }{
		{"all_reduces", "ring_1d", `unknown collective "all_reduces"; did you mean "all_reduce"?`},
		{"all_reduce", "rng_1d", `unknown topology "rng_1d"; did you mean "ring_1d"?`},
		{"", "ring_1d", `unknown collective ""`},
		{"all_reduce", "", `unknown topology ""`},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%+v: panic %s", c, got)
				}
			}()
			algorithm.Register(algorithm.Algorithm{Name: "refused", Collective: c.collective, Topology: c.topology, Kernel: kernel})
		}()
	}
}
