package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"time"

	"kernbench/lab/run"
	"kernbench/unit"
)

// Repairs prints the changes that were tried after a deadlock.
func Repairs(w io.Writer, r *run.Repairs) error {
	b := bufio.NewWriter(w)
	if r.Slots != "" {
		field(b, "slots", "%s", r.Slots)
	}
	if r.Silent {
		field(b, "sends", "none: no rank sends, even if all receives are left out: give each receive a send, or leave out the receive")
	}
	for i := range r.Found {
		field(b, "repair", "%s", repair(&r.Found[i]))
	}
	how := fmt.Sprintf("%d runs in %v", r.Tried, r.Took.Round(time.Millisecond))
	if r.Stopped {
		how += ", then the time limit (--repair) ended the search"
	}
	edits := slices.ContainsFunc(r.Found, func(x run.Repair) bool { return x.Line != "" })
	switch {
	case len(r.Found) == 0:
		field(b, "repair", "nothing found: %s", how)
		for _, what := range r.Fixed {
			field(b, "", "%s", what)
		}
		if n := len(r.Wrong); n > 0 {
			field(b, "", "%s: the run ends, and its results are wrong%s", r.Wrong[0], others(n-1))
		}
	case edits:
		field(b, "", "%s; an edit applies to its line in all iterations and on all ranks", how)
	default:
		field(b, "", "%s", how)
	}
	return b.Flush()
}

// others describes how many other changes have the same outcome.
func others(n int) string {
	if n == 0 {
		return ""
	}
	return ", also with " + unit.Count(n, "other change")
}

func repair(r *run.Repair) string {
	s := r.What + " works"
	if len(r.Also) > 0 {
		s += " (also at " + and(r.Also) + " ranks)"
	}
	if len(r.NotAt) > 0 {
		s += ", but not at " + and(r.NotAt) + " ranks"
	}
	if r.Races {
		s += ", and leaves a race: with other timings it may fail"
	}
	return s
}

func and(n []int) string {
	s := fmt.Sprint(n[0])
	for i, v := range n[1:] {
		if i == len(n)-2 {
			s += " and "
		} else {
			s += ", "
		}
		s += fmt.Sprint(v)
	}
	return s
}
