package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"kernbench/dtype"
	"kernbench/lab/limits"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

func elements(n int64) *int64 { return &n }

// made returns a MadeBy of a fixed version.
func made(command string, machines ...string) run.MadeBy {
	p := run.NewMadeBy(command, machines...)
	p.Version = "v1.2.3"
	return p
}

// everySweep has a row of each kind.
func everySweep() *perf.Sweep {
	both := []sweep.Setting{{Key: "n_slots", Value: "2"}, {Key: "cube.noc.link_bw_gbs", Value: "1024"}}
	return &perf.Sweep{
		Collective: "all_reduce", NCCL: "all_reduce", Executor: "sim", Fidelity: "slot", Machine: "2 SIPs × 16 cubes × 8 PEs", Ranks: 8,
		Min: 8, Max: 128 * unit.MiB, Factor: 2, Iterations: 20, Warmup: 1, Check: true, Timed: true,
		Algorithms: []string{"ring_allreduce", "tree"}, Notes: []string{"one iteration is all"},
		Varied:  []sweep.Variation{{Key: "n_slots", Values: []string{"2", "16"}}, {Key: "cube.noc.link_bw_gbs", Values: []string{"1024"}}},
		Planned: 6, Wrong: 7, Checked: true, AvgBusBW: 123.4567891,
		MadeBy: made("kernbench perf all_reduce", "0123456789abcdef", "fedcba9876543210"),
		Rows: []perf.Row{
			{
				Size: 8, Count: 2, Type: "f32", RedOp: "sum", Root: -1, Algorithm: "ring_allreduce", Ranks: 8, Settings: both,
				OutOfPlace: &sweep.Placement{Time: 331_250 * unit.Picosecond, AlgBW: 0.02415, BusBW: 0.0422641, Wrong: elements(0)},
				InPlace:    &sweep.Placement{Time: 12345678 * unit.Nanosecond, AlgBW: 123.456, BusBW: 4567.891, Wrong: elements(7)},
			},
			{
				Size: 134217728, Count: 33554432, Type: "bf16", RedOp: "none", Root: 255, Algorithm: "tree", Ranks: 8,
				Settings: both, Launch: 8400 * unit.Nanosecond,
				OutOfPlace: &sweep.Placement{Time: 99999_999 * unit.Nanosecond, AlgBW: 123456.7, BusBW: 12345678},
				Note:       "not checked: too large",
			},
			{
				Size: 16, Count: 4, Type: "f32", RedOp: "sum", Root: -1, Algorithm: "tree", Ranks: 8, Settings: both,
				OutOfPlace: &sweep.Placement{Error: "deadlock: 4 of 4 ranks\n  cycle: 0 -> 1", Err: errors.New("deadlock")},
				InPlace:    &sweep.Placement{Time: unit.Microsecond, AlgBW: 1, BusBW: 1, Wrong: elements(0)},
			},
			{
				Size: 24, Count: 6, Type: "f32", RedOp: "sum", Root: -1, Algorithm: "tree", Ranks: 8, Settings: both,
				Note: "a power of two is needed",
			},
		},
	}
}

// bounded is that sweep with bounds: some near and some far, and none where there is no
// number.
func bounded() *perf.Sweep {
	s := everySweep()
	s.Bound = true
	number := func(v float64) *float64 { return &v }
	for i, b := range []perf.Bound{
		{
			Us: number(0.3312), Fraction: number(0.99985), Limit: limits.ByDistance,
			HardwareUs: number(0.3312), HardwareFraction: number(0.99985), HardwareLimit: limits.ByDistance,
		},
		{
			Us: number(1234567.8), Fraction: number(0.0123), Limit: limits.ByPipeline,
			HardwareUs: number(123456.78), HardwareFraction: number(0.00123), HardwareLimit: limits.ByCut,
		},
		{Us: number(0.25), Fraction: number(0.25), Limit: limits.BySlots},
		{},
	} {
		s.Rows[i].Bound = &b
	}
	return s
}

// perfWriter prints a sweep.
type perfWriter interface {
	Begin(*perf.Sweep) error
	Row(*perf.Sweep, *perf.Row) error
	End(*perf.Sweep) error
}

func printed(t *testing.T, w perfWriter, s *perf.Sweep) {
	t.Helper()
	err := w.Begin(s)
	for i := range s.Rows {
		err = errors.Join(err, w.Row(s, &s.Rows[i]))
	}
	if err = errors.Join(err, w.End(s)); err != nil {
		t.Fatal(err)
	}
}

