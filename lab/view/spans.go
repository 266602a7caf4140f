package view

import (
	"slices"

	"kernbench/lab/explain"
	"kernbench/record/cause"
	"kernbench/unit"
)

// names gives operations and resources the numbers that a document uses: in the order of their use.
type names struct {
	d         *explain.Detail
	sites     map[cause.Site]int32
	list      []cause.Site
	resources map[cause.Resource]int32
	res       []string
}

func newNames(d *explain.Detail) *names {
	return &names{d: d, sites: map[cause.Site]int32{0: 0}, list: []cause.Site{0}, resources: map[cause.Resource]int32{}, res: []string{""}}
}

func (n *names) site(s cause.Site) int32 {
	i, ok := n.sites[s]
	if !ok {
		i = int32(len(n.list))
		n.sites[s] = i
		n.list = append(n.list, s)
	}
	return i
}

func (n *names) resource(r cause.Resource) int32 {
	i, ok := n.resources[r]
	if !ok {
		name, _ := n.d.Resource(r)
		if i = int32(slices.Index(n.res, name)); i < 0 {
			i = int32(len(n.res))
			n.res = append(n.res, name)
		}
		n.resources[r] = i
	}
	return i
}

// columns returns all that have a number.
func (n *names) columns() (o Operations, calls, lines, resources []string) {
	call, line := map[string]int32{}, map[string]int32{}
	number := func(list *[]string, at map[string]int32, text string) int32 {
		i, ok := at[text]
		if !ok {
			i = int32(len(*list))
			at[text] = i
			*list = append(*list, text)
		}
		return i
	}
	for _, s := range n.list {
		v := cause.Operation{Rank: -1, PE: -1}
		if s != 0 {
			v = n.d.Operation(s)
		}
		o.Rank, o.PE = append(o.Rank, v.Rank), append(o.PE, v.PE)
		o.Call, o.Line = append(o.Call, number(&calls, call, v.Call)), append(o.Line, number(&lines, line, v.Line))
	}
	return o, calls, lines, n.res
}

// span is an interval with the numbers of a document.
type span struct {
	start, end                unit.Time
	own, of, resource, behind int32
	why                       cause.Reason
}

// spanBuilder collects spans of one lane.
type spanBuilder struct {
	names *names
	lane  int
	all   []span
}

// add adds an interval, and reports whether it is a span of its own. An interval that continues the
// previous span is added to that span.
func (b *spanBuilder) add(s *explain.Interval) bool {
	v := span{s.Start, s.End, b.names.site(s.Own), b.names.site(s.Site), b.names.resource(s.At), b.names.site(s.Behind), s.Why}
	if n := len(b.all); n > 0 {
		last := &b.all[n-1]
		if last.end == v.start && last.own == v.own && last.of == v.of && last.resource == v.resource &&
			last.behind == v.behind && last.why == v.why {
			last.end = v.end
			return false
		}
	}
	b.all = append(b.all, v)
	return true
}

// columns returns the spans, with times from start on.
func (b *spanBuilder) columns(start unit.Time) *Spans {
	s := &Spans{}
	at := start
	for _, v := range b.all {
		s.Start, s.Length = append(s.Start, int64(v.start-at)), append(s.Length, int64(v.end-v.start))
		at = v.start
		s.Own, s.Of, s.Resource = append(s.Own, v.own), append(s.Of, v.of), append(s.Resource, v.resource)
		s.Reason, s.Behind = append(s.Reason, int32(v.why)), append(s.Behind, v.behind)
	}
	return s
}
