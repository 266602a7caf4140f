package report

import (
	"fmt"
	"io"
	"strings"

	"kernbench/lab/run"
)

// schedules lists the results of runs with random schedules, where they differ.
func schedules(w io.Writer, r *run.Result) {
	s := r.Schedules
	if s == nil || len(s.Outcomes) < 2 {
		return
	}
	const most = 8
	fmt.Fprintln(w)
	t := Table{Head: []string{"outcome", ">runs", "first", "what"}}
	for i := range s.Outcomes[:min(most, len(s.Outcomes))] {
		o := &s.Outcomes[i]
		first, what := o.Repeat, "right"
		switch {
		case o.Wrong:
			what = brief(o.What)
		case !o.Verified:
			what = "not verified"
		}
		if first == "" {
			first = "this run"
		}
		t.Add(o.Digest, count(int64(o.Runs)), first, what)
	}
	_ = t.Write(w) // into memory
	if n := len(s.Outcomes) - most; n > 0 {
		fmt.Fprintf(w, "... and %d more outcomes\n", n)
	}
}

// brief returns the beginning of the first line of a text.
func brief(text string) string {
	const most = 100
	text, _, _ = strings.Cut(text, "\n")
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most]), " ") + " ..."
	}
	return text
}
