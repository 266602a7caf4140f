package hccl

import (
	"fmt"
	"strings"

	"kernbench/fault"
)

// Severity is the severity of a Diagnostic.
type Severity uint8

// The severities: an Error breaks a rule, a Warning is allowed and probably not meant.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one mistake of a program with tasks: the place, what was found and what would be
// right.
type Diagnostic struct {
	Severity Severity
	Place    fault.Place // Rank is fault.Host for what the host does
	Block    int         // the core of the device, for a mistake of a kernel
	Core     string      // its type, or empty
	Call     string      // with its important arguments: Commit(handle 3)
	Rule     Rule
	Found    string
	Right    string // what to do instead, or empty
	Returned string // what the call returned; empty, or never
	Repeats  int    // number of times that the same was found again, on any core
}

// never is Diagnostic.Returned of a call that does not return.
const never = "never"

// String returns the diagnostic in one line.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString("hccl: ")
	if d.Severity == Warning {
		b.WriteString("warning: ")
	}
	if at := d.at(); at != "" {
		b.WriteString(at + ": ")
	}
	if d.Call != "" {
		b.WriteString(d.Call + ": ")
	}
	b.WriteString(d.Found)
	if d.Right != "" {
		b.WriteString(": " + d.Right)
	}
	var more []string
	switch d.Returned {
	case "":
	case never:
		more = append(more, "the call did not return")
	default:
		more = append(more, "returned "+d.Returned)
	}
	if d.Repeats > 0 {
		more = append(more, fmt.Sprintf("found %d times", d.Repeats+1))
	}
	if len(more) > 0 {
		b.WriteString(" (" + strings.Join(more, "; ") + ")")
	}
	fmt.Fprintf(&b, " [%s]", d.Rule)
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// at returns the place, with the core between the rank and the line.
func (d Diagnostic) at() string {
	p := d.Place
	p.Op = ""
	if p.Rank == fault.Host {
		return p.String()
	}
	core := fmt.Sprintf("block %d", d.Block)
	if d.Core != "" {
		core += " (" + d.Core + ")"
	}
	place := fault.Place{Rank: p.Rank, PE: p.PE}
	moment := fault.Place{Rank: fault.Host, Line: p.Line, Time: p.Time, Timed: p.Timed}
	return strings.TrimSpace(place.String() + " " + core + " " + moment.String())
}

// Misuse holds the mistakes of a program with tasks, in the order in which they were found, up to a
// limit.
type Misuse struct {
	Diagnostics []Diagnostic
	More        int // that were found after these
}

// maxDiagnostics is the largest number of diagnostics in a Misuse.
const maxDiagnostics = 100

// Add appends a diagnostic unless the list is full. A repetition of an earlier diagnostic of the
// same call is only counted.
func (m *Misuse) Add(d Diagnostic) {
	for i := range m.Diagnostics {
		if o := &m.Diagnostics[i]; o.same(&d) {
			o.Repeats += 1 + d.Repeats
			return
		}
	}
	if len(m.Diagnostics) == maxDiagnostics {
		m.More++
		return
	}
	m.Diagnostics = append(m.Diagnostics, d)
}

// find returns the index of the last equal diagnostic of a call, or -1.
func (m *Misuse) find(r Rule, call, found string) int {
	for i := len(m.Diagnostics) - 1; i >= 0; i-- {
		if d := &m.Diagnostics[i]; d.Rule == r && d.Call == call && d.Found == found {
			return i
		}
	}
	return -1
}

// same reports whether two diagnostics differ only in their core and time.
func (d *Diagnostic) same(o *Diagnostic) bool {
	return d.Rule == o.Rule && d.Place.Line == o.Place.Line && d.Place.Line != "" && d.Call == o.Call &&
		d.Found == o.Found && d.Severity == o.Severity
}

// Has reports whether a kept diagnostic names a rule.
func (m *Misuse) Has(r Rule) bool {
	for i := range m.Diagnostics {
		if m.Diagnostics[i].Rule == r {
			return true
		}
	}
	return false
}

// Error returns the diagnostics, one in a line; of many, the first ones.
func (m *Misuse) Error() string {
	const most = 10
	var b strings.Builder
	shown := min(most, len(m.Diagnostics))
	for i := range shown {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(m.Diagnostics[i].String())
	}
	if rest := len(m.Diagnostics) - shown + m.More; rest > 0 {
		fmt.Fprintf(&b, "\nhccl: and %d more", rest)
	}
	return b.String()
}

// Unwrap returns the first mistake of a kernel as a fault (fault.Is), nil if only the host made
// mistakes.
func (m *Misuse) Unwrap() error {
	for _, d := range m.Diagnostics {
		if d.Severity == Error && d.Place.Rank != fault.Host {
			return &fault.Misuse{Place: d.Place, Reason: d.Found}
		}
	}
	return nil
}

// err returns m as an error, nil if there are only warnings.
func (m *Misuse) err() error {
	for i := range m.Diagnostics {
		if m.Diagnostics[i].Severity == Error {
			return m
		}
	}
	return nil
}
