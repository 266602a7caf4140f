package run

import (
	"slices"
	"strings"

	"kernbench/device"
)

// turns counts the collectives that programs of streams performed, and names their kinds.
func (x *Job) turns(r *Result, out *Execution) {
	calls := []*device.Call{out.call} // it may not have ended
	for _, j := range out.Judged {
		calls = append(calls, j.call)
		if j.call.Title != "" {
			r.Collectives++
		}
	}
	if out.call.Title == "" && r.Collectives == 0 {
		return
	}
	var names, whats []string
	for _, c := range calls {
		if !slices.Contains(names, c.Plan.Name) {
			names = append(names, c.Plan.Name)
		}
		if !slices.Contains(whats, c.Collective.Name) {
			whats = append(whats, c.Collective.Name)
		}
		if c.ElemsPerRank() != r.ElemsPerRank || c.Groups[0].Call.Type.String() != r.DType {
			r.ElemsPerRank, r.BytesPerRank = 0, 0 // no number holds for all
		}
	}
	r.Algorithm, r.Collective = strings.Join(names, ", "), strings.Join(whats, ", ")
}
