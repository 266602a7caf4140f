package timing

import (
	"fmt"
	"slices"

	"kernbench/frontend/plan"
	"kernbench/machine"
	"kernbench/unit"
)

// meeting is a switch that all routes between some ranks pass: the routes of each rank up to it,
// and those from it down.
type meeting struct {
	up, down map[int]*route
	multimem *machine.Multimem
}

// meet finds the switch in which ranks meet; nil if there is none. It is a node that belongs to no
// package.
func (l *links) meet(ranks []int) *meeting {
	key := fmt.Sprint(ranks)
	if m, ok := l.meetings[key]; ok {
		return m
	}
	var common []machine.NodeID
	for _, a := range ranks {
		for _, b := range ranks {
			if a == b {
				continue
			}
			nodes := l.nodes(a, b)
			if common == nil {
				common = slices.Clone(nodes)
			}
			common = slices.DeleteFunc(common, func(n machine.NodeID) bool { return !slices.Contains(nodes, n) })
			if len(common) == 0 {
				l.meetings[key] = nil
				return nil
			}
		}
	}
	if len(common) == 0 {
		return nil
	}
	pes := make([]int32, len(ranks))
	for i, r := range ranks {
		pes[i] = int32(r)
	}
	x, err := l.machine.Multimem(pes)
	if err != nil || len(x.Switches) > 1 {
		l.meetings[key] = nil
		return nil
	}
	m := &meeting{map[int]*route{}, map[int]*route{}, x}
	for i, a := range ranks {
		other := ranks[(i+1)%len(ranks)]
		m.up[a], _ = l.cut(l.route(a, other), x.Switches[0].Node)
		_, m.down[a] = l.cut(l.route(other, a), x.Switches[0].Node)
	}
	l.meetings[key] = m
	return m
}

// nodes returns those of a route that belong to no package.
func (l *links) nodes(from, to int) []machine.NodeID {
	var out []machine.NodeID
	for _, id := range l.route(from, to).hops {
		n := l.machine.Link(id).To
		if sip, _ := l.machine.Home(n); sip < 0 {
			out = append(out, n)
		}
	}
	return out
}

// cut splits a route at a node.
func (l *links) cut(r *route, at machine.NodeID) (before, behind *route) {
	before, behind = &route{}, &route{}
	part := before
	for _, id := range r.hops {
		s := l.machine.Spec(id)
		part.hops = append(part.hops, id)
		part.head += s.Router + s.Wire
		if part.slowest == 0 || s.Rate < part.slowest {
			part.slowest = s.Rate
		}
		if l.machine.Link(id).To == at {
			part = behind
		}
	}
	return before, behind
}

// members returns the ranks of a switch operation: whose memory it reads and writes, and its own.
func members(own int, s *plan.Step) []int {
	ranks := []int{own}
	for _, span := range slices.Concat(s.Src, s.Dst) {
		if span.Rank != plan.None {
			ranks = append(ranks, span.Rank)
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// checkSwitches returns an error if a plan has operations of a switch that the machine lacks.
func (r *run) checkSwitches() error {
	for rank := range r.plan.Ranks {
		for b := range r.plan.Ranks[rank].Blocks {
			steps := r.plan.Ranks[rank].Blocks[b].Steps
			for i := range steps {
				if !steps[i].Switch {
					continue
				}
				if err := r.checkSwitch(rank, &steps[i]); err != nil {
					return fmt.Errorf("%s: %w", r.plan.Where(rank, b, i), err)
				}
			}
		}
	}
	return nil
}

// checkSwitch returns what a switch lacks for a step of a rank.
func (r *run) checkSwitch(rank int, s *plan.Step) error {
	group := members(rank, s)
	if len(group) < 2 {
		return nil
	}
	m := r.links.meet(group)
	if m == nil {
		return fmt.Errorf("it reduces or multicasts in a switch, and the machine has none in which ranks %v meet", group)
	}
	if len(s.Dst) > 1 {
		if err := m.multimem.CheckMulticast(); err != nil {
			return err
		}
	}
	if len(s.Src) > 1 {
		return m.multimem.CheckReduce("")
	}
	return nil
}

// through carries bytes of a switch operation from a time on, and returns when the last has
// arrived. Data that are read go up from each member once and come down as one sum. Data that are
// written go up once and come down to each member. Both are in flight at the same time.
func (r *run) through(own int, s *plan.Step, bytes int64, at unit.Time) unit.Time {
	m := r.links.meet(members(own, s))
	if m == nil {
		return at
	}
	root := &m.multimem.Switches[0]
	send := func(p *route, at unit.Time) unit.Time { return r.links.send(p, root.WireBytes(bytes, p.slowest), at) }
	end := at
	if len(s.Src) > 1 {
		late := root.Spec.Reduce.Latency // from when all are there until the sum leaves
		head, tail := at, at
		for _, span := range s.Src {
			rank := own
			if span.Rank != plan.None {
				rank = span.Rank
			}
			head = max(head, at+m.up[rank].head+late)
			tail = max(tail, send(m.up[rank], at)+late)
		}
		end = max(send(m.down[own], head), tail+m.down[own].head)
		at = head + m.down[own].head
	}
	if len(s.Dst) > 1 {
		tail := max(send(m.up[own], at), end+m.up[own].head)
		at += m.up[own].head
		for _, span := range s.Dst {
			rank := own
			if span.Rank != plan.None {
				rank = span.Rank
			}
			end = max(end, send(m.down[rank], at), tail+m.down[rank].head)
		}
	}
	return end
}
