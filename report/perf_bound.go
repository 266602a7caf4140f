package report

import (
	"fmt"

	"kernbench/lab/limits"
	"kernbench/lab/perf"
)

// headsOfBound returns the headings of a row's limits as one column, and the line below. The limits
// are those of its algorithm as configured, and of the machine with any algorithm.
var (
	headsOfBound = boundColumns("bound", "of bound", "limit", "hardware", "of hardware", "limit")
	unitsOfBound = boundColumns("(us)", "", "", "(us)", "", "")
)

func boundColumns(us, fraction, limit, hardwareUs, hardwareFraction, hardwareLimit string) string {
	return fmt.Sprintf("%7s  %8s  %-8s  %8s  %11s  %-8s", us, fraction, limit, hardwareUs, hardwareFraction, hardwareLimit)
}

// boundCells returns the limits of a row, and its ratio to them.
func boundCells(b *perf.Bound) string {
	us, fraction, limit := boundOf(b.Us, b.Fraction, b.Limit)
	hardwareUs, hardwareFraction, hardwareLimit := boundOf(b.HardwareUs, b.HardwareFraction, b.HardwareLimit)
	return boundColumns(us, fraction, limit, hardwareUs, hardwareFraction, hardwareLimit)
}

func boundOf(us, fraction *float64, limit limits.Kind) (time, part, by string) {
	time, part, by = "-", "-", "-"
	if us != nil {
		time, by = fitting(*us, 7), string(limit)
	}
	if fraction != nil {
		part = fmt.Sprintf("%.1f%%", 100**fraction)
	}
	return time, part, by
}

// boundFields returns the same for CSV, below boundNames.
func boundFields(b *perf.Bound) []string {
	return []string{
		digits(b.Us), digits(b.Fraction), string(b.Limit),
		digits(b.HardwareUs), digits(b.HardwareFraction), string(b.HardwareLimit),
	}
}

var boundNames = []string{
	"bound_us", "bound_fraction", "bound_limit",
	"hardware_bound_us", "hardware_bound_fraction", "hardware_bound_limit",
}
