package bound

import (
	"cmp"
	"context"
	"errors"
	"math"
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
	Rate     unit.Rate // of the channels that write it, one message after the other; 0: as fast as the links
}

// ErrPart is the error of Transfers if instructions are left when its budget is spent.
var ErrPart = errors.New("only the first instructions are counted")

// Budget is what Transfers may use.
type Budget struct {
	Memory       unit.Bytes // of the list
	Instructions int64      // of all blocks; 0: no limit
}

// Transfers returns what the ranks of a launch move, added up by pairs of nodes for each block. It
// runs their kernels and stores none of what they do. With ErrPart it returns what the first blocks
// move. A limit of time by these bytes is a limit of the launch, too. The other errors are why
// kernels cannot be run alone: they ask, fail, or move between too many pairs for the memory.
func Transfers(ctx context.Context, m *machine.Machine, l *launch.Launch, b Budget) ([]Transfer, error) {
	t := tally{
		machine: m, l: l, places: map[route]int32{}, most: int(b.Memory / unit.Bytes(unsafe.Sizeof(Transfer{}))),
		left: cmp.Or(b.Instructions, math.MaxInt64),
	}
	err := program.Visit(ctx, l, program.Options{PEName: m.PEName}, t.instruction)
	return t.all, err
}

// route is the path of the bytes that a block moves.
type route struct {
	from, to machine.NodeID
	ring     int32 // of messages; -1: of all else
}

// tally sums the bytes that the ranks of a launch move, one block after the other.
type tally struct {
	machine *machine.Machine
	l       *launch.Launch
	group   *launch.Group
	block   int             // at hand, of group
	places  map[route]int32 // of block, in all
	all     []Transfer      // of this block and those before
	most    int             // of them
	left    int64           // instructions that may follow
}

// add counts bytes that channels write at a rate; 0: as fast as the links.
func (t *tally) add(at route, bytes int64, rate unit.Rate) {
	if bytes <= 0 || at.from == at.to {
		return
	}
	i, known := t.places[at]
	if !known {
		i = int32(len(t.all))
		t.places[at] = i
		t.all = append(t.all, Transfer{From: at.from, To: at.to, Rate: rate})
	}
	x := &t.all[i]
	if x.Bytes += bytes; x.Rate == 0 || rate == 0 {
		x.Rate = 0
	} else {
		x.Rate = max(x.Rate, rate)
	}
}

// instruction adds one of block i of a group. A message on a ring counts only for the part of its
// route that does not depend on its payload's memory. That is from TCM to TCM if slots are there,
// else from PE to PE. Bytes that engines move for a composite, or from a slot to memory, do not
// count.
func (t *tally) instruction(g *launch.Group, i int, in *tl.Instr) error {
	if t.left--; t.left < 0 {
		return ErrPart
	}
	if g != t.group || i != t.block {
		clear(t.places)
		t.group, t.block = g, i
	}
	m, pe := t.machine, int(g.PEs[g.Block(i).Rank])
	own := m.PE(pe)
	add := func(from, to machine.NodeID) { t.add(route{from, to, -1}, in.Bytes(), 0) }
	switch in.Op {
	case tl.OpLoad:
		add(memory.Node(m, in.Addr), own)
	case tl.OpStore:
		add(own, memory.Node(m, in.Addr))
	case tl.OpSend:
		if in.A == tl.None {
			add(memory.Node(m, in.Addr), own)
		}
		peer := int(g.PEs[g.Block(int(g.Wiring[i].Out[in.Port].Peer)).Rank])
		at := route{own, m.PE(peer), int32(in.Port)}
		if t.l.Ring.Space == mem.TCM {
			at.from, at.to = m.TCM(pe), m.TCM(peer)
		}
		t.add(at, in.Bytes(), t.l.Ring.Protocol.Through(in.Channels))
	case tl.OpPut:
		from := own
		if in.A == tl.None {
			from = memory.Node(m, in.Side.Local)
		}
		add(from, memory.Node(m, in.Side.Remote))
	case tl.OpGet:
		add(memory.Node(m, in.Side.Remote), memory.Node(m, in.Side.Local))
	}
	if len(t.all) > t.most {
		return program.ErrBudget
	}
	return nil
}
