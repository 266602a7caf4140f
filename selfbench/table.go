package selfbench

import (
	"fmt"
	"slices"
	"time"

	"kernbench/lab/run"
)

// Table is the result of a measurement, with its origin. A file keeps it as JSON: see Load.
type Table struct {
	Origin
	Command string `json:"command"`
	Runs    int    `json:"runs"` // of each row, unless it has its own number
	Rows    []Row  `json:"rows"`

	Compared string  `json:"compared_with,omitempty"` // file whose figures stand next to these
	Before   *Origin `json:"compared_from,omitempty"` // of those

	MadeBy run.MadeBy `json:"made_by"` // its machine is the computer that measured
}

// Origin is the version, place and time of a measurement.
type Origin struct {
	Kernbench string    `json:"kernbench"` // version
	Machine   Machine   `json:"machine"`
	Date      time.Time `json:"date"`
}

// Row is one piece of work, with its figures.
type Row struct {
	Name    string   `json:"name"`
	Work    string   `json:"work"`
	Command string   `json:"command,omitempty"` // command that was timed; empty: in this process
	Runs    int      `json:"runs"`              // complete runs
	Figures []Figure `json:"figures"`
	Outcome *Outcome `json:"outcome,omitempty"` // of the command
	Note    string   `json:"note,omitempty"`    // why there are fewer runs, or none
	Only    Side     `json:"only,omitempty"`    // in a comparison: the only table with the row; empty: both

	Err error `json:"-"` // error of a command, other than the time limit
}

// Outcome is the result of a command's simulation. The speed of kernbench must not change it.
type Outcome struct {
	Simulated string `json:"simulated_time"`
	Messages  int64  `json:"messages"`
	Events    int64  `json:"events"`
}

// Side is one of two tables that are compared.
type Side string

// Sides.
const (
	Now Side = "now" // measured now, and not in the file
	Was Side = "was" // in the file, and not measured now
)

// Unit is the unit of a figure.
type Unit string

// Units.
const (
	Seconds Unit = "s"
	Bytes   Unit = "B"
	Number  Unit = "1"
	Times   Unit = "×"
)

// Figure is one number of a row, of all runs.
type Figure struct {
	What   string    `json:"what"`
	Unit   Unit      `json:"unit"`
	Values []float64 `json:"values"` // of each run
	Median float64   `json:"median"`
	Spread float64   `json:"spread"` // of the largest and the smallest, over the median
	Must   *Target   `json:"must,omitempty"`
	Aim    *Target   `json:"aim,omitempty"`

	Was   *float64 `json:"was,omitempty"` // median in the file that this is compared with
	Ratio *float64 `json:"ratio,omitempty"`
}

// Target is the value that a figure should reach.
type Target struct {
	Is      string  `json:"is"` // <, <= or >=
	Value   float64 `json:"value"`
	Reached bool    `json:"reached"`
}

// below returns the target "less than v".
func below(v float64) *Target   { return &Target{Is: "<", Value: v} }
func atMost(v float64) *Target  { return &Target{Is: "<=", Value: v} }
func atLeast(v float64) *Target { return &Target{Is: ">=", Value: v} }

// judged returns a target with whether a value reaches it.
func (t *Target) judged(v float64) *Target {
	if t == nil {
		return nil
	}
	j := *t
	switch t.Is {
	case "<":
		j.Reached = v < t.Value
	case "<=":
		j.Reached = v <= t.Value
	case ">=":
		j.Reached = v >= t.Value
	default:
		panic(fmt.Sprintf("selfbench: no target is %q", t.Is))
	}
	return &j
}

// add puts one run's value to a figure.
func (f *Figure) add(v float64) {
	f.Values = append(f.Values, v)
	sorted := slices.Sorted(slices.Values(f.Values))
	n := len(sorted)
	f.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	f.Spread = 0
	if f.Median != 0 {
		f.Spread = (sorted[n-1] - sorted[0]) / f.Median
	}
	f.Must, f.Aim = f.Must.judged(f.Median), f.Aim.judged(f.Median)
}

// Figure returns the figure with a name, or nil.
func (r *Row) Figure(what string) *Figure {
	for i := range r.Figures {
		if r.Figures[i].What == what {
			return &r.Figures[i]
		}
	}
	return nil
}

// Reached counts the figures with a target that they must reach, and those that reach it.
func (t *Table) Reached() (reached, of int) {
	for i := range t.Rows {
		if t.Rows[i].Only == Was {
			continue
		}
		for _, f := range t.Rows[i].Figures {
			if f.Must == nil {
				continue
			}
			of++
			if f.Must.Reached {
				reached++
			}
		}
	}
	return reached, of
}

// Failure is the error for a row that could not be measured. The rows are chosen here, so this is
// never the user's mistake.
type Failure struct {
	Row string
	Err error
}

func (f *Failure) Error() string { return fmt.Sprintf("row %s: %v", f.Row, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Err returns the error of the first row that could not be measured, or nil. Rows that reached the
// limit of time do not count.
func (t *Table) Err() error {
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Err != nil {
			return &Failure{r.Name, r.Err}
		}
	}
	return nil
}
