package frontend

import (
	"fmt"

	"kernbench/frontend/plan"
)

// a100 is the multiprocessors of an A100, for which most public programs were made.
const a100 = 108

// Crowded warns of a program with more thread blocks of a rank than the GPU has multiprocessors; ""
// if it has no more, or if their number is unknown (0). Blocks wait for each other, so all of them
// must run at the same time.
func Crowded(p *plan.Program, sms int) string {
	if sms == 0 || p.Blocks <= sms {
		return ""
	}
	return fmt.Sprintf("a gpu has %d thread blocks: all must run at the same time, and one of the machine has %d multiprocessors",
		p.Blocks, sms)
}

// crowded assumes an A100 if the machine is unknown.
func crowded(p *plan.Program, sms int) string {
	if sms == 0 && p.Blocks > a100 {
		return fmt.Sprintf("a gpu has %d thread blocks: all must run at the same time, and an A100 has %d multiprocessors",
			p.Blocks, a100)
	}
	return Crowded(p, sms)
}
