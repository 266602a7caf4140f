package tl

import (
	"fmt"
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
)

// Kernel is the program that each rank of a launch runs.
type Kernel func(c *Context, a Args)

// Args are the plain arguments of a launch: the same for all ranks of a group.
type Args struct {
	Op      ReduceOp // what a collective combines by
	DType   dtype.Type
	NElem   int        // elements per rank
	Shards  []mem.Addr // where each rank's elements lie; see Shard
	Tensors []Ref      // tensors in the order of the launch's arguments
	Ints    []int      // numbers in the order of the launch's arguments

	// Outs are the addresses of the results, of OutElems elements each, for collectives whose
	// result does not replace the contribution. Nil: it does; see Out.
	Outs     []mem.Addr
	OutElems []int

	// ChunkBytes is the length of a pipeline's pieces; 0: the formula's choice. LatencyBytes is the
	// alpha/beta of the machine for that formula. These are the bytes that a link carries while an
	// empty message reaches the next rank; 0: unknown.
	ChunkBytes, LatencyBytes int64

	// Channels is the number of rings that a machine runs side by side, each with a share of the
	// vector; 0: it is not known. They share links evenly, so that their parts of a chunk arrive
	// together.
	Channels int

	// TransferChannels is the number of channels by which the machine moves what a rank of the call
	// has for one other rank, as one transfer. 0: it is as fast as the links. See UseChannels.
	TransferChannels int

	// Rails are the channels that have links of their own between nodes. Each rank runs the kernel
	// once for each of them.
	Rails Rails

	// Levels are the sizes of the machine's levels: the ranks of a cube, the cubes of a SIP, and so
	// on. The outermost level is the rest, and is not listed. Nil: unknown, or the machine has no
	// levels.
	Levels []int

	Windows []*mem.Window // symmetric memory, in the order of the launch's arguments

	// InBlocks are the offsets of each rank's block in a contribution, in elements from the address
	// of the shard; OutBlocks are those in a result. Nil: blocks are contiguous. See InBlock,
	// OutBlock.
	InBlocks, OutBlocks []mem.Chunk

	// Uses are counters that the kernel keeps for its window from one call to the next, on this
	// rank. Nil: the window is new, of zeros.
	Uses []int
}

// InBlock returns block j, of n, of a rank's contribution.
func (a *Args) InBlock(rank, blocks, j int) Ref {
	if a.InBlocks == nil {
		return a.Shard(rank).Chunk(blocks, j)
	}
	return blockAt(a.Shards[rank], a.InBlocks[j], a.DType)
}

// OutBlock returns block j of a rank's result, which has n elements.
func (a *Args) OutBlock(rank, n, blocks, j int) Ref {
	if a.OutBlocks == nil {
		return a.Out(rank, n).Chunk(blocks, j)
	}
	at := a.Shards
	if a.Outs != nil {
		at = a.Outs
	}
	return blockAt(at[rank], a.OutBlocks[j], a.DType)
}

func blockAt(at mem.Addr, b mem.Chunk, t dtype.Type) Ref {
	return Ref{at + mem.Addr(b.Lo*t.Size()), Dims(b.N), t}
}

// Use adds one to a use counter and returns it. A word of the window that grows by one with each
// use has this value.
func (a *Args) Use(i int) int {
	if a.Uses == nil {
		return 1
	}
	a.Uses[i]++
	return a.Uses[i]
}

// Fresh returns a copy of the arguments with counters of its own, for an execution of the kernel
// that does not count.
func (a Args) Fresh() Args {
	a.Uses = slices.Clone(a.Uses)
	return a
}

// Shard returns the slice of the first tensor that belongs to a rank: NElem elements.
func (a *Args) Shard(rank int) Ref {
	return Ref{a.Shards[rank], Dims(a.NElem), a.DType}
}

// Out returns where a rank's result of n elements goes: its place among Outs, or the first n of
// its shard.
func (a *Args) Out(rank, n int) Ref {
	if a.Outs == nil {
		return Ref{a.Shards[rank], Dims(n), a.DType}
	}
	return Ref{a.Outs[rank], Dims(a.OutElems[rank]), a.DType}.Slice(0, n)
}

// Window is argument i among the windows. It panics when there are fewer.
func (a *Args) Window(i int) *mem.Window {
	return argument(a.Windows, i, "Window", "an algorithm's row declares its window in the field Window, a kerneltest.Config in Layout")
}

// Tensor is argument i among the tensors. It panics when there are fewer.
func (a *Args) Tensor(i int) Ref {
	return argument(a.Tensors, i, "Tensor", "tensors are arguments of the launch")
}

// Int is argument i among the numbers. It panics when there are fewer.
func (a *Args) Int(i int) int {
	return argument(a.Ints, i, "Int", "an algorithm's row makes its numbers in the field KernelArgs, a kerneltest.Config has them in Args")
}

func argument[T any](list []T, i int, what, hint string) T {
	if i < 0 || i >= len(list) {
		panic(fmt.Sprintf("%s(%d): the launch has %d of these arguments; %s", what, i, len(list), hint))
	}
	return list[i]
}
