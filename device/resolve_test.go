package device_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/tl"
	"kernbench/topology"
)

// A program outside the repository may register: a topology, and an algorithm that no ccl.yaml
// mentions.
var (
	_ = topology.Register(topology.Topology{
		Name: "two_by", Summary: "a column of pairs", Planar: true,
		Links: func(dst []topology.Link, _, _ int, _ topology.Grid) []topology.Link { return dst },
	})
	_ = algorithm.Register(algorithm.Algorithm{
		Name: "no_entry", Collective: "shift", Topology: "ring_1d", Kernel: func(*tl.Context, tl.Args) {},
	})
)

// topologies lists what there is, as errors do.
func topologies() string {
	var names []string
	for _, t := range topology.All() {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

func TestCheckEntries(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"nothing", "", ""},
		{"settings without module", "no_entry: {n_slots: 8}", ""},
		{"a topology that was registered", "no_entry: {topology: two_by, w: 2}", ""},
		{"a slip in the module", "mine: {module: ring_alreduce}", "ccl.yaml:2:18: algorithms.mine.module: " +
			`unknown algorithm "ring_alreduce"; did you mean "ring_allreduce"?`},
		{"a slip in the name", "rign_allreduce: {n_slots: 3}", "ccl.yaml:2:3: algorithms.rign_allreduce: " +
			`names no module, and no algorithm has this name; a new entry needs module: NAME; did you mean "ring_allreduce"?`},
		{"no module at all", "something_else: {n_slots: 3}", "ccl.yaml:2:3: algorithms.something_else: " +
			"names no module, and no algorithm has this name; a new entry needs module: NAME"},
		{"a slip in the topology", "ring_allreduce: {topology: ring1d}", "ccl.yaml:2:30: algorithms.ring_allreduce.topology: " +
			`unknown topology "ring1d"; did you mean "ring_1d"?`},
		{"a grid on a ring", "ring_allreduce: {h: 2, w: 3}", "ccl.yaml:2:29: algorithms.ring_allreduce.w: " +
			"w and h are for mesh_2d and torus_2d and two_by; the topology is ring_1d"},
		{"half a grid on a ring", "no_entry: {h: 2}", "ccl.yaml:2:17: algorithms.no_entry.h: " +
			"w and h are for mesh_2d and torus_2d and two_by; the topology is ring_1d"},
		{"two mistakes", "no_entry: {h: 2}\n  ring_allreduce: {topology: zzz}", "ccl.yaml:2:17: algorithms.no_entry.h: " +
			"w and h are for mesh_2d and torus_2d and two_by; the topology is ring_1d\n" +
			"ccl.yaml:3:30: algorithms.ring_allreduce.topology: " +
			`unknown topology "zzz": want one of ` + topologies()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var files []conf.Source
			if tt.file != "" {
				files = append(files, conf.Source{Name: "ccl.yaml", Data: []byte("algorithms:\n  " + tt.file + "\n")})
			}
			ccl, err := conf.LoadCCL(files, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := device.CheckEntries(ccl); err != nil {
				got = withoutExcerpts(err.Error())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// withoutExcerpts drops the lines of the source below a message.
func withoutExcerpts(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, " ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestCheckEntriesEnds(t *testing.T) {
	var file strings.Builder
	file.WriteString("algorithms:\n")
	for i := range 1000 {
		fmt.Fprintf(&file, "  a%d: {n_slots: 2}\n", i)
	}
	ccl, err := conf.LoadCCL([]conf.Source{{Name: "ccl.yaml", Data: []byte(file.String())}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = device.CheckEntries(ccl)
	if n := strings.Count(fmt.Sprint(err), "names no module"); n != 20 || !strings.Contains(err.Error(), "more mistakes follow") {
		t.Errorf("%d mistakes are listed: %v", n, err)
	}
}
