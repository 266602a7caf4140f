package explain

import (
	"kernbench/record/trace"
	"kernbench/unit"
)

// steps returns the critical paths of all launches, for the trace of the run: the part that it has
// of simulated time.
func (x *explaining) steps() []trace.Step {
	var out []trace.Step
	from, to := x.job.TraceScope.From, x.job.TraceScope.To
	if to == 0 {
		to = unit.MaxTime
	}
	for _, v := range x.log.Runs() {
		pieces, _, err := x.chain(&v, nil)
		if err != nil {
			continue // a launch that did not end
		}
		for _, p := range pieces {
			start, end := max(p.start, from), min(p.end, to)
			if start >= end {
				continue
			}
			s := trace.Step{Start: start, End: end, Reason: p.why.String(), Operation: x.operation(p.Site), Resource: x.name(p.at)}
			if p.behind != 0 {
				s.Behind = x.operation(p.behind)
			}
			out = append(out, s)
		}
	}
	return out
}
