// Package launch holds the types that a host passes to an executor. It is a Launch of one kernel on
// many PEs, or a Batch of streams, whose operations are copies, grids of programs, events and
// words. Kernels do not see it: they see tl.
//
// It may import tl, tl/watch, mem, dtype, fault and unit. Start at Launch and Batch.
package launch

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/watch"
	"kernbench/unit"
)

// Launch is one start of a kernel on some PEs of the machine. They are one group, or several that
// run in parallel and do not communicate.
type Launch struct {
	Name    string
	Kernel  tl.Kernel
	Groups  []Group
	Ring    tl.Ring
	Addrs   *mem.Map
	Scratch unit.Bytes // per PE

	// Tensors returns the bytes of a PE's HBM slice that tensors occupy, so that rings cannot use
	// them. Nil: none.
	Tensors func(pe int) unit.Bytes

	Watch *watch.Watch // observer of its kernels; may be nil
}

// Group is a set of PEs that run a launch's kernel together.
type Group struct {
	PEs        []int32     // index in the machine, by rank
	PEsPerCube int         // ranks that share a cube: NumPrograms(0)
	Wiring     []tl.Wiring // by rank; by block if there are Blocks
	Args       tl.Args

	// Blocks are sequences of operations that share the memory and the engines of their rank.
	// Those of a rank stand side by side, in order, and ranks ascend. Each has rings of its own:
	// the peers of Wiring are blocks, by their places here. Nil: each rank has one block.
	Blocks []Block
}

// Block is one of the sequences of operations that a rank performs side by side.
type Block struct {
	Rank   int
	Number int // among the Of blocks of its rank
	Of     int
}

// Name names the block in reports; it is empty if its rank has one.
func (b Block) Name() string {
	if b.Of <= 1 {
		return ""
	}
	return fmt.Sprintf("block %d", b.Number)
}

// NumBlocks returns the number of blocks of all ranks.
func (g *Group) NumBlocks() int {
	if g.Blocks == nil {
		return len(g.PEs)
	}
	return len(g.Blocks)
}

// Block returns block i of the group.
func (g *Group) Block(i int) Block {
	if g.Blocks == nil {
		return Block{Rank: i, Of: 1}
	}
	return g.Blocks[i]
}

// Setup returns what the kernel of block i knows of its place. Scratch memory is that of the PE, in
// equal parts for its blocks.
func (g *Group) Setup(i int, scratch unit.Bytes) tl.Setup {
	b := g.Block(i)
	return tl.Setup{
		Rank: b.Rank, Block: b.Number, World: len(g.PEs), PE: int(g.PEs[b.Rank]), PEsPerCube: g.PEsPerCube, Wiring: &g.Wiring[i],
		Scratch: scratch / unit.Bytes(b.Of),
	}
}

// checkBlocks checks the blocks of a group.
func (g *Group) checkBlocks() error {
	at := 0
	for r := range g.PEs {
		of := 0
		for at+of < len(g.Blocks) && g.Blocks[at+of].Rank == r {
			of++
		}
		for k := range of {
			if b := g.Blocks[at+k]; b.Number != k || b.Of != of {
				return fmt.Errorf("block %d of %d of rank %d stands where block %d of %d is due", b.Number, b.Of, r, k, of)
			}
		}
		if of == 0 {
			return fmt.Errorf("rank %d has no block", r)
		}
		at += of
	}
	if at < len(g.Blocks) {
		return fmt.Errorf("block %d of the group is of rank %d, which is out of order", at, g.Blocks[at].Rank)
	}
	return nil
}

// World returns the number of ranks in all groups.
func (l *Launch) World() int {
	n := 0
	for i := range l.Groups {
		n += len(l.Groups[i].PEs)
	}
	return n
}

// NumBlocks returns the number of blocks of all ranks in all groups.
func (l *Launch) NumBlocks() int {
	n := 0
	for i := range l.Groups {
		n += l.Groups[i].NumBlocks()
	}
	return n
}

// SeveralBlocks reports whether some ranks may have several blocks.
func (l *Launch) SeveralBlocks() bool {
	return slices.ContainsFunc(l.Groups, func(g Group) bool { return g.Blocks != nil })
}

// Traffic counts the accesses of all ranks; of returns those of block i among the blocks of all
// groups.
func (l *Launch) Traffic(of func(i int) tl.Traffic) []tl.Traffic {
	all := make([]tl.Traffic, l.World())
	base, at := 0, 0
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i := range g.NumBlocks() {
			rank := base + g.Block(i).Rank
			all[rank].Rank = rank
			all[rank].Add(of(at))
			at++
		}
		base += len(g.PEs)
	}
	return all
}

// Validate checks what no executor can run.
func (l *Launch) Validate() error {
	if l.Kernel == nil {
		return errors.New("no kernel")
	}
	if err := l.Ring.Validate(); err != nil {
		return err
	}
	seen := map[int32]bool{}
	for g := range l.Groups {
		if len(l.Groups[g].PEs) == 0 {
			return fmt.Errorf("group %d has no PEs", g)
		}
		if l.Groups[g].Blocks != nil {
			if err := l.Groups[g].checkBlocks(); err != nil {
				return fmt.Errorf("group %d: %w", g, err)
			}
		}
		if n := l.Groups[g].NumBlocks(); len(l.Groups[g].Wiring) != n {
			return fmt.Errorf("group %d has %d blocks but wiring for %d", g, n, len(l.Groups[g].Wiring))
		}
		for _, pe := range l.Groups[g].PEs {
			if seen[pe] {
				return fmt.Errorf("PE %d is in it twice", pe)
			}
			seen[pe] = true
		}
	}
	return nil
}

// Result is an executor's account of a launch that ended without a fault.
type Result struct {
	Start, End unit.Time    // simulated; zero without a clock
	Messages   int64        // slot messages sent through rings
	Bytes      int64        // payload of those messages
	Events     int64        // of the event kernel; zero without one
	Hazards    int64        // reads of slots whose credit had already gone (credit: on_recv)
	Traffic    []tl.Traffic // by rank of all groups
	Mode       string       // how the times were computed, and why, as text; "" without a clock
}

// Duration returns the simulated time from the common start to the end of the last kernel.
func (r *Result) Duration() unit.Time { return r.End - r.Start }
