package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kernbench/check/numerics"
	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// rounding has a row of each kind.
func rounding() *perf.Rounding {
	yes, no := true, false
	setting := []sweep.Setting{{Key: "accumulate", Value: "same"}}
	row := perf.RoundingRow{Size: 1024, Count: 512, Type: "bf16", RedOp: "sum", Root: -1, Algorithm: "ring", Ranks: 8,
		Settings: setting, Inputs: "ones"}
	good, bad, none := row, row, row
	cut := []perf.Chunking{{Name: "as it is"}, {Name: "count/2"}, {Name: "chunk_size"}, {Name: "slots", Error: "deadlock"}}
	good.RoundingFound = &perf.RoundingFound{
		Report:    numerics.Report{Elements: 8, MinHeight: 7, MaxHeight: 7, MaxULP: 0.5, MeanULP: 0.001234, BoundULP: 6.125},
		Additions: 1000, Stalled: 10, FirstStalled: &perf.Origin{Rank: 3}, RanksAgree: &yes, ChunkingAgrees: &no, Bits: "A", Hash: "0123",
		Chunkings: cut, Time: 1500 * unit.Nanosecond, Moved: 77,
	}
	found := *good.RoundingFound
	found.MinHeight, found.MaxULP, found.BoundULP, found.Beyond, found.Overflow, found.Stalled = 3, 123456, math.Inf(1), 2, 1, 11
	found.FirstOverflow, found.RanksAgree, found.ChunkingAgrees = &perf.Origin{Element: 5}, &no, nil
	bad.RoundingFound, bad.Note, bad.Algorithm = &found, "2 elements are off\nin two lines", "a_longer_name"
	none.Note = "too large"
	return &perf.Rounding{
		Collective: "all_reduce", Executor: "sim", Fidelity: "slot", Machine: "1 SIP", Ranks: 8, Seed: 9, Timed: true,
		Algorithms: []string{"ring", "a_longer_name"}, Inputs: []string{"ones", "uniform"}, Notes: []string{"mind the gap"},
		Varied: []sweep.Variation{{Key: "accumulate", Values: []string{"same", "f32"}}},
		MadeBy: made("", "0123456789abcdef"), Planned: 5, Rows: []perf.RoundingRow{good, bad, none},
	}
}

// written returns the output of a writer for it.
func written(t *testing.T, n *perf.Rounding, w interface {
	Begin(*perf.Rounding) error
	Row(*perf.Rounding, *perf.RoundingRow) error
	End(*perf.Rounding) error
}) {
	t.Helper()
	err := w.Begin(n)
	for i := range n.Rows {
		if err == nil {
			err = w.Row(n, &n.Rows[i])
		}
	}
	if err == nil {
		err = w.End(n)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNumericsTable(t *testing.T) {
	n := rounding()
	var b strings.Builder
	written(t, n, &NumericsTable{W: &b})
	const want = `# Rounding in all_reduce, against exact sums: inputs ones, uniform, seed 9
#  8 ranks on 1 SIP (sim, fidelity slot)
# note: mind the gap
#
#       size         count   type  redop  root   height   max ulp  mean ulp     bound  within  overflow   stalled   ranks  chunks  bits      time       moved  algorithm      inputs   accumulate
#        (B)    (elements)                                                      (ulp)                                                        (us)         (B)
        1024           512   bf16    sum    -1        7      0.50   1.2e-03      6.12     yes         0     1.00%    same  differ     A      1.50          77  ring           ones     same
        1024           512   bf16    sum    -1      3-7  1.23e+05   1.2e-03      +Inf      NO         1     1.10%  differ       -     A      1.50          77  a_longer_name  ones     same        # 2 elements are off
#   overflows first: element 5 of 
#   stalls first: element 0 of 
        1024           512   bf16    sum    -1      N/A       N/A       N/A       N/A     N/A       N/A       N/A     N/A     N/A   N/A       N/A         N/A  ring           ones     same        # too large
# Results beyond their bound : 2 FAILED
# chunks: compared, on common elements, with: half the elements; another chunk_size
# interrupted: 2 rows not examined
`
	if b.String() != want {
		t.Errorf("found\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	n.Ranks, n.Varied, n.Rows, n.Planned, n.Fidelity, n.Executor = 0, nil, n.Rows[2:], 1, "", "mock"
	n.Rows[0].Settings = nil
	written(t, n, &NumericsTable{W: &b})
	for _, line := range []string{"#  ranks on 1 SIP (mock)\n", "bound : N/A\n",
		"to compare with partial sums in f32: --vary accumulate=same,f32\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is missing in\n%s", line, b.String())
		}
	}
}

// Every line has the fields of the first, empty where there is nothing.
func TestNumericsCSV(t *testing.T) {
	n := rounding()
	var b strings.Builder
	written(t, n, &NumericsCSV{W: &b})
	lines, err := csvLines(strings.NewReader(b.String())) // which checks the number of fields
	if err != nil || len(lines) != 4 {
		t.Fatalf("%d lines, %v\n%s", len(lines), err, b.String())
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	for name, want := range map[string]string{
		"accumulate": "same", "min_height": "3", "height": "7", "max_ulp": "123456", "bound_ulp": "+Inf", "overflow": "1", "stalled": "11",
		"ranks_agree": "false", "chunking_agrees": "", "time_us": "1.5", "moved_bytes": "77", "note": "2 elements are off",
	} {
		if got := lines[2][at[name]]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if got := lines[3][at[name]]; got != "" && name != "accumulate" && name != "note" {
			t.Errorf("%s is %q where nothing was found", name, got)
		}
	}
}

func TestULPs(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.004: "4.0e-03", 0.01: "0.01", 12.345: "12.35", 99999: "99999.00", 1e5: "1.00e+05"} {
		if got := ulps(v); got != want {
			t.Errorf("%v is printed %s, want %s", v, got, fmt.Sprint(want))
		}
	}
}
