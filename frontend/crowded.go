package frontend

import (
	"fmt"

	"kernbench/frontend/plan"
)

// a100 is the number of multiprocessors of an A100, for which most public programs were made.
const a100 = 108

// Crowded returns a warning if a rank of a program has more thread blocks than the GPU has
// multiprocessors, and otherwise "". The number sms is 0 if it is unknown. Blocks wait for each
// other, so all of them must run at the same time.
func Crowded(p *plan.Program, sms int) string {
	if sms == 0 || p.Blocks <= sms {
		return ""
	}
	return fmt.Sprintf("a gpu has %d thread blocks, which must all run at the same time; a GPU of the machine has %d multiprocessors",
		p.Blocks, sms)
}

// crowded assumes an A100 if the machine is unknown.
func crowded(p *plan.Program, sms int) string {
	if sms == 0 && p.Blocks > a100 {
		return fmt.Sprintf("a gpu has %d thread blocks, which must all run at the same time; an A100 has %d multiprocessors",
			p.Blocks, a100)
	}
	return Crowded(p, sms)
}
