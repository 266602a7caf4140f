package run

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"sync"

	"kernbench/fault"
	"kernbench/unit"
)

// Schedules holds what a run and further ones with random schedules came to.
type Schedules struct {
	Asked    int       `json:"asked"` // further runs
	Done     int       `json:"done"`
	Outcomes []Outcome `json:"outcomes"` // different outcomes, in the order in which they came up; the first is that of the run itself
}

// Outcome holds what one or more schedules came to.
type Outcome struct {
	Digest   string `json:"digest"`             // of the bytes of all results, or of the fault
	Schedule uint64 `json:"schedule"`           // the first that came to it; 0: the executor's own
	Runs     int    `json:"runs"`               // how many came to it
	Wrong    bool   `json:"wrong"`              // a fault, or results that are not right
	What     string `json:"what,omitempty"`     // what is wrong, in the first such run
	Repeat   string `json:"repeat,omitempty"`   // what to add to the command to see it again
	Verified bool   `json:"verified,omitempty"` // the results were checked
}

// schedules runs a spec again, first with its own schedule and then with random ones, and compares
// what comes out. The error reports why a schedule could not be run.
func (x *Job) schedules(ctx context.Context, r *Result, first *Execution, fault1 error) error {
	s := &Schedules{Asked: x.Schedules}
	r.Schedules = s
	own := x.outcome(first, fault1)
	s.add(own, x.Schedule)
	defer func() {
		v := s.verdict()
		if r.changed && v.State == Checked {
			v.State, v.Detail = Failed,
				"the run comes out differently when it is repeated with the same schedule: other schedules prove nothing"
		}
		r.Verdicts = append(r.Verdicts, v)
	}()
	if err := x.repeat(ctx, r, first, fault1, own); err != nil {
		return err
	}
	for k := range uint64(x.Schedules) {
		if x.Progress != nil {
			x.Progress(Progress{Phase: "schedules", Done: int64(s.Done), Total: int64(s.Asked)})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := x.Execute(ctx, Pass{Quiet: true, schedule: k + 1})
		if err != nil && !fault.Is(err) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("schedule %d: %w", k+1, err)
		}
		s.Done++
		s.add(x.outcome(out, err), k+1)
	}
	return nil
}

// repeat runs a spec again with its own schedule.
func (x *Job) repeat(ctx context.Context, r *Result, first *Execution, fault1 error, own Outcome) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case r.changed:
		return nil
	}
	second, again := x.Execute(ctx, Pass{Quiet: true, schedule: x.Schedule})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case again != nil && !fault.Is(again):
		return fmt.Errorf("when repeated: %w", again)
	}
	what := first.differs(fault1, second, again)
	if faults := fault1 != nil; what == "" && !(faults && x.races()) && x.outcome(second, again).Digest != own.Digest {
		what = "different results"
	}
	if what != "" {
		r.differently(what)
	}
	return nil
}

// add counts an outcome.
func (s *Schedules) add(o Outcome, schedule uint64) {
	for i := range s.Outcomes {
		if s.Outcomes[i].Digest == o.Digest {
			s.Outcomes[i].Runs++
			return
		}
	}
	o.Schedule, o.Runs = schedule, 1
	if len(s.Outcomes) > 0 {
		o.Repeat = fmt.Sprintf("--schedule %d", schedule)
	}
	s.Outcomes = append(s.Outcomes, o)
}

// outcome returns what a run came to.
func (x *Job) outcome(out *Execution, err error) Outcome {
	if err != nil {
		text := timeless(err)
		out.results.Reset()
		out.results.Write([]byte(text))
		return Outcome{Digest: hex.EncodeToString(out.results.Sum(nil)[:8]), Wrong: true, What: text}
	}
	for _, v := range out.values {
		out.results.Write(binary.LittleEndian.AppendUint64(nil, v.Digest))
	}
	o := Outcome{Digest: hex.EncodeToString(out.results.Sum(nil)[:8]), Verified: len(out.Judged) > 0 || len(out.values) > 0}
	results := *out
	results.races = nil // hazards say what could happen, not what did
	var r Result
	x.verdicts(&r, &results, nil)
	if !r.OK() {
		o.Wrong, o.What = true, FirstWrong(&r, nil)
	}
	return o
}

// whens are the times and source lines in the text of a fault. The times depend on the schedule,
// and the lines on whether they were kept.
var whens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`,?( since)? t=[0-9.]+[a-zµ]+| at [A-Za-z0-9_./-]+\.go:[0-9]+`)
})

// timeless returns the text of a fault without what does not belong to it.
func timeless(err error) string {
	if d, ok := errors.AsType[*fault.Deadlock](err); ok {
		bare := *d
		bare.Rings, bare.Queues = nil, nil
		err = &bare
	}
	if p, ok := errors.AsType[*fault.Panic](err); ok {
		bare := *p
		bare.Stack = ""
		err = &bare
	}
	return whens().ReplaceAllString(err.Error(), "")
}

// verdict writes whether the results depend on the schedule.
func (s *Schedules) verdict() Verdict {
	v := Verdict{Question: schedules, State: Checked}
	bad, unverified := 0, false
	for _, o := range s.Outcomes {
		if o.Wrong {
			bad++
		}
		unverified = unverified || !o.Verified
	}
	switch n := len(s.Outcomes); {
	case s.Done == 0:
		return Verdict{schedules, NotChecked, "interrupted"}
	case n == 1 && bad == 0 && s.Done < s.Asked:
		v.State, v.Detail = NotChecked, fmt.Sprintf("interrupted: %d of %d more schedules came to the same result, bit by bit",
			s.Done, s.Asked)
	case n == 1 && bad == 0:
		v.Detail = fmt.Sprintf("%s came to the same result, bit by bit", unit.Count(s.Done, "more schedule"))
	case n == 1:
		v.State, v.Detail = Failed, fmt.Sprintf("%s came to the same result, which is wrong", unit.Count(s.Done, "more schedule"))
	case bad > 0:
		v.State, v.Detail = Failed, fmt.Sprintf("%d different outcomes in %d runs, %d of them wrong", n, s.Done+1, bad)
	case unverified:
		v.State, v.Detail = Failed, fmt.Sprintf("%d different results in %d runs, and which is right is unknown", n, s.Done+1)
	default:
		v.Detail = fmt.Sprintf("%d different results in %d runs, all within their bounds", n, s.Done+1)
		if s.Done < s.Asked {
			v.State, v.Detail = NotChecked, "interrupted: "+v.Detail
		}
	}
	return v
}
