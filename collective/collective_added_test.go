package collective_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/cli"
	"kernbench/collective"
	"kernbench/lab/calibrate"
	"kernbench/lab/sweep"
	"kernbench/tl"
)

// swapPairs performs the collective that only tests know.
var swapPairs = algorithm.Register(algorithm.Algorithm{
	Name: "test_swap_pairs", Summary: "sends to the partner", Collective: "test_swap", Topology: "none",
	Neighbors: func(rank, world int, _ map[tl.Dir]int) map[tl.Dir]int {
		if rank^1 < world {
			return map[tl.Dir]int{tl.East: rank ^ 1}
		}
		return nil
	},
	Kernel: func(c *tl.Context, a tl.Args) {
		if c.Rank()^1 >= c.WorldSize() {
			return
		}
		mine := a.Shard(c.Rank())
		x := c.Load(mine)
		c.Send(tl.East, x)
		c.Store(mine, c.Recv(tl.West, x.Shape(), a.DType))
	},
})

// swapBench runs algorithms of it.
var swapBench = bench.Register(bench.Program{
	Name: "test_swap_bench", Summary: "swaps", Algorithm: swapPairs.Name, Collectives: true, Parallel: true,
	Run: bench.CCLHello.Run,
})

// called returns what a command prints, which must end with status 0.
func called(t *testing.T, args ...string) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stdout := os.Stdout
	os.Stdout = f
	status := cli.Main(args)
	os.Stdout = stdout
	data, err := os.ReadFile(f.Name())
	if err != nil || status != 0 {
		t.Fatalf("%v: status %d, %v\n%s", args, status, err, data)
	}
	return string(data)
}

// A collective that a file adds is listed, performed, judged, measured and bounded, and no other
// file knows its name.
func TestAddedCollective(t *testing.T) {
	theirs := filepath.Join(t.TempDir(), "nccl.json")
	for _, tt := range []struct{ command, want string }{
		{"list collectives", "test_swap "},
		{"list algorithms", "test_swap_pairs"},
		{"run --algorithm test_swap_pairs --ranks 5 --verify-data", "test_swap_bench"},
		{"test test_swap_pairs --ranks 1,2,5", "test_swap_pairs"},
		{"perf swap -b 64 -e 1K -f 4 --ranks 4 --bound", "test_swap_pairs"},
		{"perf test_swap -b 64 -e 64 --ranks 4 -J " + theirs, "test_swap_pairs"},
		{"bound test_swap --ranks 4 -b 64 -e 64", "test_swap"},
		{"tune test_swap --ranks 4 -b 64 -e 1K --db " + t.TempDir() + "/x.db", "test_swap_pairs"},
	} {
		if out := called(t, strings.Fields(tt.command)...); !strings.Contains(out, tt.want) {
			t.Errorf("%s: no %q in\n%s", tt.command, tt.want, out)
		}
	}
	if data, err := os.ReadFile(theirs); err != nil || !strings.Contains(string(data), "swap_perf") {
		t.Errorf("%v\n%s", err, data)
	}
	what, err := collective.Lookup("test_swap")
	if err != nil || bench.For(what.Name) != swapBench || sweep.AlgorithmsOf(what.Name)[0] != swapPairs.Name {
		t.Errorf("%v, %v", what, err)
	}
	if got := calibrate.Algorithms(what, "", 1, "other"); len(got) != 1 || got[0] != swapPairs.Name {
		t.Errorf("calibrate uses %v", got)
	}
}

// The names in rows lead somewhere.
func TestNamesInRows(t *testing.T) {
	for _, co := range collective.All() {
		for _, name := range append(slices.Concat(co.Known, co.KnownNCCL, co.KnownRails), co.Least) {
			if a, err := algorithm.Lookup(name); name != "" && (err != nil || a.Collective != co.Name) {
				t.Errorf("%s names the algorithm %s: %+v, %v", co.Name, name, a, err)
			}
		}
		if p, err := bench.Lookup(co.Bench); co.Bench != "" && (err != nil || !p.Collectives) {
			t.Errorf("%s names the bench %s: %v", co.Name, co.Bench, err)
		}
	}
}
