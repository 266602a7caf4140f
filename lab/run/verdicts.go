package run

import (
	"errors"
	"fmt"
	"strings"

	"kernbench/bench"
	"kernbench/check/race"
	"kernbench/check/verify"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/fault"
)

// Every run answers these questions, or gives the reason why it does not.
const (
	provenance = "provenance"
	values     = "values"
	deadlock   = "deadlock"
	races      = "race"
	schedules  = "schedules" // where they were asked for, or where they matter
)

// add notes the flag that answers a question, or why this executor cannot answer it.
func (x *Job) add(flag string, needs exec.Capability) string {
	if err := x.row.Needs(needs); err != nil {
		return err.Error()
	}
	return "add " + flag
}

// verdicts fills in the answers, the counts of ranks and the failures.
func (x *Job) verdicts(r *Result, out *Execution, err error) {
	p := Verdict{Question: provenance, State: NotChecked, Detail: x.add("--verify-data", exec.Data)}
	v := Verdict{Question: values, State: NotChecked, Detail: p.Detail}
	switch {
	case err != nil && x.VerifyData:
		p.Detail, v.Detail = "the run did not end", "the run did not end"
	case !x.VerifyData:
	case len(out.Judged) > 0:
		p, v = x.collectives(r, out)
		if own := programValues(r, out.values); own.State == Failed || v.State == Checked && own.State == Checked {
			switch {
			case own.State == Checked || v.State == Failed:
				v.Detail += "; " + own.Detail
			default:
				v = own
			}
		}
	default:
		p = Verdict{provenance, NotApplicable, "no collective"}
		v = programValues(r, out.values)
	}
	r.Verdicts = []Verdict{p, v, x.deadlock(out, err), x.raceVerdict(r, out, err)}
	if x.Schedules == 0 && out.races != nil && out.races.Class == race.Scheduled {
		r.Verdicts = append(r.Verdicts, Verdict{schedules, NotChecked, "add --seeds N for N other ones"})
	}
}

func (x *Job) deadlock(out *Execution, err error) Verdict {
	var d *fault.Deadlock
	switch {
	case errors.As(err, &d):
		return Verdict{deadlock, Failed, d.Extent()}
	case err != nil:
		return Verdict{deadlock, NotChecked, "the run did not end"}
	case !HasRings(out.Plan):
		return Verdict{deadlock, Checked, "all kernels ended"}
	}
	if err := x.row.Needs(exec.Rings); err != nil {
		return Verdict{deadlock, NotChecked, err.Error()}
	}
	return Verdict{deadlock, Checked, "all kernels ended and took all messages, with " + slotsOf(out.Plan)}
}

// slotsOf returns the number of slots of a plan's rings.
func slotsOf(p *device.Plan) string {
	s := fmt.Sprintf("%d slots per direction", p.Ring.Slots)
	if p.Ring.Mixed {
		s += " but " + p.Config.RingSlots
	}
	return s
}

// collectives joins the verdicts of all collectives and groups of a run.
func (x *Job) collectives(r *Result, out *Execution) (p, v Verdict) {
	var ps, vs []verify.Question
	failed := map[int]bool{} // a rank is right only if it is in all groups
	for _, j := range out.Judged {
		for i, g := range j.Verdicts {
			ps, vs = append(ps, g.Provenance), append(vs, g.Values)
			for _, rank := range g.Failing {
				failed[rankOf(j.call, i, rank)] = true
			}
		}
		r.Failures = j.failures(r.Failures)
	}
	r.RanksChecked, r.RanksFailed = true, len(failed)
	r.RanksOK = r.WorldSize - r.RanksFailed
	return join(provenance, ps), join(values, vs)
}

// states has the weight of each status of verify among several, and its state in a result.
var states = map[verify.Status]struct {
	weight int
	state  State
}{
	verify.OK: {0, Checked}, verify.NotApplicable: {1, NotApplicable}, verify.NotChecked: {2, NotChecked}, verify.Fail: {3, Failed},
}

// join returns the worst of several answers to one question.
func join(question string, qs []verify.Question) Verdict {
	worst, n := verify.Question{Status: verify.NotChecked}, 0
	for i, q := range qs {
		switch {
		case i == 0 || states[q.Status].weight > states[worst.Status].weight:
			worst, n = q, 1
		case q.Status == worst.Status:
			n++
		}
	}
	detail := worst.Text
	if n > 1 && worst.Status == verify.Fail {
		detail += fmt.Sprintf("; and in %d more collectives", n-1)
	}
	return Verdict{question, states[worst.Status].state, detail}
}

// programValues returns the verdict on what a program compared itself.
func programValues(r *Result, all []bench.Values) Verdict {
	if len(all) == 0 {
		return Verdict{values, NotApplicable, "the bench compares nothing"}
	}
	judged := r.RanksChecked // ranks are counted by what they ended a collective with
	r.RanksChecked = true
	var good, bad []string
	elements := 0
	for _, c := range all {
		if elements += c.Elements; c.Wrong == 0 {
			good = append(good, fmt.Sprintf("%s: %d elements", c.What, c.Elements))
			continue
		}
		bad = append(bad, fmt.Sprintf("%s: %d of %d elements differ, first %d: got %v, expected %v ± %.3g",
			c.What, c.Wrong, c.Elements, c.First, c.Got, c.Want, c.Bound))
	}
	const most = 3 // listed one by one
	if len(bad) > 0 {
		r.RanksFailed, r.RanksOK = r.WorldSize, 0 // the ranks of wrong values are unknown
		if n := len(bad) - most; n > 0 {
			bad = append(bad[:most], fmt.Sprintf("and %d results more", n))
		}
		return Verdict{values, Failed, strings.Join(bad, "; ")}
	}
	if !judged {
		r.RanksOK = r.WorldSize
	}
	if len(good) > most {
		good = []string{fmt.Sprintf("%d results of %d elements in all", len(good), elements)}
	}
	return Verdict{values, Checked, strings.Join(good, ", ")}
}
