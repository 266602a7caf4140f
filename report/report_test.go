package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/lab/compare"
	"kernbench/lab/probe"
	"kernbench/lab/run"
	"kernbench/lab/suite"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it)\n%s", file, diff)
	}
}

var results = map[string]*run.Result{
	"good": {
		MadeBy: made("kernbench run", "0123456789abcdef"),
		Spec:   run.Spec{Bench: "ccl_allreduce", DType: dtype.F16, VerifyData: true},
		Bench:  "ccl_allreduce", Algorithm: "ring_allreduce", Collective: "all_reduce", Topology: "ring_1d",
		Executor: "sim", Fidelity: "slot", Machine: "2 SIPs x 16 cubes x 8 PEs",
		WorldSize: 256, ElemsPerRank: 1040, DType: "f16", Op: "sum", BytesPerRank: 2080,
		RanksOK: 256, RanksChecked: true,
		Timed: true, SimulatedTime: 12_345_678, Launch: 6_600_000, AlgBW: 0.1684, BusBW: 0.33550,
		Launches: 1, Messages: 130560, MessageBytes: 130560 * 2080, Events: 1234567,
		WallTime: 412 * time.Millisecond, EventsPerSecond: 2.9965e6, NsPerMessage: 3155,
		Verdicts: []run.Verdict{
			{Question: "provenance", State: run.Checked, Detail: "each element holds each of 256 contributions exactly once"},
			{Question: "values", State: run.Checked, Detail: "within 0.125 of the float64 sum"},
			{Question: "deadlock", State: run.Checked},
		},
		Notes: []string{"ring_allreduce moves 128 times the bytes of ring_allreduce_chunked"},
	},
	"bad": {
		MadeBy: made("kernbench run", "0123456789abcdef"),
		Spec:   run.Spec{Bench: "ccl_allreduce", VerifyData: true},
		Bench:  "ccl_allreduce", Algorithm: "lossy", Collective: "all_reduce", Op: "sum",
		Executor: "mock", Machine: "1 SIP x 1 cube x 8 PEs", WorldSize: 8, ElemsPerRank: 32, DType: "f32", BytesPerRank: 128,
		RanksOK: 1, RanksFailed: 7, RanksChecked: true, Messages: 56, MessageBytes: 7168, WallTime: 1234567,
		Failures: []run.Failure{
			{Rank: 0, PE: "sip0.cube0.pe0", Index: 3, Elements: 1025, Question: "provenance", Got: "1.5", Expected: "3.5",
				Missing: []int{2, 3, 4, 7}, Duplicated: []int{1}, Times: []int{2}, Reason: "lossy.go:12 add"},
			{Rank: 1, Index: 0, Question: "values", Got: "+Inf", Expected: "3.5"},
		},
		Verdicts: []run.Verdict{
			{Question: "provenance", State: run.Failed, Detail: "7 of 8 ranks"},
			{Question: "values", State: run.Failed},
			{Question: "deadlock", State: run.Checked},
		},
	},
	"onesided": {
		MadeBy: made("kernbench run", "0123456789abcdef"),
		Spec:   run.Spec{Bench: "broadcast_distributed", Options: map[string]string{"root": "1"}, Devices: []int{0, 2}, Schedules: 20},
		Bench:  "broadcast_distributed", Algorithm: "window_broadcast", Collective: "broadcast",
		Executor: "mock", Machine: "1 SIP x 1 cube x 8 PEs", MemoryOrder: "by_channel", Schedule: 4,
		WorldSize: 2, ElemsPerRank: 64, DType: "f32", BytesPerRank: 256,
		RanksOK: 2, RanksChecked: true, Launches: 1, WallTime: 250 * time.Microsecond,
		Traffic: []run.Traffic{{Rank: 0, Read: 256, Gets: 1, Notifies: 1, Waits: 1, Atomics: 2},
			{Rank: 1, Notifies: 1, Waits: 1, Syncs: 1}},
		Class: &run.Class{Name: "scheduled", What: "the outcome may depend on which rank, program or engine comes first",
			Claim: "this run says nothing certain about other timings", Depends: []run.Depend{
				{Op: "set", Call: "put_signal", Line: "x.go:7", Why: "hides what the word held before", Count: 1200},
				{Op: "load_scalar", Call: "load_scalar", Why: "the value that it reads depends on the time of the call", Count: 1},
			}},
		Hazards: []run.Hazard{{
			Kind: race.Race, Where: "box.data of sip0.cube0.pe2, element 64",
			Missing: "a fence between put at x.go:7 and notify at x.go:9", Count: 3,
			First: race.Access{Agent: "rank 0", PE: "sip0.cube0.pe0", Call: "put", Line: "x.go:7", Does: "write",
				Bytes: 256, State: "in flight"},
			Second: race.Access{Agent: "rank 1", Rank: 1, PE: "sip0.cube0.pe2", Call: "load", Line: "x.go:12", Does: "read", Bytes: 256},
		}},
		Schedules: &run.Schedules{Asked: 20, Done: 20, Outcomes: []run.Outcome{
			{Digest: "6ce1d2ba32cd6a87", Schedule: 4, Runs: 18, Verified: true},
			{Digest: "58713721e1e56425", Schedule: 2, Runs: 2, Wrong: true,
				What: "rank 1 (sip0.cube0.pe2) element 3: got 0, expected 3\nand more", Repeat: "--schedule 2", Verified: true},
			{Digest: "7ce3acc06a424a1d", Schedule: 9, Runs: 1, Wrong: true,
				What: "deadlock: 1 of 2 ranks cannot go on", Repeat: "--schedule 9"},
		}},
		Verdicts: []run.Verdict{
			{Question: "provenance", State: run.Checked, Detail: "each element is the one that it should be"},
			{Question: "race", State: run.Failed, Detail: "3 hazards at 1 pair of places"},
			{Question: "schedules", State: run.Failed, Detail: "3 different outcomes in 21 runs, 2 of them wrong"},
		},
	},
	"timing": {
		MadeBy: made("kernbench run", "0123456789abcdef"),
		Spec:   run.Spec{Bench: "gemm_single_pe"},
		Bench:  "gemm_single_pe", Executor: "sim", Fidelity: "ideal", Machine: "1 SIP x 1 cube x 8 PEs",
		WorldSize: 1, DType: "f16", Timed: true, SimulatedTime: 961 * unit.Nanosecond, WallTime: 250 * time.Microsecond,
		Report: []string{"gemm 32 x 64 x 128", "of 2 tiles"},
		Verdicts: []run.Verdict{
			{Question: "provenance", State: run.NotApplicable, Detail: "dot at gemm.go:9 makes values of its own"},
			{Question: "values", State: run.NotChecked, Detail: "add --verify-data"},
		},
	},
}

