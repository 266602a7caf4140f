package run

import (
	"kernbench/device"
	"kernbench/unit"
)

// Overhead returns the time of software to start a launch that performs collectives. The simulated
// time does not include it.
func Overhead(l *device.Launched) unit.Time {
	if len(l.Calls) == 0 {
		return 0
	}
	return l.Calls[0].Plan.Start
}
