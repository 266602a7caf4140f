package chakra

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"kernbench/frontend/msccl"
	"kernbench/frontend/plan"
)

// meaning is the MSCCL program that traces were made of. Nodes have the number of bytes and the
// peer, not the data. The converter of MSCCL XML keeps its input in the metadata (input_file), and
// names each node after thread block and step. With it the data of a trace can be judged.
type meaning struct {
	plan  *plan.Plan
	bytes int64          // of a call
	chunk int64          // bytes
	steps [][]*plan.Step // of each rank, as Trace.Nodes; nil without a step
}

var nodeName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(COMM_SEND|COMM_RECV|COMP)_NODE_tb([0-9]{1,4})_step([0-9]{1,6})$`)
})

// findMeaning finds the program in the metadata, and checks that nodes agree with its steps.
func (p *program) findMeaning() {
	var source string
	for _, t := range p.traces {
		v, _ := Find(t.Metadata.Attrs, "input_file")
		text, _ := v.Text()
		if source == "" {
			source = text
		}
		if text == "" || text != source {
			p.notes = append(p.notes, "traces do not say which data they move: the right result is unknown")
			return
		}
	}
	m, err := p.match(source)
	if err != nil {
		p.notes = append(p.notes, fmt.Sprintf("the metadata has an input_file, but nodes do not do what it says: %v", err))
		return
	}
	p.meaning = m
	p.notes = append(p.notes,
		fmt.Sprintf("which data nodes move is taken from the input_file of the metadata; messages have %d bytes a chunk",
			m.chunk))
}

func (p *program) match(source string) (*meaning, error) {
	x, findings := msccl.Read(plan.File{Name: "input_file", Data: []byte(source)})
	if x == nil {
		return nil, fmt.Errorf("%v", findings)
	}
	if x.World != len(p.traces) {
		return nil, fmt.Errorf("it is for %d ranks, there are %d", x.World, len(p.traces))
	}
	m := &meaning{}
	if m.plan, findings = x.Plan(plan.Call{InPlace: x.Modes[0]}); m.plan == nil {
		return nil, fmt.Errorf("%v", findings)
	}
	for rank, t := range p.traces {
		known := map[[2]int]*plan.Step{}
		for b := range m.plan.Ranks[rank].Blocks {
			block := &m.plan.Ranks[rank].Blocks[b]
			for i := range block.Steps {
				known[[2]int{block.ID, block.Steps[i].Index}] = &block.Steps[i]
			}
		}
		steps := make([]*plan.Step, len(t.Nodes))
		for i := range t.Nodes {
			n := &t.Nodes[i]
			if n.Type == MetadataNode {
				continue
			}
			name := nodeName().FindStringSubmatch(n.Name)
			if name == nil {
				return nil, t.fail(n, fmt.Sprintf("the name %q is not TYPE_tbN_stepM", n.Name))
			}
			tb, _ := strconv.Atoi(name[2])
			step, _ := strconv.Atoi(name[3])
			s := known[[2]int{tb, step}]
			if s == nil {
				return nil, t.fail(n, fmt.Sprintf("it has no step %d of tb %d", step, tb))
			}
			if err := m.same(p, t, n, s, p.works[rank][i]); err != nil {
				return nil, err
			}
			steps[i] = s
		}
		m.steps = append(m.steps, steps)
	}
	cells := 0
	for _, v := range m.plan.Ranks[0].Views[:2] {
		cells = max(cells, v.Cells)
	}
	m.bytes = m.chunk * int64(cells)
	return m, nil
}

// same checks that a node agrees with a step.
func (m *meaning) same(p *program, t *Trace, n *Node, s *plan.Step, w work) error {
	differs := func(what string) error {
		return t.fail(n, fmt.Sprintf("%v does not fit step %d (%s): %s", n.Type, s.Index, s.Op, what))
	}
	count := 0
	switch n.Type {
	case CommSendNode:
		if s.Op != "s" || m.plan.Channels[s.Send].To != w.peer {
			return differs("want a send to the same rank")
		}
		count = s.Src[0].N
	case CommRecvNode:
		if s.Op != "r" && s.Op != "rrc" || m.plan.Channels[s.Take].From != w.peer {
			return differs("want a receive from the same rank")
		}
		count = s.Dst[0].N
	case CompNode:
		if s.Op != "rrc" {
			return differs("want a reduction")
		}
		return nil
	default:
		return differs("want sends, receives and reductions")
	}
	if w.bytes%int64(count) != 0 || m.chunk != 0 && m.chunk != w.bytes/int64(count) {
		return differs(fmt.Sprintf("%d bytes for %d chunks, want as many for a chunk as in the other nodes", w.bytes, count))
	}
	m.chunk = w.bytes / int64(count)
	return nil
}