func TestGoldenPerf(t *testing.T) {
	mock := everySweep()
	mock.Executor, mock.Fidelity, mock.Timed, mock.Step, mock.Factor = "mock", "", false, 16, 0
	mock.Wrong, mock.Planned, mock.Ranks, mock.Varied, mock.Algorithms = 0, 4, 0, nil, []string{"tree"}
	for i := range mock.Rows {
		mock.Rows[i].Settings = nil
	}
	for _, tt := range []struct {
		name  string
		print func(io.Writer) perfWriter
		sweep *perf.Sweep
	}{
		{"perf.text", func(w io.Writer) perfWriter { return &PerfTable{W: w} }, everySweep()},
		{"perf_mock.text", func(w io.Writer) perfWriter { return &PerfTable{W: w} }, mock},
		{"perf.csv", func(w io.Writer) perfWriter { return &PerfCSV{W: w} }, everySweep()},
		{"perf.json", func(w io.Writer) perfWriter { return PerfJSON{W: w} }, everySweep()},
		{"perf_nccl.json", func(w io.Writer) perfWriter {
			clock := time.Date(2026, 7, 1, 9, 30, 0, 0, time.UTC)
			return &PerfNCCL{W: w, Args: []string{"-t", "2"}, Threads: 2,
				Now: func() time.Time { clock = clock.Add(time.Second); return clock }}
		}, everySweep()},
		{"perf_bound.text", func(w io.Writer) perfWriter { return &PerfTable{W: w} }, bounded()},
		{"perf_bound.csv", func(w io.Writer) perfWriter { return &PerfCSV{W: w} }, bounded()},
		{"perf_bound.json", func(w io.Writer) perfWriter { return PerfJSON{W: w} }, bounded()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			printed(t, tt.print(&b), tt.sweep)
			golden(t, tt.name, b.Bytes())
		})
	}
}

// The columns of nccl-tests have widths of 12, 12, 8, 6, 6 and twice 7, 6, 6, 6. Two blanks
// separate them, and each number ends at the right end of its column.
func TestPerfColumns(t *testing.T) {
	var b bytes.Buffer
	printed(t, &PerfTable{W: &b}, everySweep())
	var head string
	rows := 0
	for line := range strings.Lines(b.String()) {
		switch {
		case strings.HasPrefix(line,
			"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong"):
			head = line
		case strings.HasPrefix(line, "#"):
		default:
			rows++
			at := 0
			for i, width := range []int{12, 12, 8, 6, 6, 7, 6, 6, 6, 7, 6, 6, 6} {
				if i > 0 && line[at:at+2] != "  " {
					t.Errorf("column %d begins too early: %q", i, line)
				}
				at += min(2*i, 2) + width
				if line[at-1] == ' ' || len(strings.Fields(line[at-width:at])) != 1 {
					t.Errorf("column %d of width %d is %q", i, width, line[at-width:at])
				}
				if head[at-1] == ' ' {
					t.Errorf("the heading of column %d ends before it", i)
				}
			}
		}
		if strings.HasSuffix(line, " \n") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
	if rows != 4 || head == "" {
		t.Errorf("%d rows under %q", rows, head)
	}
}

// Numbers keep to their column: they have two decimals while these fit, and finally a power of ten.
func TestPerfNumbers(t *testing.T) {
	for _, tt := range []struct {
		v     float64
		width int
		want  string
	}{
		{0, 6, "0.00"}, {0.004, 6, "0.00"}, {9.995, 6, "9.99"}, {123.456, 6, "123.46"}, {999.994, 6, "999.99"},
		{999.996, 6, "1000.0"}, {1234.56, 6, "1234.6"}, {9999.96, 6, "10000"}, {12345.6, 6, "12346"}, {999999.4, 6, "999999"},
		{999999.6, 6, "1e+06"}, {12345678, 6, "1e+07"},
		{1234.567, 7, "1234.57"}, {12345.67, 7, "12345.7"}, {1234567.8, 7, "1234568"}, {12345678, 7, "1.2e+07"},
	} {
		if got := fitting(tt.v, tt.width); got != tt.want || len(got) > tt.width {
			t.Errorf("%v in %d places is %q, want %q", tt.v, tt.width, got, tt.want)
		}
	}
}

// Programs read the output: each line has as many fields as headings, and the measured values.
func TestPerfIsReadable(t *testing.T) {
	var b bytes.Buffer
	printed(t, &PerfCSV{W: &b}, everySweep())
	lines, err := csvLines(&b)
	if err != nil || len(lines) != 5 || len(lines[0]) != 20 {
		t.Fatalf("%v, %q", err, lines)
	}
	if got := lines[1][10]; lines[0][10] != "out_of_place_time_us" || got != "0.33125" {
		t.Errorf("%s is %s, want 0.33125", lines[0][10], got)
	}
	printed(t, PerfJSON{W: &b}, everySweep())
	var back perf.Sweep
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if p := back.Rows[0].InPlace; len(back.Rows) != 4 || p.Time != 12345678*unit.Nanosecond || *p.Wrong != 7 ||
		back.Rows[1].InPlace != nil {
		t.Errorf("%+v", back)
	}
}

// Every element type has the name that nccl-tests prints, which is read back as that type.
func TestNCCLTypes(t *testing.T) {
	for _, typ := range dtype.Types() {
		name := ncclType(typ.String())
		if back, err := dtype.Parse(name); err != nil || back != typ || name == typ.String() {
			t.Errorf("%v prints as %q, which is read as %v, %v", typ, name, back, err)
		}
	}
}

// csvLines reads a CSV file with comments, and counts fields.
func csvLines(r io.Reader) ([][]string, error) {
	c := csv.NewReader(r)
	c.Comment = '#'
	return c.ReadAll()
}
