package trace

import "kernbench/unit"

// Timeline is the busy time of a resource in each of a number of intervals of equal width. The
// width doubles when the time does not fit.
type Timeline struct {
	Width unit.Time
	Busy  []unit.Time
}

const (
	intervals     = 64
	firstInterval = 10 * unit.Nanosecond
)

// Add adds a time in which the resource was busy.
func (t *Timeline) Add(from, to unit.Time) {
	if t.Width == 0 {
		t.Width = firstInterval
	}
	for to > intervals*t.Width {
		for i := range t.Busy {
			if half := t.Busy[i]; i%2 == 0 {
				t.Busy[i/2] = half
			} else {
				t.Busy[i/2] += half
			}
		}
		t.Busy = t.Busy[:(len(t.Busy)+1)/2]
		t.Width *= 2
	}
	for from < to {
		i := from / t.Width
		end := min(to, (i+1)*t.Width)
		for int(i) >= len(t.Busy) {
			t.Busy = append(t.Busy, 0)
		}
		t.Busy[i] += end - from
		from = end
	}
}

// LinkLine is the busy time of a link.
type LinkLine struct {
	Name, Level string
	Timeline
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
