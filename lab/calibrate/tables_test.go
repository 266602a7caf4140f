package calibrate_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/lab/calibrate"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// ringTable returns what perf measures of a ring on a machine, the fastest of all protocols.
func ringTable(t *testing.T, name, algorithm string, ranks int, sets []string) string {
	t.Helper()
	s := perf.Spec{
		Base: run.Spec{Topology: "dgx-a100", Ranks: ranks, Sets: sets}, Collective: name, Min: 256,
		Max: 4 * unit.MiB, Factor: 4, Memory: unit.GiB,
		Algorithms: []string{algorithm}, Vary: []sweep.Variation{{Key: "protocol", Values: []string{"ll", "ll128", "simple"}}},
	}
	sweep, err := perf.Run(context.Background(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fastest := map[unit.Bytes]unit.Time{}
	for _, r := range sweep.Rows {
		if was, ok := fastest[r.Size]; !ok || r.OutOfPlace.Time < was {
			fastest[r.Size] = r.OutOfPlace.Time
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# ranks: %d\n# collective: %s\n# dtype: float\nsize_bytes\ttime_us\n", ranks, name)
	for size := unit.Bytes(256); size <= s.Max; size *= 4 {
		fmt.Fprintf(&text, "%d\t%.6f\n", int64(size), fastest[size].Ns()/1e3)
	}
	file := filepath.Join(t.TempDir(), name+".tsv")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestTablesShareAMachine: one fit over tables of two collectives finds the rate that both have,
// and the start of each. Without its table, a collective starts as the other one does. The machine
// that is written takes the times that were reported of each table.
func TestTablesShareAMachine(t *testing.T) {
	const reduceStart, gatherStart = 9000, 13000
	machine := append([]string{
		"software.starts.collectives.all_gather.launch_ns=13000",
	}, knownKeys...)
	files := []string{
		ringTable(t, "all_reduce", "ring_allreduce_chunked", 4, machine),
		ringTable(t, "all_gather", "ring_allgather", 4, machine),
	}
	s := calibrate.Spec{
		Base: run.Spec{Topology: "dgx-a100", Sets: []string{noChannels,
			"software.protocols.ll.latency_ns=400", "software.protocols.ll128.latency_ns=1100",
			"software.protocols.simple.latency_ns=5000"}},
		Largest: 4 * unit.MiB, Keep: []string{"message", "ll", "ll128", "simple"},
	}
	j, err := calibrate.RunTables(context.Background(), s, files)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range j.Parameters {
		want, known := map[string]float64{"launch": reduceStart, "launch.all_gather": gatherStart, "rate": 190}[p.Name]
		if known && math.Abs(p.Fitted/want-1) > 0.02 {
			t.Errorf("%s is %v, want %v", p.Name, p.Fitted, want)
		}
	}
	text, err := j.YAML()
	if err != nil {
		t.Fatal(err)
	}
	fitted := filepath.Join(t.TempDir(), "fitted.yaml")
	if err := os.WriteFile(fitted, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for i, c := range j.Tables {
		if c.Fitted.Mean > 0.005 || c.Bands[0].Machine.Sizes != len(c.Rows) {
			t.Errorf("%s: fitted %+v, %+v", c.Collective, c.Fitted, c.Bands[0])
		}
		checkReportedTimes(t, c, run.Spec{Topology: fitted, Ranks: 4})
		// The start is wrong by 4 µs without the table: off at small sizes, and not at large ones.
		out := j.LeftOut[i]
		small, all := out.Bands[1].Machine, out.Bands[0].Machine
		if out.File != files[i] || math.Abs(small.Worst) < 0.2 || math.Abs(all.Median) > 0.5 {
			t.Errorf("left out %+v", out)
		}
	}
}

// TestTablesOfOneCall: two tables of the same call are refused.
func TestTablesOfOneCall(t *testing.T) {
	file := write(t, "# ranks: 4\n# collective: all_reduce\nsize_bytes\ttime_us\n8\t10\n1024\t11\n65536\t12\n1048576\t50\n")
	s := calibrateSpec("")
	_, err := calibrate.RunTables(context.Background(), s, []string{file, file})
	if err == nil || !strings.Contains(err.Error(), "both have all_reduce of 4 ranks, f32: put their rows into one table") {
		t.Error(err)
	}
}
