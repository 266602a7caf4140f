package run

import (
	"cmp"
	"slices"

	"kernbench/device"
	"kernbench/exec"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// Use is the use of links, engines and rings in a run.
type Use struct {
	Span        unit.Time  `json:"span_ps"` // time to which utilisation refers: that of all launches
	MovedBytes  unit.Bytes `json:"moved_bytes"`
	NeededBytes unit.Bytes `json:"needed_bytes,omitempty"` // by the collectives, at least
	Levels      []LinkUse  `json:"levels"`                 // sums of the links of a level, the hottest link's level first
	Links       []LinkUse  `json:"links"`                  // the hottest first
	PEs         []PEUse    `json:"pes"`
	Rings       []RingUse  `json:"rings"` // those with most slots in use first
}

// LinkUse holds what a link carried, or all links of a level together.
type LinkUse struct {
	Link  string `json:"link,omitempty"`
	Level string `json:"level"`
	Links int    `json:"links,omitempty"` // of a level, that carried something
	noc.ClassCount
	Classes     map[string]int64          `json:"bytes_by_class"`
	ByClass     map[string]noc.ClassCount `json:"by_class"` // by traffic class; their sum is the ClassCount
	Busy        unit.Time                 `json:"busy_ps"`
	Utilisation float64                   `json:"utilisation"` // busy over the span: of a level, of its hottest link
	Longest     int                       `json:"longest_queue"`

	Line trace.Timeline `json:"-"` // when it was busy; none of a level
}

// PEUse is for how long the engines of a PE were busy.
type PEUse struct {
	PE   string    `json:"pe"`
	DMA  unit.Time `json:"dma_ps"`
	Math unit.Time `json:"math_ps"`
	GEMM unit.Time `json:"gemm_ps"`
	IPCQ unit.Time `json:"ipcq_ps"`
}

// RingUse is the use of the slots of a ring.
type RingUse struct {
	From     string  `json:"from"`
	To       string  `json:"to"`
	Dir      string  `json:"dir"`
	Messages int64   `json:"messages"`
	MaxSlots int     `json:"most_slots"`
	Mean     float64 `json:"mean_slots"`
}

// use puts together what an executor counted.
func (x *Job) use(u *trace.Usage, c exec.Counter, launches []*device.Launched) *Use {
	m := x.Machine
	r := &Use{Levels: []LinkUse{}, Links: []LinkUse{}, PEs: []PEUse{}, Rings: []RingUse{}}
	for _, l := range launches {
		r.Span += l.Result.Duration()
		r.MovedBytes += unit.Bytes(l.Result.Bytes)
		for _, c := range l.Calls {
			for _, g := range c.Groups {
				r.NeededBytes += c.Collective.Demand(g.Call)
			}
		}
	}
	levels := map[string]*LinkUse{}
	for _, c := range c.Counts() {
		l := x.linkUse(&c, m, r.Span)
		r.Links = append(r.Links, l)
		if levels[l.Level] == nil {
			levels[l.Level] = &LinkUse{Level: l.Level, Classes: map[string]int64{}, ByClass: map[string]noc.ClassCount{}}
		}
		levels[l.Level].add(&l)
	}
	for _, l := range levels {
		r.Levels = append(r.Levels, *l)
	}
	hottest := func(a, b LinkUse) int {
		return cmp.Or(cmp.Compare(b.Utilisation, a.Utilisation), cmp.Compare(b.Queued, a.Queued), cmp.Compare(a.Level, b.Level))
	}
	slices.SortStableFunc(r.Links, hottest)
	slices.SortFunc(r.Levels, hottest)
	for _, p := range u.PEs() {
		r.PEs = append(r.PEs, PEUse{m.PEName(int(p.PE)), p.DMA, p.Math, p.GEMM, p.IPCQ})
	}
	for _, q := range u.Rings() {
		r.Rings = append(r.Rings, RingUse{
			From: m.PEName(int(q.PE)), To: m.PEName(int(q.Peer)), Dir: tl.Dir(q.Dir).String(), Messages: q.Messages,
			MaxSlots: q.MaxSlots, Mean: q.Mean,
		})
	}
	return r
}

// linkLines returns when links were busy, for the trace.
func (x *Job) linkLines(c exec.Counter) []trace.LinkLine {
	var lines []trace.LinkLine
	for _, l := range c.Counts() {
		lines = append(lines, trace.LinkLine{
			Name: x.Machine.LinkName(l.Link), Level: x.Machine.LinkLevel(l.Link), Timeline: l.Line,
		})
	}
	return lines
}

func (x *Job) linkUse(c *noc.Count, m *machine.Machine, span unit.Time) LinkUse {
	l := LinkUse{
		Link: m.LinkName(c.Link), Level: m.LinkLevel(c.Link), ClassCount: c.Total(), Classes: map[string]int64{},
		ByClass: map[string]noc.ClassCount{}, Busy: c.Busy, Longest: c.Longest, Line: c.Line,
	}
	for class, n := range c.ByClass {
		if n.Messages > 0 {
			name := noc.Class(class).String()
			l.Classes[name], l.ByClass[name] = n.Bytes, n
		}
	}
	if span > 0 {
		l.Utilisation = float64(c.Busy) / float64(span)
	}
	return l
}

// add adds a link to the sum of its level.
func (l *LinkUse) add(o *LinkUse) {
	l.Links++
	l.ClassCount.Add(o.ClassCount)
	for class, n := range o.ByClass {
		sum := l.ByClass[class]
		sum.Add(n)
		l.Classes[class], l.ByClass[class] = sum.Bytes, sum
	}
	l.Busy += o.Busy
	l.Utilisation = max(l.Utilisation, o.Utilisation)
	l.Longest = max(l.Longest, o.Longest)
}
