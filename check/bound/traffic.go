package bound

import (
	"kernbench/machine"
	"kernbench/unit"
)

// loaded is a link with what an algorithm moves over it.
type loaded struct {
	bytes          int64
	before, behind unit.Time // delays from the nearest start and to the nearest end of a route
}

// traffic: each transfer passes every link of its route. So the link, or memory port, with the most
// bytes for its rate limits the algorithm. The first bytes need time to reach the link, and the
// last ones must travel on from it. Messages of a ring also need the time of their channels.
func (s *Solver) traffic(d *demand, o *Options) Bound {
	b := Bound{Kind: Traffic}
	if o.Ideal || d.pattern == nothing || len(o.Transfers) == 0 {
		return b
	}
	m := s.machine
	links := make([]loaded, m.NumLinks())
	var hops []machine.Hop
	for _, t := range o.Transfers {
		if t.Bytes <= 0 {
			continue
		}
		hops = m.Route(hops[:0], t.From, t.To)
		whole, _ := m.Latency(hops)
		if late := over(t.Bytes, int64(t.Rate)) + whole; t.Rate > 0 && late > b.Time {
			b.Time, b.Witness = late, Witness{Bytes: t.Bytes, Rate: t.Rate}
			for _, h := range hops {
				b.Witness.Links = append(b.Witness.Links, m.LinkName(h.Link))
			}
		}
		before := unit.Time(0)
		for _, h := range hops {
			spec, l := m.Spec(h.Link), &links[h.Link]
			own := spec.Router + spec.Wire
			behind := whole - before - own
			if l.bytes == 0 {
				l.before, l.behind = before, behind
			}
			l.bytes += t.Bytes
			l.before, l.behind = min(l.before, before), min(l.behind, behind)
			before += own
		}
	}
	for i := range links {
		l := &links[i]
		if l.bytes == 0 {
			continue
		}
		spec := m.Spec(machine.LinkID(i))
		t := over(l.bytes, int64(spec.Rate))
		if delay := l.before + spec.Router + spec.Wire + l.behind; t > 0 && t+delay > b.Time {
			b.Time = t + delay
			b.Witness = Witness{Bytes: l.bytes, Rate: spec.Rate, Links: []string{m.LinkName(machine.LinkID(i))}}
		}
	}
	return b
}
