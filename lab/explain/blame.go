package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kernbench/machine"
	"kernbench/record/cause"
	"kernbench/unit"
)

// piece is an interval of the critical path that belongs to one operation, resource and reason.
type piece struct {
	start, end unit.Time
	cause.Owner
	at     cause.Resource
	why    cause.Reason
	behind cause.Site // of queueing or a credit stall: the operation that holds the link or buffer
}

// cutter turns chains of causes into pieces.
type cutter struct {
	log  *cause.Log
	m    *machine.Machine
	out  []piece          // the latest first
	open []*cause.Waiting // waits that began before the end of the current span
	full []*cause.Waiting // waits for space in a buffer, until path has used them
}

// cut returns the pieces of a chain, in the order of time.
func (c *cutter) cut(chain *cause.Chain) []piece {
	c.out, c.open, c.full = nil, nil, nil
	began := 0
	for i := range chain.Spans {
		s := &chain.Spans[i]
		for ; began < s.Waits; began++ {
			if w := &chain.Waits[began]; w.At.Kind() == cause.Buffer {
				c.full = append(c.full, w)
			} else {
				c.open = append(c.open, w)
			}
		}
		c.open = slices.DeleteFunc(c.open, func(w *cause.Waiting) bool { return w.Since >= s.End })
		switch {
		case s.At.Kind() == cause.Path:
			c.path(s)
		case s.At.Kind() == cause.Link && s.Why == cause.Serialisation && c.m.Spec(machine.LinkID(s.At.Number())).Port:
			c.add(s.Start, s.End, s.Owner, s.At, cause.Memory)
		case s.At.Kind() == cause.Link:
			c.add(s.Start, s.End, s.Owner, s.At, s.Why)
		default:
			c.full = c.full[:0] // the path has left the network
			c.add(s.Start, s.End, s.Owner, s.At, s.Why)
		}
	}
	slices.Reverse(c.out)
	return c.out
}

// path cuts the latency of several links into its parts: a router or port first, then the wires.
//
// A message that waits for space in a buffer continues when another message has left the buffer.
// The time of that other message on the link before the buffer counts as a credit stall.
func (c *cutter) path(s *cause.Span) {
	end := s.End
	addBefore := func(d unit.Time, why cause.Reason, link int) {
		if start := max(end-d, s.Start); start < end {
			c.add(start, end, s.Owner, cause.At(cause.Link, link), why)
			end = start
		}
	}
	links := c.log.Links(s.At)
	for _, l := range links {
		spec := c.m.Spec(machine.LinkID(l))
		router, wire := cause.Router, cause.Latency
		if spec.Port {
			router, wire = cause.Memory, cause.Memory
		}
		if i := slices.IndexFunc(c.full, func(w *cause.Waiting) bool { return w.At.Number() == l }); i >= 0 {
			w := c.full[i]
			c.full = slices.Delete(c.full, i, i+1)
			start := max(end-spec.Wire-spec.Router, s.Start)
			c.out = append(c.out, piece{start: start, end: end, Owner: w.Owner, at: w.At, why: cause.Credit, behind: s.Site})
			end = start
			continue
		}
		addBefore(spec.Wire, wire, l)
		addBefore(spec.Router, router, l)
	}
	addBefore(end-s.Start, cause.Unknown, links[0])
}

// add adds a piece. If another operation waits for the resource meanwhile, the time from the start
// of its wait belongs to the waiting operation. attribute returns the resource and reason.
func (c *cutter) add(start, end unit.Time, of cause.Owner, at cause.Resource, why cause.Reason) {
	for _, w := range c.open {
		on, reason, ok := attribute(w, at, why)
		if !ok || w.Since >= end || w.Site == of.Site && on == at {
			continue // an operation does not queue behind another part of its own message
		}
		p := piece{start: max(start, w.Since), end: end, Owner: w.Owner, at: on, why: reason}
		if reason == cause.Queueing {
			p.behind = of.Site
		}
		c.out = append(c.out, p)
		if end = p.start; start == end {
			return
		}
		break
	}
	c.out = append(c.out, piece{start: start, end: end, Owner: of, at: at, why: why})
}

// attribute returns the resource and reason that a waiting operation gets for time in which another
// operation uses the resource. The resource is a link that carries another message, or a ring whose
// credit is on its way. Otherwise ok is false: the time stays with the other operation.
func attribute(w *cause.Waiting, at cause.Resource, why cause.Reason) (of cause.Resource, reason cause.Reason, ok bool) {
	switch w.At.Kind() {
	case cause.Link:
		return at, cause.Queueing, w.At == at && (why == cause.Serialisation || why == cause.Memory)
	case cause.Ring:
		return at, cause.Credit, w.At == at && w.Why == cause.Credit && why == cause.Credit
	}
	return 0, 0, false
}

