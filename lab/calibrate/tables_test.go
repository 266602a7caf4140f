package calibrate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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

// TestLatenciesTogether: of a machine that is slower as a whole, a table of one collective tells
// the times of another one. All latencies change by one factor, that of a hop with what the
// hardware takes of it.
func TestLatenciesTogether(t *testing.T) {
	const factor, rest = 1.5, 416 // ns
	sets := []string{noChannels, "system.link.bw_gbs=190"}
	for name, launch := range map[string]float64{"ll": 6600, "ll128": 14000, "simple": 8400} {
		sets = append(sets, fmt.Sprintf("software.protocols.%s.launch_ns=%v", name, launch+(factor-1)*6600))
	}
	for name, latency := range map[string]float64{"ll": 184, "ll128": 1484, "simple": 2984} {
		sets = append(sets, fmt.Sprintf("software.protocols.%s.latency_ns=%v", name, factor*(latency+rest)-rest))
	}
	table := ringTable(t, "all_reduce", "ring_allreduce_chunked", 4, sets)
	other := ringTable(t, "all_gather", "ring_allgather", 4, sets)
	for _, noise := range []float64{0, 0.05} {
		t.Run(fmt.Sprint(noise), func(t *testing.T) {
			s := calibrate.Spec{
				Base: run.Spec{Topology: "dgx-a100", Sets: []string{noChannels}}, Largest: 4 * unit.MiB, File: withNoise(t, table, noise),
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
			score, err := calibrate.RunScore(context.Background(), calibrate.ScoreSpec{
				Base: run.Spec{Topology: fitted}, Largest: s.Largest, Files: []string{other},
			})
			if err != nil {
				t.Fatal(err)
			}
			if worst := score.Tables[0].Bands[0].Machine.Worst; math.Abs(worst) > 0.01+noise || c.Before.Mean < 0.2 {
				t.Errorf("before %+v, fitted %+v; all_gather is off by %+.3f", c.Before, c.Fitted, worst)
			}
			for _, p := range c.Parameters {
				if p.Name == "message" && (p.Kept != "no source has it" || p.Fitted != 0) {
					t.Errorf("%+v", p)
				}
			}
			if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "all latencies are changed by one factor") {
				t.Error(notes)
			}
		})
	}
}

// withNoise returns a table with relative errors, above and below.
func withNoise(t *testing.T, file string, noise float64) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	random := rand.New(rand.NewPCG(5, 6))
	for i, line := range lines {
		var size int64
		var us float64
		if n, _ := fmt.Sscanf(line, "%d\t%f", &size, &us); n == 2 {
			lines[i] = fmt.Sprintf("%d\t%.6f", size, us*(1+noise*(2*random.Float64()-1)))
		}
	}
	return write(t, strings.Join(lines, "\n")+"\n")
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
