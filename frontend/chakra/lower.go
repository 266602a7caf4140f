package chakra

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"kernbench/frontend/plan"
)

// lowering makes the common form of traces. A chain of nodes becomes a block. Sends and receives of
// a link become an unbounded channel. A dependency on another chain becomes one on its block.
type lowering struct {
	*program
	plan     *plan.Plan
	channels map[link]int
	counters map[string]int
	groups   map[string][]int // ranks of each group of collectives
}

func (p *program) lower(call plan.Call) *plan.Plan {
	l := &lowering{program: p, plan: &plan.Plan{Name: "trace", Collective: "custom", Cell: []int64{1}},
		channels: map[link]int{}, counters: map[string]int{}, groups: map[string][]int{}}
	if m := p.meaning; m != nil {
		l.plan.Name, l.plan.Collective, l.plan.InPlace = m.plan.Name, m.plan.Collective, m.plan.InPlace
		l.plan.Cell, l.plan.Want = []int64{m.chunk}, relation(m.plan, call)
	}
	if r := p.recorded; r != nil {
		data := *r.plan
		data.Want = relation(r.plan, call)
		l.plan.Collective, l.plan.InPlace, l.plan.Data = data.Collective, data.InPlace, &data
	}
	for rank := range p.traces {
		seen := map[string]bool{}
		for i := range p.works[rank] {
			if g := p.works[rank][i].group; p.traces[rank].Nodes[i].Type == CommCollNode && !seen[g] {
				seen[g] = true
				l.groups[g] = append(l.groups[g], rank)
			}
		}
	}
	for rank := range p.traces {
		l.plan.Ranks = append(l.plan.Ranks, l.rank(rank))
	}
	l.meetings()
	return l.plan
}

// relation returns the expected result of a call. A formula or a root of the call takes the place
// of that of the traces.
func relation(p *plan.Plan, call plan.Call) *plan.Relation {
	switch {
	case call.Want != nil:
		return call.Want.For(p.World(), p.Larger())
	case call.Root > 0 && p.Want != nil && p.Want.Rooted:
		return plan.RelationOf(p.Collective, p.World(), p.Larger(), call.Root-1)
	}
	return p.Want
}

// rank makes the blocks and the memory of a rank.
func (l *lowering) rank(rank int) plan.Rank {
	g, t := l.graphs[rank], l.traces[rank]
	k := plan.Rank{Input: plan.None, Output: plan.None}
	mem := &memory{rank: &k}
	if l.meaning != nil {
		of := &l.meaning.plan.Ranks[rank]
		k = plan.Rank{Memories: slices.Clone(of.Memories), Views: slices.Clone(of.Views), Input: of.Input, Output: of.Output}
		mem.chunk = l.meaning.chunk
		for _, cells := range k.Memories {
			k.Sizes = append(k.Sizes, slices.Repeat([]int64{mem.chunk}, cells))
		}
	}
	mem.views()
	k.Blocks = make([]plan.Block, len(g.last))
	for c := range k.Blocks {
		k.Blocks[c].ID, k.Blocks[c].Label = c, "(chain of nodes)"
	}
	publish := map[int]bool{}
	for i := range t.Nodes {
		for _, d := range g.deps[i] {
			if g.chain[d] != g.chain[i] {
				publish[d] = true
			}
		}
	}
	calls := map[string]int{}
	for _, i := range g.order {
		s := l.step(rank, i, mem)
		for _, d := range g.deps[i] {
			if g.chain[d] != g.chain[i] {
				s.After = append(s.After, plan.Dep{Block: g.chain[d], Index: g.index[d]})
			}
		}
		s.Publish = publish[i]
		b := &k.Blocks[g.chain[i]]
		if t.Nodes[i].Type != CommCollNode {
			b.Steps = append(b.Steps, s)
			continue
		}
		// A collective ends when all ranks of its group have reached it.
		w := l.works[rank][i]
		come, call := l.call(w.group, calls[w.group]), calls[w.group]
		calls[w.group]++
		wait := plan.Step{Op: s.Op, Name: s.Name, Index: s.Index, Part: 1, Take: plan.None, Send: plan.None, Publish: s.Publish, Free: true,
			Wait: []plan.Count{{Counter: l.ended(rank, w.group, call), N: 1}}}
		s.Publish, s.Free, s.Signal = false, true, []plan.Count{{Counter: come, N: 1}}
		b.Steps = append(b.Steps, s, wait)
	}
	mem.done()
	return k
}

// step returns the step of a node.
func (l *lowering) step(rank, i int, mem *memory) plan.Step {
	n, w := &l.traces[rank].Nodes[i], l.works[rank][i]
	s := plan.Step{Op: opName(n), Index: l.graphs[rank].index[i], Take: plan.None, Send: plan.None, Name: fmt.Sprintf("node %d", n.ID)}
	var of *plan.Step
	if l.meaning != nil {
		of = l.meaning.steps[rank][i]
	}
	switch n.Type {
	case CommSendNode:
		s.Send = l.channel(link{rank, w.peer, w.tag})
		if of != nil {
			s.Src = of.Src
		} else {
			s.Src = []plan.Span{mem.sent(w.bytes)}
		}
	case CommRecvNode:
		s.Take = l.channel(link{w.peer, rank, w.tag})
		switch {
		case of == nil:
			s.Dst = []plan.Span{mem.received(w.bytes, 1)}
		case of.Op == "rrc": // a node of its own adds
			span := mem.received(mem.chunk, of.Dst[0].N)
			mem.held[of] = span
			s.Dst = []plan.Span{span}
		default:
			s.Dst = of.Dst
		}
	case CompNode:
		s.Duration = duration(n)
		if of != nil {
			if span, ok := mem.held[of]; ok {
				s.Src = append(slices.Clone(of.Src), span)
			} else {
				s.Src = of.Src // its receive comes later: the sum lacks the message
			}
			s.Dst = of.Dst
		}
	case MemLoadNode, MemStoreNode:
		s.Duration = duration(n)
	}
	return s
}

