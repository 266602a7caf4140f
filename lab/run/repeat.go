package run

import (
	"fmt"
	"slices"

	"kernbench/bench"
)

// A run is a pure function of its spec. It may be performed several times with the same schedule:
// to explain a failure, for the judge of races, or together with other schedules. Then the results
// are compared, as far as the passes have them.

// differs returns the differences of another execution of the same spec and schedule; "" if
// nothing.
func (out *Execution) differs(err error, other *Execution, again error) string {
	switch {
	case (err == nil) != (again == nil):
		return fmt.Sprintf("it %s, and then it %s", ending(err), ending(again))
	case err != nil:
		return "" // which of several faults comes first depends on what else a pass looks at
	case len(out.Launches) != len(other.Launches):
		return fmt.Sprintf("%d launches, and then %d", len(out.Launches), len(other.Launches))
	}
	for i, l := range out.Launches {
		a, b := &l.Result, &other.Launches[i].Result
		if a.Duration() != b.Duration() {
			return fmt.Sprintf("launch %d took %v, and then %v", i+1, a.Duration(), b.Duration())
		}
		if a.Messages != b.Messages || a.Bytes != b.Bytes || !slices.Equal(a.Traffic, b.Traffic) {
			return fmt.Sprintf("launch %d moved %d bytes in %d messages, and then %d in %d, or others of its traffic",
				i+1, a.Bytes, a.Messages, b.Bytes, b.Messages)
		}
	}
	return out.resultsDiffer(other)
}

// resultsDiffer compares what judges found of the results.
func (out *Execution) resultsDiffer(other *Execution) string {
	const different = "different results"
	same := func(a, b bench.Values) bool { return a.Digest == b.Digest && a.Wrong == b.Wrong }
	if len(out.Judged) != len(other.Judged) || !slices.EqualFunc(out.values, other.values, same) {
		return different
	}
	for i := range out.Judged {
		vs, ws := out.Judged[i].Verdicts, other.Judged[i].Verdicts
		if len(vs) != len(ws) {
			return different
		}
		for k, v := range vs {
			w := ws[k]
			if v.Wrong != w.Wrong || v.DistinctResults != w.DistinctResults || v.DifferingRanks != w.DifferingRanks ||
				!slices.Equal(v.Failing, w.Failing) {
				return different
			}
			for j := range v.Failures {
				if v.Failures[j].Element != w.Failures[j].Element || v.Failures[j].Got != w.Failures[j].Got {
					return different
				}
			}
		}
	}
	return ""
}

// ending returns how a run ended.
func ending(err error) string {
	if err == nil {
		return "came to its end"
	}
	return fmt.Sprintf("failed (%.200s)", timeless(err))
}

// differently reports that the run came out otherwise when it was repeated. Then the conclusions
// from one run do not hold for others.
func (r *Result) differently(what string) {
	if r.changed {
		return
	}
	r.changed = true
	r.Notes = append(r.Notes, "the run came out differently when it was repeated with the same schedule: "+what+
		"; does a kernel or a bench use random numbers, the clock, the order of a map, or variables that outlive a launch?")
	r.Class = nil
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Question == races && v.State == Checked {
			v.State, v.Detail = NotChecked, "no hazards found, but the run came out differently when it was repeated"
		}
	}
}
