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

	// Outs is where each rank's result goes, of OutElems elements, for collectives whose
	// result does not replace the contribution. Nil: it does; see Out.
	Outs     []mem.Addr
	OutElems []int

	// ChunkBytes is how long the pieces are in which a pipeline sends a vector on; 0: as its
	// formula finds best. LatencyBytes is what the formula must know of the machine, alpha/beta:
	// what a link carries in the time that an empty message takes to the next rank; 0: unknown.
	ChunkBytes, LatencyBytes int64

	// Channels is the number of rings that a machine runs side by side, each with a share of the
	// vector; 0: it is not known. They share links evenly, so that their parts of a chunk arrive
	// together.
	Channels int

	// Levels is how many neighbouring ranks of each part of the machine make one of the next
	// part, from a cube on: of a SIP, of a host, of a row of a torus. What remains is the last
	// level, and is not in it. Nil: not known, or the machine has no parts.
	Levels []int

	Windows []*mem.Window // symmetric memory, in the order of the launch's arguments

	// InBlocks says where the block of each rank lies in a contribution that consists of such
	// blocks, in elements from the address of the shard on; OutBlocks the same of a result.
	// Nil: one after the other. See InBlock, OutBlock.
	InBlocks, OutBlocks []mem.Chunk

	// Uses is what the kernel keeps about its window from one call to the next, on this rank:
	// how often it has used what it counts. Nil: the window is new, of zeros.
	Uses []int
}

// InBlock is block j, of so many, of what a rank brings.
func (a *Args) InBlock(rank, blocks, j int) Ref {
	if a.InBlocks == nil {
		return a.Shard(rank).Chunk(blocks, j)
	}
	return blockAt(a.Shards[rank], a.InBlocks[j], a.DType)
}

// OutBlock is block j, of so many, of a rank's result, which has n elements.
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

// Use counts one more use of what the kernel's window has for it, and returns how often that
// has been used with this one: what a word that grows by one with each use comes to.
func (a *Args) Use(i int) int {
	if a.Uses == nil {
		return 1
	}
	a.Uses[i]++
	return a.Uses[i]
}

// Fresh is a copy of the arguments whose use counters are its own, for an execution of the kernel
// that does not count.
func (a Args) Fresh() Args {
	a.Uses = slices.Clone(a.Uses)
	return a
}

// Shard is the slice of the first tensor that belongs to a rank: NElem elements.
func (a *Args) Shard(rank int) Ref {
	return Ref{a.Shards[rank], Dims(a.NElem), a.DType}
}

// Out is where a rank's result of n elements goes: its place among Outs, or the first n of
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
