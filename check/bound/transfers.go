package bound

import (
	"context"
	"unsafe"

	"kernbench/hw/memory"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Transfer holds what one algorithm moves in one call, on the machine's route between two nodes.
type Transfer struct {
	From, To machine.NodeID
	Bytes    int64
}

// Transfers returns what the ranks of a launch move, added up by pairs of nodes for each block. It
// runs their kernels and stores none of what they do. The error is why they cannot be run alone:
// they ask, fail, or move between more pairs than fit into a budget of memory.
func Transfers(ctx context.Context, m *machine.Machine, l *launch.Launch, budget unit.Bytes) ([]Transfer, error) {
	t := tally{machine: m, l: l, bytes: map[[2]machine.NodeID]int64{}, most: int(budget / unit.Bytes(unsafe.Sizeof(Transfer{})))}
	err := program.Visit(ctx, l, program.Options{PEName: m.PEName}, t.instruction)
	if err == nil {
		err = t.flush()
	}
	return t.all, err
}

// tally sums the bytes that the ranks of a launch move, one block after the other.
type tally struct {
	machine *machine.Machine
	l       *launch.Launch
	group   *launch.Group
	block   int                         // at hand, of group
	bytes   map[[2]machine.NodeID]int64 // of block
	order   [][2]machine.NodeID         // keys of bytes, as they came
	all     []Transfer                  // of the blocks before
	most    int                         // of them
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

// flush ends the sums of a block.
func (t *tally) flush() error {
	if len(t.all)+len(t.order) > t.most {
		return program.ErrBudget
	}
	for _, pair := range t.order {
		t.all = append(t.all, Transfer{From: pair[0], To: pair[1], Bytes: t.bytes[pair]})
	}
	clear(t.bytes)
	t.order = t.order[:0]
	return nil
}

// instruction adds one of block i of a group. A message on a ring counts only for the part of its
// route that does not depend on its payload's memory. That is from TCM to TCM if slots are there,
// else from PE to PE. Bytes that engines move for a composite, or from a slot to memory, do not
// count.
func (t *tally) instruction(g *launch.Group, i int, in *tl.Instr) error {
	if g != t.group || i != t.block {
		if err := t.flush(); err != nil {
			return err
		}
		t.group, t.block = g, i
	}
	m, pe := t.machine, int(g.PEs[g.Block(i).Rank])
	own := m.PE(pe)
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
	return nil
}
