package report

import (
	"fmt"
	"io"
	"strings"

	"kernbench/lab"
)

// schedules lists what runs with random schedules came to, where they differ.
func schedules(w io.Writer, r *lab.Result) {
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
			what, _, _ = strings.Cut(o.What, "\n")
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
