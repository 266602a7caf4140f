package plan

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the kind of a finding. Smaller ones come first in reports.
type Verdict uint8

// Verdicts, the most severe first.
const (
	ParseReject     Verdict = iota // the file cannot be read: file, line and attribute are named
	IllFormed                      // it can be read, and breaks a rule of the format
	Deadlock                       // some block waits forever
	Wrong                          // outputs do not hold the collective's result
	Race                           // two accesses of one cell, one of them a write, without order
	UndefinedRead                  // a cell is read before anything was written to it
	Leftover                       // messages are left in a channel
	NoPostcondition                // the expected outputs are unknown
	OK
)

var verdictNames = [...]string{"PARSE-REJECT", "ILL-FORMED", "DEADLOCK", "WRONG", "RACE", "UNDEFINED-READ",
	"LEFTOVER", "NO-POSTCONDITION", "OK"}

func (v Verdict) String() string { return verdictNames[v] }

// MarshalText gives the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a verdict's name.
func (v *Verdict) UnmarshalText(b []byte) error {
	i := slices.Index(verdictNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("found verdict %q, want one of %s", b, strings.Join(verdictNames[:], ", "))
	}
	*v = Verdict(i)
	return nil
}

// Finding is one thing that was found.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	File    string  `json:"file,omitempty"`
	Line    int     `json:"line,omitempty"`
	Text    string  `json:"text"`
}

func (f Finding) String() string {
	return f.Verdict.String() + " " + f.Place() + f.Text
}

// Place returns the place of the finding in the files, followed by a colon, or "".
func (f Finding) Place() string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: ", f.File, f.Line)
	case f.File != "":
		return f.File + ": "
	case f.Line > 0:
		return fmt.Sprintf("line %d: ", f.Line)
	}
	return ""
}

// Verdicts returns those of findings, each once and the most severe first; OK if there are none.
func Verdicts(findings []Finding) []Verdict {
	var vs []Verdict
	for _, f := range findings {
		vs = append(vs, f.Verdict)
	}
	slices.Sort(vs)
	vs = slices.Compact(vs)
	if len(vs) == 0 {
		vs = []Verdict{OK}
	}
	return vs
}