// duration returns the duration of a node in picoseconds.
func duration(n *Node) int64 { return int64(min(n.Duration, math.MaxInt64/1_000_000) * 1_000_000) }

// opName returns the name of a node in reports.
func opName(n *Node) string {
	if n.Name != "" {
		return n.Name
	}
	return n.Type.String()
}

// memory is a rank's memory apart from the buffers of a program. It has a cell for each message
// with unknown data, and one for each message that was received and not yet added.
type memory struct {
	rank      *plan.Rank
	chunk     int64
	held      map[*plan.Step]plan.Span
	out, in   int // views
	outs, ins []int64
}

func (m *memory) views() {
	m.held = map[*plan.Step]plan.Span{}
	m.out, m.in = len(m.rank.Views), len(m.rank.Views)+1
	m.rank.Views = append(m.rank.Views, plan.View{Name: "sent", Memory: len(m.rank.Memories)},
		plan.View{Name: "received", Memory: len(m.rank.Memories) + 1})
}

func (m *memory) sent(bytes int64) plan.Span {
	m.outs = append(m.outs, bytes)
	return plan.Span{Rank: plan.None, View: m.out, First: len(m.outs) - 1, N: 1}
}

func (m *memory) received(bytes int64, n int) plan.Span {
	span := plan.Span{Rank: plan.None, View: m.in, First: len(m.ins), N: n}
	for range n {
		m.ins = append(m.ins, bytes)
	}
	return span
}

func (m *memory) done() {
	k := m.rank
	k.Views[m.out].Cells, k.Views[m.in].Cells = len(m.outs), len(m.ins)
	k.Memories = append(k.Memories, len(m.outs), len(m.ins))
	k.Sizes = append(k.Sizes, m.outs, m.ins)
	if k.Input == plan.None && len(m.outs) > 0 {
		k.Input = m.out
	}
}

func (l *lowering) channel(k link) int {
	c, ok := l.channels[k]
	if !ok {
		c = len(l.plan.Channels)
		l.channels[k] = c
		l.plan.Channels = append(l.plan.Channels, plan.Channel{ID: k.tag, From: k.from, To: k.to})
	}
	return c
}

func (l *lowering) counter(rank int, name string) int {
	name = fmt.Sprintf("rank %d %s", rank, name)
	c, ok := l.counters[name]
	if !ok {
		c = len(l.plan.Counters)
		l.counters[name] = c
		l.plan.Counters = append(l.plan.Counters, plan.Counter{Rank: rank, Name: name})
	}
	return c
}

// meetings adds a block to rank 0 that ends each collective when all ranks of its group have
// reached it.
func (l *lowering) meetings() {
	for _, group := range slices.Sorted(maps.Keys(l.groups)) {
		var b plan.Block
		b.ID, b.Label = len(l.plan.Ranks[0].Blocks), fmt.Sprintf("collectives of group %q", group)
		for number := range l.most(group) {
			w := l.collective(group, number)
			name := fmt.Sprintf("collective %d of group %q", number, group)
			l.plan.Collectives = append(l.plan.Collectives,
				plan.Collective{Name: w.kind.canonical(), Ranks: l.groups[group], Bytes: w.bytes})
			s := plan.Step{Op: w.kind.String(), Name: name, Index: number, Take: plan.None, Send: plan.None,
				Free: true, Collective: len(l.plan.Collectives),
				Wait: []plan.Count{{Counter: l.call(group, number), N: len(l.groups[group])}}}
			for _, rank := range l.groups[group] {
				s.Signal = append(s.Signal, plan.Count{Counter: l.ended(rank, group, number), N: 1})
			}
			b.Steps = append(b.Steps, s)
		}
		l.plan.Ranks[0].Blocks = append(l.plan.Ranks[0].Blocks, b)
	}
}

// most returns the largest number of collectives of a group on any rank.
func (l *lowering) most(group string) (most int) {
	for rank, t := range l.traces {
		n := 0
		for i := range t.Nodes {
			if t.Nodes[i].Type == CommCollNode && l.works[rank][i].group == group {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// collective returns the call of a group's collective by the first rank that makes it.
func (l *lowering) collective(group string, number int) work {
	for _, rank := range l.groups[group] {
		n := 0
		for _, i := range l.graphs[rank].order {
			if l.traces[rank].Nodes[i].Type != CommCollNode || l.works[rank][i].group != group {
				continue
			}
			if n == number {
				return l.works[rank][i]
			}
			n++
		}
	}
	return work{}
}

// ended counts the collectives that have ended for a rank.
func (l *lowering) ended(rank int, group string, number int) int {
	return l.counter(rank, fmt.Sprintf("end of collective %d of group %q", number, group))
}

// call counts the ranks that have reached a collective of a group.
func (l *lowering) call(group string, number int) int {
	return l.counter(0, fmt.Sprintf("arrivals at collective %d of group %q", number, group))
}
