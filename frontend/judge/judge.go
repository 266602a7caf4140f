package judge

import (
	"fmt"

	"kernbench/frontend/plan"
)

// Judgment is the outcome of a plan.
type Judgment struct {
	Verdicts []plan.Verdict `json:"verdicts"` // the most severe first
	Findings []plan.Finding `json:"findings,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
	Stuck    *Stuck         `json:"deadlock,omitempty"`

	Right    int `json:"right"` // output cells with the expected contents
	Cells    int `json:"cells"` // output cells with expected contents
	Root     int `json:"root"`  // given or found; -1: none
	Races    int `json:"races"` // pairs of steps
	Steps    int `json:"steps"`
	Messages int `json:"messages"`
	Deepest  int `json:"deepest"` // most messages that were in one channel in the judge's own order
}

// OK reports whether everything was checked and nothing is wrong.
func (j *Judgment) OK() bool { return len(j.Verdicts) == 1 && j.Verdicts[0] == plan.OK }

// Judge executes a plan and returns all its mistakes.
func Judge(p *plan.Plan) *Judgment {
	r := newRun(p)
	r.order = &order{}
	r.data = newData(r)
	r.all()
	j := &Judgment{Root: plan.None, Steps: p.Steps(), Messages: p.Messages()}
	for i := range r.chans {
		j.Deepest = max(j.Deepest, r.chans[i].max)
	}
	if j.Stuck = r.stuck(); j.Stuck != nil {
		j.Findings = append(j.Findings, plan.Finding{Verdict: plan.Deadlock, Line: j.Stuck.Chain[0].Line, Text: j.Stuck.String()})
	} else {
		j.result(r)
	}
	races, pairs := r.data.races()
	j.Races = pairs
	if pairs > 0 && j.Stuck == nil && j.Right == j.Cells {
		if wrong := wrongIfGreedy(p, j.Root); wrong > 0 {
			races[0].Text += fmt.Sprintf("; if each block goes as far as it can, %d of %d chunks are wrong", wrong, j.Cells)
		}
	}
	j.Findings = append(j.Findings, races...)
	j.rest(plan.Race, pairs-len(races), "pairs of steps that nothing orders")
	if pairs == 0 && j.Stuck == nil {
		j.relaxed(p)
	}
	j.Findings = append(j.Findings, r.data.findings...)
	j.rest(plan.UndefinedRead, r.data.undefinedReads-len(r.data.findings), "reads of undefined cells")
	if j.Stuck == nil {
		j.leftover(r)
	}
	j.Verdicts = plan.Verdicts(j.Findings)
	return j
}

// rest adds a finding with the number of findings that are not listed.
func (j *Judgment) rest(v plan.Verdict, n int, what string) {
	if n > 0 {
		j.Findings = append(j.Findings, plan.Finding{Verdict: v, Text: fmt.Sprintf("%d more %s", n, what)})
	}
}

// wrongIfGreedy returns the number of cells that are wrong in another order of the steps.
func wrongIfGreedy(p *plan.Plan, root int) int {
	if p.Want == nil {
		return 0
	}
	r := newRun(p)
	r.greedy = true
	r.data = newData(r)
	r.all()
	wrong := 0
	var buf []plan.Contribution
	r.data.outputs(func(launch, rank, cell int, v value) {
		parts, asked := wanted(p.Want, buf, launch, root, rank, cell)
		if buf = parts[:0]; asked && !r.data.holds(v, parts) {
			wrong++
		}
	})
	return wrong
}

// relaxed notes accesses that only relaxed signals order, which order no memory.
func (j *Judgment) relaxed(p *plan.Plan) {
	if !hasRelaxed(p) {
		return
	}
	r := newRun(p)
	r.order, r.strict = &order{}, true
	r.data = newData(r)
	r.all()
	races, pairs := r.data.races()
	if pairs > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("%d pairs of steps are ordered by relaxed signals only, which order no memory: %s",
			pairs, races[0].Text))
	}
}

func hasRelaxed(p *plan.Plan) bool {
	for rank := range p.Ranks {
		for b := range p.Ranks[rank].Blocks {
			for i := range p.Ranks[rank].Blocks[b].Steps {
				if p.Ranks[rank].Blocks[b].Steps[i].Relaxed {
					return true
				}
			}
		}
	}
	return false
}

// leftover finds messages and signals that no block took.
func (j *Judgment) leftover(r *run) {
	for c := range r.chans {
		if n := len(r.chans[c].queue); n > 0 {
			j.Findings = append(j.Findings, plan.Finding{Verdict: plan.Leftover,
				Text: fmt.Sprintf("channel %s: %d of %d messages are left", r.plan.ChannelName(c), n, r.chans[c].sent)})
		}
	}
	for c := range r.counts {
		if n := len(r.counts[c].units) - r.plan.Counters[c].Start; n > 0 && !r.plan.Counters[c].Spare {
			j.Findings = append(j.Findings, plan.Finding{Verdict: plan.Leftover,
				Text: fmt.Sprintf("%s: %d signals are left, nothing waits for them", r.plan.Counters[c].Name, n)})
		}
	}
}

// Finishes carries out the steps of a plan without data, and returns the deadlock, or nil.
func Finishes(p *plan.Plan) *Stuck {
	r := newRun(p)
	r.greedy = true
	r.all()
	return r.stuck()
}
