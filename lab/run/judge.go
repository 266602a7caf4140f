package run

import (
	"fmt"

	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// Judgement holds what was found about one collective: a verdict per group of ranks.
type Judgement struct {
	call     *device.Call
	Verdicts []*verify.Verdict // nil in a run without data
}

// expect returns a function that sums up contributions before they are overwritten, so no copy of
// them is needed. It returns nil if p.Inspect is set, because Inspect may ask for contributions.
func (out *Execution) expect(p Pass) func(*device.Call, *device.CallGroup, func(int) []byte) (bool, error) {
	if p.Inspect != nil {
		return nil
	}
	return func(c *device.Call, g *device.CallGroup, in func(int) []byte) (keep bool, err error) {
		e, err := verify.Expect(c.Collective, g.Call, in)
		if e != nil {
			out.expected[g] = e
		}
		return e == nil, err
	}
}

// judge checks the memory after a collective.
func (out *Execution) judge(x *Job, p Pass, data *oplog.Log, c *device.Call) error {
	j := Judgement{call: c}
	if data != nil {
		if p.Inspect != nil {
			if err := p.Inspect(data, c); err != nil {
				return err
			}
		}
		for i := range c.Groups {
			v, err := out.verify(x, data, c, &c.Groups[i])
			if err != nil {
				return err
			}
			j.Verdicts = append(j.Verdicts, v)
			g := &c.Groups[i] // what was kept has served its purpose, and can be large
			g.Inputs, g.Outputs, g.Provs, g.Wrote = nil, nil, nil, nil
			delete(out.expected, g)
		}
	}
	out.Judged = append(out.Judged, j)
	return nil
}

// verify judges the results of one group of ranks, and adds their bytes to a digest where that is
// asked for.
func (out *Execution) verify(x *Job, data *oplog.Log, c *device.Call, g *device.CallGroup) (*verify.Verdict, error) {
	outs, provs := g.Outputs, g.Provs
	if outs == nil {
		var err error
		if outs, provs, err = x.inMemory(data, c, g); err != nil {
			return nil, err
		}
	}
	if x.Schedules > 0 { // they are compared with those of other runs
		for _, result := range outs {
			out.results.Write(result)
		}
	}
	in := verify.Input{
		Collective: c.Collective, Call: g.Call, Hasher: data.Hasher(),
		In:       func(r int) []byte { return g.Inputs[r] },
		Expected: out.expected[g],
		Out:      func(r int) []byte { return outs[r] },
		Prov:     func(r int) collective.Prov { return provs[r] },
		Wrote: func(r int) []int32 {
			if g.Wrote != nil {
				return g.Wrote[r]
			}
			return data.Writers(g.Out(r), g.Call.Type, c.Collective.Out(g.Call, r))
		},
		Operation: data.Why,
		Place:     func(r int) string { return x.Machine.PEName(int(g.PEs[r])) },
		Overflow:  data.Overflow(c.Turn),
	}
	if c.Plan.Algorithm.Idempotent && (g.Call.Op == tl.Max || g.Call.Op == tl.Min) {
		in.NotApplicable = fmt.Sprintf("%s may count a contribution twice, which %v does not notice", c.Plan.Name, g.Call.Op)
	}
	return verify.Check(in)
}

// inMemory finds the results of a group of ranks where they were left.
func (x *Job) inMemory(data *oplog.Log, c *device.Call, g *device.CallGroup) ([][]byte, []collective.Prov, error) {
	outs := make([][]byte, len(g.PEs))
	provs := make([]collective.Prov, len(g.PEs))
	for r := range g.PEs {
		n := c.Collective.Out(g.Call, r)
		if n == 0 {
			continue // it ends with nothing, as after a barrier
		}
		var err error
		if outs[r], provs[r], err = data.View(g.Out(r), g.Call.Type, n); err != nil {
			return nil, nil, fmt.Errorf("result of rank %d (%s): %w", r, x.Machine.PEName(int(g.PEs[r])), err)
		}
	}
	return outs, provs, nil
}

// rankOf returns the number of a rank of a group among all ranks of the run. It is its PE, or the
// rank itself with rank_level: sip, where a rank is a SIP.
func rankOf(c *device.Call, g, rank int) int {
	if c.Plan.PerSIP() {
		return rank
	}
	return int(c.Groups[g].PEs[rank])
}

// Wrong reports whether the result of a collective is wrong.
func (out *Execution) Wrong() bool {
	for _, j := range out.Judged {
		for _, v := range j.Verdicts {
			if v.RanksFail > 0 || v.Provenance.Status == verify.Fail || v.Values.Status == verify.Fail {
				return true
			}
		}
	}
	return false
}

// failures describes the first failing ranks.
func (j *Judgement) failures(dst []Failure) []Failure {
	for g, v := range j.Verdicts {
		labels := j.call.Groups[g].Call.Labels
		for _, found := range v.Failures {
			if len(dst) == MaxFailures {
				return dst
			}
			f := Failure{
				Collective: j.call.Title, Rank: found.Rank, PE: found.Place, Index: found.Element,
				Elements: found.Wrong, Question: provenance,
				Got: found.Got, Expected: found.Want, Reason: found.Reason,
				Missing: ranksOf(found.Missing, labels), Duplicated: ranksOf(found.Duplicated, labels), Times: times(found.Duplicated),
			}
			if !found.Contributors {
				f.Question = values
			}
			dst = append(dst, f)
		}
	}
	return dst
}

// times lists how often contributors are there.
func times(cs []collective.Contributor) []int {
	var n []int
	for _, c := range cs {
		n = append(n, int(c.Count))
	}
	return n
}

// ranksOf lists contributors by their rank in the group whose labels these are.
func ranksOf(cs []collective.Contributor, labels collective.Ranks) []int {
	var ranks []int
	for _, c := range cs {
		ranks = append(ranks, c.Rank-labels.First)
	}
	return ranks
}