func TestGoldenResults(t *testing.T) {
	for name, r := range results {
		t.Run(name, func(t *testing.T) {
			var text, js bytes.Buffer
			if err := Text(&text, r); err != nil {
				t.Fatal(err)
			}
			if err := JSON(&js, r); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".text", text.Bytes())
			golden(t, name+".json", js.Bytes())
			if !json.Valid(js.Bytes()) {
				t.Error("not JSON")
			}
		})
	}
}

func TestGoldenTests(t *testing.T) {
	sum := &suite.Summary{Cases: 153, Failed: 3, Skipped: 2, Rows: []suite.Row{
		{Algorithm: "mesh", World: 2, Skipped: "mesh_2d of 2 ranks: 2 is not a square"},
		{Algorithm: "mesh", World: 4, Cases: 51, OK: 51, WallTime: 3 * time.Millisecond},
		{Algorithm: "mesh", World: 16, Skipped: "the machine has 8 PEs"},
		{Algorithm: "nvls", World: 4, Cases: 9, OK: 9, LeftOut: []suite.LeftOut{
			{Types: []dtype.Type{dtype.F16, dtype.BF16}, Reason: "the switch reduces f32 only (switch.reduce.types)"}}},
		{Algorithm: "nvls", World: 8, Skipped: "none of the types", LeftOut: []suite.LeftOut{
			{Types: []dtype.Type{dtype.I64}, Reason: "x"}}},
		{Algorithm: "ring", World: 2, Cases: 51, OK: 51, WallTime: 2 * time.Millisecond},
		{Algorithm: "ring", World: 4, Cases: 51, OK: 48, Failed: 3, First: "7 × f16, sum: deadlock: 4 of 4\n  cycle: 0 -> 1",
			Command: "kernbench run --algorithm ring --ranks 4", WallTime: 1500 * time.Microsecond},
	}}
	var b bytes.Buffer
	if err := Tests(&b, sum); err != nil {
		t.Fatal(err)
	}
	golden(t, "tests.text", b.Bytes())
}

