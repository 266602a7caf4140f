// Package launch is what a host hands to an executor: a Launch of one kernel on many PEs, or a
// Batch of streams, whose operations are copies, grids of programs, events and words. Kernels do
// not see it: they see tl.
//
// It may import tl, tl/watch, mem, dtype, fault and unit. Start at Launch and Batch.
package launch

import (
	"errors"
	"fmt"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/watch"
	"kernbench/unit"
)

// Launch is one start of a kernel on some PEs of the machine, in one group or in several that run
// in parallel and do not communicate.
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

	Watch *watch.Watch // that sees what its kernels do; may be nil
}

// Group is a set of PEs that run a launch's kernel together.
type Group struct {
	PEs        []int32 // index in the machine, by rank
	PEsPerCube int     // ranks that share a cube: NumPrograms(0)
	Wiring     []tl.Wiring
	Args       tl.Args
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

// Duration is the simulated time from the common start to the end of the last kernel.
func (r *Result) Duration() unit.Time { return r.End - r.Start }