// Blame is the time of the critical path that belongs to one operation of one rank, at one
// resource, for one reason.
type Blame struct {
	Rank     int       `json:"rank"`
	PE       string    `json:"pe"`
	Call     string    `json:"operation"`
	Line     string    `json:"line,omitempty"`
	Resource string    `json:"resource,omitempty"`
	Class    string    `json:"resource_class,omitempty"`
	Reason   string    `json:"reason"`
	Behind   string    `json:"behind,omitempty"` // operation that held the resource
	Time     unit.Time `json:"time_ps"`

	key   blameKey
	first unit.Time
	slots int // of a ring
}

type blameKey struct {
	site, behind cause.Site
	at           cause.Resource
	why          cause.Reason
}

// blames adds up pieces with the same operation, resource and reason.
func (x *explaining) blames(pieces []piece) []Blame {
	at := map[blameKey]*Blame{}
	for _, p := range pieces {
		k := blameKey{p.Site, p.behind, p.at, p.why}
		b := at[k]
		if b == nil {
			o := x.log.Operation(p.Site)
			b = &Blame{
				Rank: int(o.Rank), PE: x.m.PEName(int(o.PE)), Call: o.Call, Line: o.Line, Resource: x.name(p.at), Class: x.class(p.at),
				Reason: p.why.String(), key: k, first: p.start,
			}
			if p.at.Kind() == cause.Ring {
				b.slots = x.log.Ring(p.at).Slots
			}
			if p.behind != 0 {
				b.Behind = x.operation(p.behind)
			}
			at[k] = b
		}
		b.Time += p.end - p.start
	}
	all := make([]Blame, 0, len(at))
	for _, b := range at {
		all = append(all, *b)
	}
	slices.SortFunc(all, longestFirst)
	return all
}

func longestFirst(a, b Blame) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.first, b.first), cmp.Compare(a.key.site, b.key.site),
		cmp.Compare(a.key.at, b.key.at), cmp.Compare(a.key.why, b.key.why), cmp.Compare(a.key.behind, b.key.behind))
}

// withLaunch adds the time that software takes to start collectives. It belongs to the rank at
// which the path begins.
func withLaunch(all []Blame, t unit.Time) []Blame {
	if t == 0 {
		return all
	}
	b := Blame{Call: "launch", Resource: "software of the host", Class: "host", Reason: cause.Launch.String(),
		Time: t, key: blameKey{why: cause.Launch}, first: -1}
	if len(all) > 0 {
		first := slices.MinFunc(all, func(a, b Blame) int { return cmp.Or(cmp.Compare(a.first, b.first), longestFirst(a, b)) })
		b.Rank, b.PE = first.Rank, first.PE
	}
	all = append(all, b)
	slices.SortFunc(all, longestFirst)
	return all
}

// byStep returns the total time of the pieces of each step, in the order of steps. The launch has a
// row of its own. The time before the first message of a ring has a row, too.
func (x *explaining) byStep(pieces []piece, launch, total unit.Time) []Share {
	at, ranks := map[cause.Step]unit.Time{}, map[cause.Step]map[int32]bool{}
	for i := range pieces {
		p := &pieces[i]
		if ranks[p.Step] == nil {
			ranks[p.Step] = map[int32]bool{}
		}
		at[p.Step] += p.end - p.start
		ranks[p.Step][x.log.Operation(p.Site).Rank] = true
	}
	out := []Share{}
	add := func(name string, t unit.Time, ranks int) {
		out = append(out, Share{name, t, 100 * float64(t) / float64(total), ranks})
	}
	if launch > 0 {
		add("launch", launch, 1)
	}
	for _, s := range slices.Sorted(maps.Keys(at)) {
		name := fmt.Sprintf("step %d", int(s)-1)
		switch s {
		case 0:
			name = "no step"
		case cause.MostSteps:
			name += " and later"
		}
		add(name, at[s], len(ranks[s]))
	}
	return out
}

// Share is the time of all pieces with one property.
type Share struct {
	Name    string    `json:"name"`
	Time    unit.Time `json:"time_ps"`
	Percent float64   `json:"percent"`
	Ranks   int       `json:"ranks,omitempty"` // number of ranks with such pieces
}

// shares returns the total time of all blames with the same name. It leaves out those whose name is
// empty.
func shares(all []Blame, total unit.Time, name func(b *Blame) string) []Share {
	at, ranks := map[string]*Share{}, map[string]map[int]bool{}
	for i := range all {
		b := &all[i]
		n := name(b)
		if n == "" {
			continue
		}
		if at[n] == nil {
			at[n], ranks[n] = &Share{Name: n}, map[int]bool{}
		}
		at[n].Time += b.Time
		ranks[n][b.Rank] = true
	}
	out := make([]Share, 0, len(at))
	for n, s := range at {
		s.Ranks = len(ranks[n])
		if total > 0 {
			s.Percent = 100 * float64(s.Time) / float64(total)
		}
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
	return out
}
