package frontend

import (
	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Hang is the sizes of call at which a program hangs.
type Hang struct {
	// Above is the greatest number of bytes with which a call ends; every size from the next on up
	// to a change of messages hangs. 0: calls of every size hang.
	Above   int64        `json:"above_bytes"`
	InRange bool         `json:"in_range"` // the program is for such sizes
	Stuck   *judge.Stuck `json:"deadlock"`
}

// hang looks for the smallest size with which a program hangs: it tries each size at which its
// messages change. Nil: none hangs.
func hang(p *plan.Program, o Options) *Hang {
	try := func(bytes int64) *judge.Stuck {
		pl, _ := p.Plan(plan.Call{Bytes: bytes, InPlace: p.Modes[0], Depth: o.Depth})
		if pl == nil {
			return nil
		}
		return judge.Finishes(pl)
	}
	if st := try(0); st != nil {
		return &Hang{InRange: true, Stuck: st}
	}
	for _, bytes := range p.Sizes {
		if st := try(bytes); st != nil {
			return &Hang{Above: bytes - 1, InRange: p.MaxBytes == 0 || bytes <= p.MaxBytes, Stuck: st}
		}
	}
	return nil
}