func TestGoldenComparison(t *testing.T) {
	slow := *results["good"]
	slow.SimulatedTime, slow.AlgBW, slow.BusBW = 9*unit.Microsecond, 1.5, 2.75
	unchecked := *results["good"]
	unchecked.RanksChecked, unchecked.Verdicts = false, nil
	rows := []compare.Row{
		{BufferKind: "tcm", Backpressure: "sleep", Error: "deadlock: 4 of 4\n  cycle: 0 -> 1"},
		{BufferKind: "tcm", Backpressure: "poll", Result: results["good"]},
		{BufferKind: "hbm", Backpressure: "sleep", Result: &slow},
		{BufferKind: "hbm", Backpressure: "poll", Result: &unchecked},
		{BufferKind: "sram", Backpressure: "sleep", Result: results["bad"]},
	}
	var b bytes.Buffer
	if err := Comparison(&b, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.text", b.Bytes())
}

func TestGoldenAlgorithms(t *testing.T) {
	slow := *results["good"]
	slow.SimulatedTime, slow.AlgBW, slow.BusBW = 30*unit.Microsecond, 1.5, 2.75
	slow.Traffic = []run.Traffic{{Sent: 1 << 10, Read: 1 << 12}, {Written: 1 << 11}}
	early := *results["bad"]
	early.SimulatedTime = 1 * unit.Nanosecond // a wrong result does not count as the fastest
	rows := []compare.Row{
		{Algorithm: "a", Error: "deadlock: 4 of 4\n  cycle: 0 -> 1"},
		{Algorithm: "b", Result: &early},
		{Algorithm: "c", Result: results["good"]},
		{Algorithm: "d", Result: &slow},
	}
	var b bytes.Buffer
	if err := Comparison(&b, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "algorithms.text", b.Bytes())
}

func TestGoldenProbe(t *testing.T) {
	rows := []probe.Row{
		{Case: "own slice", Placement: "pe0 reads its own slice", Bytes: 16384, Time: 77 * unit.Nanosecond, GBs: 212.78, Published: 77},
		{Case: "next cube east", Placement: "8 at once", Bytes: 16384, Time: 963500, GBs: 136.04, Published: 963, Deviation: 0.052},
		{Case: "all own slices", Placement: "all", Bytes: 16384, Time: 80 * unit.Nanosecond, GBs: 26214.4},
	}
	var b bytes.Buffer
	for _, r := range [][]probe.Row{rows, rows[2:]} {
		if err := Probe(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "probe.text", b.Bytes())
}

func TestTable(t *testing.T) {
	table := Table{Head: []string{"name", ">µs", "note"}}
	table.Add("a", "1", "")
	table.Add("long one", "12.5 µs")
	table.Add("b", "3", "last")
	var b bytes.Buffer
	if err := table.Write(&b); err != nil {
		t.Fatal(err)
	}
	want := `name           µs  note
a               1
long one  12.5 µs
b               3  last
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1234567), "-1,234,567"},
		{significant(0), "0"}, {significant(0.033551), "0.0336"}, {significant(0.14), "0.140"},
		{significant(-0.000982), "-0.000982"}, {significant(9.876), "9.88"}, {significant(98.76), "98.8"},
		{significant(123456.7), "123457"},
		{perSecond(12), "12.0"}, {perSecond(1500), "1.50 k"}, {perSecond(2.5e6), "2.50 M"}, {perSecond(1e10), "10.0 G"},
		{wall(1500), "1.50 µs"}, {wall(20 * time.Millisecond), "20.0 ms"}, {wall(90 * time.Second), "90.0 s"},
		{size(0), "0 B"}, {size(1000), "1000 B"}, {size(4096), "4 KiB"}, {size(271564800), "258.98 MiB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

type failingWriter struct{}

var errFull = errors.New("disk full")

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReported(t *testing.T) {
	for name, print := range map[string]func(io.Writer) error{
		"text":  func(w io.Writer) error { return Text(w, results["good"]) },
		"json":  func(w io.Writer) error { return JSON(w, results["good"]) },
		"table": func(w io.Writer) error { return (&Table{Head: []string{"a"}}).Write(w) },
	} {
		if err := print(failingWriter{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", name, err, errFull)
		}
	}
}
