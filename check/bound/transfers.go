package bound

import (
	"kernbench/hw/memory"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Transfer is what one algorithm moves in one call, on the machine's route between two nodes.
type Transfer struct {
	From, To machine.NodeID
	Bytes    int64
}

// Transfers returns what a recorded launch moves, added up by pairs of nodes. The program has
// places.
func Transfers(m *machine.Machine, l *launch.Launch, p *program.Program) []Transfer {
	t := tally{machine: m, l: l, bytes: map[[2]machine.NodeID]int64{}}
	at := 0
	for g := range l.Groups {
		for i := range l.Groups[g].NumBlocks() {
			t.block(p, &p.Blocks[at], &l.Groups[g], i)
			at++
		}
	}
	return t.all()
}

// tally sums the bytes that the ranks of a launch move.
type tally struct {
	machine *machine.Machine
	l       *launch.Launch
	bytes   map[[2]machine.NodeID]int64
	order   [][2]machine.NodeID // keys of bytes, as they came
}

func (t *tally) add(from, to machine.NodeID, bytes int64) {
	if bytes <= 0 || from == to {
		return
	}
	pair := [2]machine.NodeID{from, to}
	if _, known := t.bytes[pair]; !known {
		t.order = append(t.order, pair)
	}
	t.bytes[pair] += bytes
}

// block adds the operations of block i of a group. A message on a ring counts only for the part of
// its route that does not depend on its payload's memory: from TCM to TCM if slots are there, else
// from PE to PE. Bytes that engines move for a composite, or from a slot to memory, do not count.
func (t *tally) block(p *program.Program, b *program.Block, g *launch.Group, i int) {
	m, pe := t.machine, int(g.PEs[g.Block(i).Rank])
	own := m.PE(pe)
	for in := range p.Instrs(b, pe) {
		switch in.Op {
		case tl.OpLoad:
			t.add(memory.Node(m, in.Addr), own, in.Bytes())
		case tl.OpStore:
			t.add(own, memory.Node(m, in.Addr), in.Bytes())
		case tl.OpSend:
			if in.A == tl.None {
				t.add(memory.Node(m, in.Addr), own, in.Bytes())
			}
			peer := int(g.PEs[g.Block(int(g.Wiring[i].Out[in.Port].Peer)).Rank])
			if t.l.Ring.Space == mem.TCM {
				t.add(m.TCM(pe), m.TCM(peer), in.Bytes())
			} else {
				t.add(own, m.PE(peer), in.Bytes())
			}
		case tl.OpPut:
			from := own
			if in.A == tl.None {
				from = memory.Node(m, in.Side.Local)
			}
			t.add(from, memory.Node(m, in.Side.Remote), in.Bytes())
		case tl.OpGet:
			t.add(memory.Node(m, in.Side.Remote), memory.Node(m, in.Side.Local), in.Bytes())
		}
	}
}

func (t *tally) all() []Transfer {
	all := make([]Transfer, 0, len(t.order))
	for _, pair := range t.order {
		all = append(all, Transfer{From: pair[0], To: pair[1], Bytes: t.bytes[pair]})
	}
	return all
}
