package tl

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl/watch"
	"kernbench/unit"
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

// Launch is one start of a kernel on some PEs of the machine, in one group or several
// that run side by side and do not talk to each other.
type Launch struct {
	Name    string
	Kernel  Kernel
	Groups  []Group
	Ring    Ring
	Addrs   *mem.Map
	Scratch unit.Bytes // per PE

	// Tensors is what tensors hold of a PE's HBM slice, which rings cannot have. Nil: nothing.
	Tensors func(pe int) unit.Bytes

	Watch *watch.Watch // that sees what its kernels do; may be nil
}

// Group is a set of PEs that run a launch's kernel together.
type Group struct {
	PEs        []int32 // index in the machine, by rank
	PEsPerCube int     // ranks that share a cube: NumPrograms(0)
	Wiring     []Wiring
	Args       Args
}

// World is the number of ranks in all groups.
func (l *Launch) World() int {
	n := 0
	for i := range l.Groups {
		n += len(l.Groups[i].PEs)
	}
	return n
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
		if len(l.Groups[g].Wiring) != len(l.Groups[g].PEs) {
			return fmt.Errorf("group %d has %d PEs but wiring for %d", g, len(l.Groups[g].PEs), len(l.Groups[g].Wiring))
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

// Ring is the configuration of the IPCQ rings of a launch.
type Ring struct {
	Slots       int       // per direction
	SlotBytes   int64     // the largest message; longer payloads go as several
	Space       mem.Space // where slots lie: TCM, HBM or SRAM (buffer_kind)
	CreditBytes int64     // size of a credit on its way back
	Poll        bool      // a blocked PE re-reads its pointers; otherwise it sleeps
	PollEvery   unit.Time // between two reads
	WakeCost    unit.Time // of the interrupt that ends a sleep
	OnRecv      bool      // the older rule: the credit leaves inside the receive
	Strict      bool      // a receive must agree with what was sent in type and shape
	Protocol    Protocol  // of its messages, and of those to windows
}

// Validate checks the limits of the ring's fields.
func (r *Ring) Validate() error {
	switch {
	case r.Slots < 1 || r.Slots > 1<<15:
		return fmt.Errorf("n_slots %d: must be 1 to 32768", r.Slots)
	case r.SlotBytes < 8:
		return fmt.Errorf("slot_size %d: must be at least 8 bytes", r.SlotBytes)
	case r.Space < mem.HBM || r.Space > mem.SRAM:
		return fmt.Errorf("buffer_kind %v: one of tcm, hbm, sram", r.Space)
	case r.Poll && r.PollEvery <= 0:
		return fmt.Errorf("poll interval %v: must be positive when backpressure is poll", r.PollEvery)
	case r.CreditBytes < 0 || r.WakeCost < 0:
		return fmt.Errorf("credit size and wake cost must not be negative")
	}
	return r.Protocol.Validate()
}

// Parts is the number of slot messages in which n elements of a type travel.
func (r *Ring) Parts(n int, t dtype.Type) int {
	per := r.SlotElems(t)
	return max(1, (n+per-1)/per)
}

// SlotElems is the number of elements of a type that one slot holds.
func (r *Ring) SlotElems(t dtype.Type) int { return int(r.SlotBytes) / t.Size() }

// Result is what an executor says of a launch that ended well.
type Result struct {
	Start, End unit.Time // simulated; zero without a clock
	Messages   int64     // slot messages sent through rings
	Bytes      int64     // payload of those messages
	Events     int64     // of the event kernel; zero without one
	Hazards    int64     // reads of slots whose credit had already gone (credit: on_recv)
	Traffic    []Traffic // by rank of all groups
	Mode       string    // how the times were found, and why so: for people; "" without a clock
}

// Duration is the simulated time from the common start to the end of the last kernel.
func (r *Result) Duration() unit.Time { return r.End - r.Start }
