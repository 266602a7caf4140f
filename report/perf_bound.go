package report

import (
	"fmt"

	"kernbench/lab"
)

// threeOfBound are the columns of a bound, beside each other as one.
func threeOfBound(us, fraction, limit string) string {
	return fmt.Sprintf("%7s  %8s  %-8s", us, fraction, limit)
}

// boundCells is how fast a row could have been, and how near it comes to that.
func boundCells(b *lab.PerfBound) string {
	us, fraction, limit := "-", "-", "-"
	if b.Us != nil {
		us, limit = fitting(*b.Us, 7), string(b.Limit)
	}
	if b.Fraction != nil {
		fraction = fmt.Sprintf("%.1f%%", 100**b.Fraction)
	}
	return threeOfBound(us, fraction, limit)
}
