package lab

import (
	"kernbench/device"
	"kernbench/unit"
)

// overhead is what software takes to start a launch that performs collectives, beside its simulated time.
func overhead(l *device.Launched) unit.Time {
	if len(l.Calls) == 0 {
		return 0
	}
	return l.Calls[0].Plan.Start
}

// noteOverhead says that the times of a sweep have the start of a collective in them, where there is one.
func (p *perfPlan) noteOverhead() {
	least, most := unit.MaxTime, unit.Time(0)
	for _, r := range p.rows {
		least, most = min(least, r.Launch), max(most, r.Launch)
	}
	switch {
	case most == 0:
	case least == most:
		p.note("times have %v in them for the start of a collective in software: what is simulated begins behind it", most)
	default:
		p.note("times have %v to %v in them for the start of a collective in software, by protocol: what is simulated begins behind it", least, most)
	}
}
