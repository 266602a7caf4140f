package run

import (
	"kernbench/device"
	"kernbench/unit"
)

// Overhead returns what software takes to start a launch that performs collectives, beside its
// simulated time.
func Overhead(l *device.Launched) unit.Time {
	if len(l.Calls) == 0 {
		return 0
	}
	return l.Calls[0].Plan.Start
}
