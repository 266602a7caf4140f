package calibrate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/internal/exhaustive"
	"kernbench/lab/calibrate"
	"kernbench/lab/run"
	"kernbench/unit"
)

// machinesOfTables are the machines of published tables, by the beginning of a file's name.
var machinesOfTables = []struct {
	prefix, topology string
	sets             []string
}{
	{"a100_8gpu", "dgx-a100", nil},
	{"h100_8gpu", "dgx-h100", nil},
	{"b200_8gpu", "dgx-b200", nil},
	{"b200_16gpu", "dgx-b200", []string{"system.nodes.count=2"}},
	{"mi300x_8gpu", "mi300x-8", nil},
}

// publishedTables lists the tables of this package, and those of a folder shared/data beside the
// repository, if there is one.
func publishedTables(t *testing.T) []string {
	t.Helper()
	own, err := filepath.Glob("fit/testdata/*_8gpu_*.tsv")
	if err != nil || len(own) != 3 {
		t.Fatalf("%v, %v", own, err)
	}
	seen := map[string]bool{}
	for _, name := range own {
		seen[filepath.Base(name)] = true
	}
	above, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for last := ""; above != last; last, above = above, filepath.Dir(above) {
		more, _ := filepath.Glob(filepath.Join(above, "shared", "data", "*.tsv"))
		for _, name := range more {
			if base := filepath.Base(name); !seen[base] {
				seen[base] = true
				own = append(own, name)
			}
		}
	}
	return own
}

// TestThePromiseOfEachTable: a machine that was fitted to a published table takes the reported
// times, to the picosecond. It does so with the algorithm auto and without a tuning table. By
// default the start alone is fitted, and only small sizes are simulated.
func TestThePromiseOfEachTable(t *testing.T) {
	tables := publishedTables(t)
	if !exhaustive.On() {
		tables = tables[:3]
	}
	for _, file := range tables {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".tsv"), func(t *testing.T) {
			t.Parallel()
			s := calibrate.Spec{File: file, Largest: 8 * unit.MiB, HoldOut: calibrate.HoldOut{Every: 3}}
			for _, m := range machinesOfTables {
				if strings.HasPrefix(name, m.prefix) {
					s.Base = run.Spec{Topology: m.topology, Sets: m.sets}
				}
			}
			if s.Base.Topology == "" {
				t.Fatal("machinesOfTables names no machine for this table")
			}
			if !exhaustive.On() {
				s.Keep, s.Largest = []string{"ll", "ll128", "simple", "message", "rate"}, 4*unit.MiB
			}
			c, err := calibrate.Run(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			text, err := c.YAML()
			if err != nil {
				t.Fatal(err)
			}
			fitted := filepath.Join(t.TempDir(), "fitted.yaml")
			if err := os.WriteFile(fitted, text, 0o666); err != nil {
				t.Fatal(err)
			}
			checkReportedTimes(t, c, run.Spec{Topology: fitted, Ranks: c.Ranks})
		})
	}
}
