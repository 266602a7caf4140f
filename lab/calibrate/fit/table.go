package fit

import (
	"fmt"
	"slices"

	"kernbench/unit"
)

// Table holds what a collective was measured to take, by size.
type Table struct {
	Name string // of its file
	Form Form

	Collective string // as the table calls it, all_reduce or all_reduce_perf; "" where it does not say
	Ranks      int    // 0 where it does not say
	RanksLine  int    // where it says so in a line "# ranks: N"; else 0
	Type       string // of elements, as the table calls it; "" where it does not say
	RedOp      string
	Root       int  // -1 where there is none
	InPlace    bool // times are of results in the place of the contributions

	Header []Remark // what else the table states about itself, in its order
	Points []Point  // by size
	Notes  []string // what was left out, or put together
}

// Form is the format of a table.
type Form string

// The forms.
const (
	TSV  Form = "tsv"  // columns size_bytes and time_us below lines "# key: value"
	Text Form = "text" // what nccl-tests prints
	JSON Form = "json" // what nccl-tests writes with -J
)

// Remark is a line "# key: value".
type Remark struct{ Key, Value string }

// Point is one size.
type Point struct {
	Size unit.Bytes // as nccl-tests counts it
	Time unit.Time
	Line int // where the size stands first
}

// AlgBW returns the algbw of nccl-tests, in 1e9 bytes per second.
func (p Point) AlgBW() float64 { return float64(p.Size) / p.Time.Ns() }

// Lookup returns the value of a key of the header, or "".
func (t *Table) Lookup(key string) string {
	for _, r := range t.Header {
		if r.Key == key {
			return r.Value
		}
	}
	return ""
}

// ParseError is a mistake in a table.
type ParseError struct {
	File         string
	Line, Column int // from 1
	Text         string
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// row is a line of a table before it is a point.
type row struct {
	place
	size             int64
	us               float64
	typ, redop, root string
	column           place // of the type
}

// place is a position in the file, counted from 1.
type place struct{ line, column int }

func (t *Table) errorf(at place, format string, args ...any) error {
	return &ParseError{t.Name, at.line, at.column, fmt.Sprintf(format, args...)}
}

// The longest time and the largest size that make sense.
const (
	mostUs    = 3.6e9 // an hour
	mostBytes = int64(unit.TiB)
)

// finish makes points of rows. All must be of one call: a fit to two would be one to neither.
// Several rows of one size, as nccl-tests has with -N, are their mean.
func (t *Table) finish(rows []row) error {
	empty := 0
	at := map[int64]int{}
	sum, times := []float64{}, []int{}
	for i := range rows {
		r, first := &rows[i], &rows[0]
		switch {
		case r.typ != first.typ:
			return t.errorf(r.column, "found the type %q after %q in line %d, want one: leave the rows of the others out",
				r.typ, first.typ, first.line)
		case r.redop != first.redop:
			return t.errorf(r.column, "found the reduction %q after %q in line %d, want one: leave the rows of the others out",
				r.redop, first.redop, first.line)
		case r.root != first.root:
			return t.errorf(r.column, "found the root %s after %s in line %d, want one: leave the rows of the others out",
				r.root, first.root, first.line)
		case r.size == 0:
			empty++
			continue
		}
		k, again := at[r.size]
		if !again {
			k = len(t.Points)
			at[r.size] = k
			t.Points = append(t.Points, Point{Size: unit.Bytes(r.size), Line: r.line})
			sum, times = append(sum, 0), append(times, 0)
		}
		sum[k], times[k] = sum[k]+r.us, times[k]+1
	}
	for k := range t.Points {
		t.Points[k].Time = unit.Nanoseconds(sum[k] / float64(times[k]) * 1e3)
	}
	if n := len(rows) - empty - len(t.Points); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d rows have a size that another has, too: each size is the mean of its rows", n))
	}
	if empty > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d rows of size 0 are left out", empty))
	}
	slices.SortFunc(t.Points, func(a, b Point) int { return int(max(-1, min(1, a.Size-b.Size))) })
	return nil
}
