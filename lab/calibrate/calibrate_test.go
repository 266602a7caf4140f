package calibrate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "kernbench/internal/fewcollections"
	"kernbench/lab/calibrate"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// knownKeys are the settings of the machine whose times the tests put into tables. Its parameters
// differ from those of the preset.
var knownKeys = []string{
	"software.protocols.ll.launch_ns=9000", "software.protocols.ll128.launch_ns=16400", "software.protocols.simple.launch_ns=10800",
	"software.protocols.ll.latency_ns=400", "software.protocols.ll128.latency_ns=1100", "software.protocols.simple.latency_ns=5000",
	"system.link.bw_gbs=190", noChannels,
}

// noChannels turns channels off: their rate is no parameter of the fit, and it would hide the rate
// of the link at large sizes.
const noChannels = "software.channels.count=0"

// calibrated are the algorithms that the tests measure and fit.
var calibrated = []string{"ring_allreduce_chunked", "direct_allreduce"}

// tableOf writes a table of times that perf measures on a machine with these settings. Each size
// has the time of the fastest algorithm and protocol. noise is the largest relative error added to
// it.
func tableOf(t *testing.T, sets []string, noise float64) string {
	t.Helper()
	s := perf.Spec{
		Base: run.Spec{Topology: "dgx-a100", Ranks: 4, Sets: sets}, Collective: "all_reduce", Min: 8,
		Max: 2 * unit.MiB, Factor: 4, Memory: unit.GiB,
		Algorithms: calibrated, Vary: []sweep.Variation{{Key: "protocol", Values: []string{"ll", "ll128", "simple"}}},
	}
	sweep, err := perf.Run(context.Background(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	fastest := map[unit.Bytes]unit.Time{}
	var text strings.Builder
	text.WriteString("# hardware: made up\n# ranks: 4\n# collective: all_reduce\n# dtype: float\nsize_bytes\ttime_us\n")
	for _, r := range sweep.Rows {
		if r.Algorithm == "direct_allreduce" && r.Settings[0].Value != "simple" {
			continue // NCCL has no such protocol of a direct all-reduce
		}
		if best, ok := fastest[r.Size]; !ok || r.OutOfPlace.Time < best {
			fastest[r.Size] = r.OutOfPlace.Time
		}
	}
	for size := unit.Bytes(8); size <= s.Max; size *= 4 {
		us := fastest[size].Ns() / 1e3 * (1 + noise*(2*random.Float64()-1))
		fmt.Fprintf(&text, "%d\t%.6f\n", int64(size), us)
	}
	return write(t, text.String())
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "table.tsv")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func calibrateSpec(file string) calibrate.Spec {
	return calibrate.Spec{
		Base: run.Spec{Topology: "dgx-a100", Sets: []string{noChannels}}, File: file, Algorithms: calibrated,
		HoldOut: calibrate.HoldOut{Every: 3}, Largest: 2 * unit.MiB,
		Keep: []string{"message"},
	}
}

// TestCalibrateFindsItsOwnTimes fits a table that the simulator made. The mean error is at most
// 0.2 %, also at sizes that are held out, and at most 6 % with noise of 5 %. The fit finds the rate
// of the link, and its ranges contain all parameters of the simulated machine.
func TestCalibrateFindsItsOwnTimes(t *testing.T) {
	for _, test := range []struct{ noise, mean, rate float64 }{{0, 0.002, 0.01}, {0.05, 0.06, 0.08}} {
		t.Run(fmt.Sprint(test.noise), func(t *testing.T) {
			c, err := calibrate.Run(context.Background(), calibrateSpec(tableOf(t, knownKeys, test.noise)))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("fitted %+v, held out %+v, before %+v", c.Fitted, c.HeldOut, c.Before)
			if c.Fitted.Mean > test.mean || c.HeldOut.Mean > test.mean || c.Fitted.Sizes != 7 || c.HeldOut.Sizes != 3 {
				t.Errorf("fitted %+v, held out %+v", c.Fitted, c.HeldOut)
			}
			if c.Before.Mean < 0.1 {
				t.Errorf("before %+v: the preset already fits, so the test proves nothing", c.Before)
			}
			truth := map[string]float64{"launch": 9000, "ll": 400, "ll128": 1100, "simple": 5000, "rate": 190}
			for _, p := range c.Parameters {
				if p.Name == "ll" && p.Kept != "" { // a ring of 4 has 6 hops, so only launch + 6 ll is known
					truth["launch"] += 6 * (truth["ll"] - p.Base)
				}
			}
			for _, p := range c.Parameters {
				want := truth[p.Name]
				switch {
				case p.Kept == "the table does not determine it":
					if p.Fitted != p.Base || p.Name == "launch" || p.Name == "rate" {
						t.Errorf("%+v", p)
					}
				case p.Name == "message":
					if p.Kept != "as asked" || p.Fitted != p.Base {
						t.Errorf("%+v", p)
					}
				case p.Name == "rate" && math.Abs(p.Fitted/want-1) > test.rate:
					t.Errorf("rate %v, want %v within %v", p.Fitted, want, test.rate)
				case p.Low != nil && want < 0.97**p.Low || p.High != nil && want > 1.03**p.High:
					t.Errorf("%s: %+v, and the simulated machine has %v", p.Key, p, want)
				}
			}
		})
	}
}

// TestCalibrateIgnoresHeldOutTimes changes a time that is held out. No parameter changes.
func TestCalibrateIgnoresHeldOutTimes(t *testing.T) {
	file := tableOf(t, knownKeys, 0)
	s := calibrateSpec(file)
	s.HoldOut, s.Largest = calibrate.HoldOut{Above: 128 * unit.KiB}, unit.MiB
	s.Keep = []string{"message", "simple", "ll128"}
	before, err := calibrate.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.File = write(t, strings.Replace(string(text), "2097152\t", "2097152\t9", 1))
	after, err := calibrate.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(values(before)), fmt.Sprint(values(after)); a != b {
		t.Errorf("parameters %s, and %s after the change", a, b)
	}
	if last := before.Rows[len(before.Rows)-1]; !last.Extrapolated || last.Size != 2*unit.MiB || before.Rows[8].Extrapolated {
		t.Errorf("only the last row is extrapolated; got %+v", last)
	}
	if before.HeldOut == after.HeldOut {
		t.Error("a changed time does not change the errors of the held-out sizes")
	}
}

func values(c *calibrate.Calibration) []float64 {
	var all []float64
	for _, p := range c.Parameters {
		all = append(all, p.Fitted)
	}
	return all
}

// TestWrittenMachineHasTheReportedTimes runs on the file that a calibration wrote. The times are
// those that the calibration reported.
func TestWrittenMachineHasTheReportedTimes(t *testing.T) {
	s := calibrateSpec(tableOf(t, knownKeys, 0))
	s.Base.Sets = []string{"cube.hbm.access_ns=250"}
	c, err := calibrate.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fitted.yaml")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range []calibrate.Row{c.Rows[0], c.Rows[7]} {
		sweep, err := perf.Run(context.Background(), perf.Spec{
			Base: run.Spec{Topology: file, Ranks: 4}, Collective: "all_reduce", Min: row.Size, Max: row.Size, Factor: 2,
			Algorithms: []string{row.Algorithm}, Vary: []sweep.Variation{{Key: "protocol", Values: []string{row.Protocol}}},
		}, nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got := sweep.Rows[0].OutOfPlace.Time; got != row.Simulated {
			t.Errorf("%v: %v on the written machine, %v reported\n%s", row.Size, got, row.Simulated, text)
		}
	}
}

// TestAutoTakesTheCalibratedTimes runs auto on the written machine. At each size auto takes the
// algorithm and the time that the calibration reported, also if the time is extrapolated. The same
// holds with the written tuning table. The choices do not apply to a machine that was changed
// since.
func TestAutoTakesTheCalibratedTimes(t *testing.T) {
	s := calibrateSpec(tableOf(t, knownKeys, 0))
	s.Largest = 512 * unit.KiB
	s.Base.Sets = append(s.Base.Sets, "defaults.n_slots=5", "algorithms.ring_allreduce_chunked.slot_size=24KiB")
	c, err := calibrate.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	files := map[string]func() ([]byte, error){"fitted.yaml": c.YAML, "choice.yaml": c.TuningYAML}
	for name, text := range files {
		data, err := text()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fitted := filepath.Join(folder, "fitted.yaml")
	for _, tuning := range []string{"", filepath.Join(folder, "choice.yaml")} {
		checkReportedTimes(t, c, run.Spec{Topology: fitted, Ranks: 4, Tuning: tuning})
	}
	programs := map[string]bool{}
	for _, r := range c.Rows {
		programs[r.Algorithm+" "+r.Protocol] = true
	}
	if len(programs) < 2 || !c.Rows[len(c.Rows)-1].Extrapolated {
		t.Errorf("one algorithm and protocol is best at all sizes, or no time is extrapolated: %v", programs)
	}
	for _, base := range []run.Spec{
		{Topology: fitted, Ranks: 4, Sets: []string{"system.link.bw_gbs=100"}},
		{Topology: fitted, Ranks: 2},
	} {
		sweep, err := perf.Run(context.Background(), perf.Spec{
			Base: base, Collective: "all_reduce", Min: 64, Max: 64, Factor: 4, Algorithms: []string{"auto"},
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(sweep.Notes, "\n"); !strings.Contains(notes, "choices of "+fitted+" are left out: they are ") ||
			!strings.Contains(notes, "auto without a tuning table") {
			t.Errorf("%s", notes)
		}
	}
}

// checkReportedTimes compares the times of auto with those that a calibration reported, to the
// picosecond.
func checkReportedTimes(t *testing.T, c *calibrate.Calibration, base run.Spec) {
	t.Helper()
	from, to := c.Rows[0].Size, c.Rows[len(c.Rows)-1].Size
	factor := int(c.Rows[1].Size / from)
	sweep, err := perf.Run(context.Background(), perf.Spec{
		Base: base, Collective: c.Collective, Min: from, Max: to, Factor: factor, Algorithms: []string{"auto"},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Rows) != len(c.Rows) {
		t.Fatalf("%d rows, want %d", len(sweep.Rows), len(c.Rows))
	}
	for i, want := range c.Rows {
		got := &sweep.Rows[i]
		at := got.OutOfPlace
		if at == nil {
			at = got.InPlace
		}
		if got.Size != want.Size || got.Algorithm != want.Algorithm || at.Time != want.Simulated ||
			(got.Extrapolated != nil) != want.Extrapolated {
			t.Errorf("%v: %s takes %v, want %s and %v (%s)", got.Size, got.Algorithm, at.Time,
				want.Algorithm, want.Simulated, want.Protocol)
		}
		if e := got.Extrapolated; e != nil && (e.Error == nil || e.From[1] != c.Largest) {
			t.Errorf("%v: %+v", got.Size, e)
		}
	}
}

func TestCalibrateErrors(t *testing.T) {
	const good = "# ranks: 4\n# collective: all_reduce\nsize_bytes\ttime_us\n8\t10\n1024\t11\n65536\t12\n1048576\t50\n"
	for _, test := range []struct {
		name, text string
		change     func(*calibrate.Spec)
		want       string
	}{
		{"no machine", "# hardware: eight of something\n" + good, func(s *calibrate.Spec) { s.Base.Topology = "" },
			"name the machine to fit (--topology PRESET or FILE); hardware in the table: eight of something. Presets:\n  ahbm "},
		{"no collective", strings.Replace(good, "# collective: all_reduce\n", "", 1), nil,
			"does not say what was measured: name the collective"},
		{"no ranks", strings.Replace(good, "# ranks: 4\n", "", 1), nil, "does not say how many ranks took part"},
		{"other ranks", good, func(s *calibrate.Spec) { s.Base.Ranks = 8 }, "was measured with 4 ranks, not 8"},
		{"more ranks than PEs", strings.Replace(good, "ranks: 4", "ranks: 400", 1), nil, "400"},
		{"an unknown type", "# dtype: float128\n" + good, nil, `unknown element type "float128"`},
		{"an unknown parameter", good, func(s *calibrate.Spec) { s.Keep = []string{"lunch"} },
			`unknown parameter "lunch"; did you mean "launch"?`},
		{"nothing to fit", good, func(s *calibrate.Spec) { s.Keep = calibrate.Parameters() }, "nothing is left to fit"},
		{"few sizes", good, func(s *calibrate.Spec) { s.HoldOut = calibrate.HoldOut{Above: 2000} },
			"2 sizes left to fit with --hold-out above=2000B: at least 3 are needed"},
		{"an algorithm of another collective", good,
			func(s *calibrate.Spec) { s.Algorithms = []string{"ring_allgather"} }, "ring_allgather performs all_gather, not all_reduce"},
		{"a file without a table", "hello", nil, "table.tsv:1:1: found no table"},
		{"no file", "", func(s *calibrate.Spec) { s.File = "nowhere.tsv" }, "nowhere.tsv"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := calibrateSpec(write(t, test.text))
			s.Keep = nil
			if test.change != nil {
				test.change(&s)
			}
			if _, err := calibrate.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestCalibrateStops cancels a calibration. It returns the error of the context.
func TestCalibrateStops(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	s := calibrateSpec(tableOf(t, nil, 0))
	s.Progress = func(p run.Progress) {
		if p.Done > 3 {
			stop()
		}
	}
	if _, err := calibrate.Run(ctx, s); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestParseHoldOut(t *testing.T) {
	for text, want := range map[string]calibrate.HoldOut{
		"3": {Every: 3}, "none": {}, "above=1M": {Above: unit.MiB}, "below=4KiB": {Below: 4 * unit.KiB},
	} {
		got, err := calibrate.ParseHoldOut(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := calibrate.ParseHoldOut(got.String()); err != nil || again != got {
			t.Errorf("%s prints as %s", text, got)
		}
	}
	for _, text := range []string{"", "1", "-3", "x", "above", "above=x", "over=3"} {
		if h, err := calibrate.ParseHoldOut(text); err == nil {
			t.Errorf("%s: %+v", text, h)
		}
	}
}

// TestLibraryOfTheMachine checks which algorithms and protocols a score runs. On machines of NVIDIA
// they are those of NCCL, on other machines those of libraries for full meshes.
func TestLibraryOfTheMachine(t *testing.T) {
	table := write(t, "# ranks: 8\n# collective: all_reduce\nsize_bytes\ttime_us\n1024\t16\n2048\t16\n4096\t16\n")
	for topology, want := range map[string][]string{
		"dgx-a100": {"ring_allreduce_chunked"},
		"dgx-h100": {"ring_allreduce_chunked", "nvls_allreduce"},
		"mi300x-8": {"ring_allreduce_chunked", "double_tree_allreduce", "direct_allreduce", "window_allreduce_onephase_push"},
	} {
		s, err := calibrate.RunScore(context.Background(), calibrate.ScoreSpec{
			Base: run.Spec{Topology: topology}, Files: []string{table}, Largest: unit.MiB,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Tables[0].Algorithms; !slices.Equal(got, want) {
			t.Errorf("%s runs %v, want %v", topology, got, want)
		}
		for _, r := range s.Tables[0].Rows {
			if topology == "mi300x-8" && r.Protocol == "ll128" && r.Algorithm != "ring_allreduce_chunked" {
				t.Errorf("%v: %s with %s", r.Size, r.Algorithm, r.Protocol)
			}
		}
	}
}
