package trace

import "kernbench/unit"

// LinkLine is when a link was busy: for how long in each stretch of time of one width.
type LinkLine struct {
	Name, Level string
	Width       unit.Time
	Busy        []unit.Time
}

// WriteLinks adds a counter for each link to a view that has counters.
func WriteLinks(w Writer, lines []LinkLine) {
	if p := perfetto(w); p != nil {
		for i := range lines {
			p.link(&lines[i], i)
		}
	}
}

// link writes the use of a link, in percent, wherever it changes.
func (p *PFTrace) link(l *LinkLine, rank int) {
	level := p.track(l.Level, p.track("links", 0, 1<<30), 0)
	track := p.newTrack(l.Name, level, rank, appendText(nil, counterUnitName, "%"))
	last := int64(-1)
	for i := range len(l.Busy) + 1 {
		value := int64(0)
		if i < len(l.Busy) {
			value = int64(100 * l.Busy[i] / l.Width)
		}
		if value == last {
			continue
		}
		last = value
		p.anyTime(track, unit.Time(i)*l.Width, appendUint(appendUint(nil, eventType, typeCounter), eventCounter, uint64(value)))
	}
}
