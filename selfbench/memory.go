package selfbench

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"kernbench/lab/run"
)

// The figures for each PE.
const (
	stackBytes = "coroutine with stack, per PE"
	ringBytes  = "rings, per PE"
	otherBytes = "all else, per PE"
)

// bytesPerPE measures memory per PE during a launch. It counts live memory, and not garbage that
// the collector has yet to find. It runs in this process, which reads its own heap.
func bytesPerPE(counts ...int) *work {
	pes, levels := ofSwitches(counts)
	return inside("bytes-per-pe",
		fmt.Sprintf("live memory of hierarchical_pipelined_allreduce under way, %s PEs on switches of %s, 16 KiB per PE",
			group(pes), joined(counts)),
		[]Figure{{What: stackBytes, Unit: Bytes}, {What: ringBytes, Unit: Bytes}, {What: otherBytes, Unit: Bytes}},
		func(ctx context.Context) ([]float64, error) {
			// Every allocation is recorded. Before a launch none can be missing.
			rate := runtime.MemProfileRate
			runtime.MemProfileRate = 1
			defer func() { runtime.MemProfileRate = rate }()
			var base, most stock
			base.take()
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			looks := 0
			_, err := run.Run(ctx, run.Spec{
				Algorithm: hierarchicalName, NElem: 8192, Sets: []string{levels},
				Progress: func(p run.Progress) {
					// The interval doubles each time: few looks, some of them late.
					if looks++; looks&(looks-1) != 0 || p.Done > 0 {
						return
					}
					var s stock
					if s.take(); s.sum() > most.sum() {
						most = s
					}
				},
			})
			if err != nil {
				return nil, err
			}
			if most.sum() == 0 {
				return nil, fmt.Errorf("bytes-per-pe: the launch on %d PEs ended before its memory was measured", pes)
			}
			each := func(now, before int64) float64 { return float64(max(0, now-before)) / float64(pes) }
			return []float64{each(most.stacks, base.stacks), each(most.rings, base.rings), each(most.others, base.others)}, nil
		})
}

// stock is live memory by purpose.
type stock struct{ stacks, rings, others int64 }

func (s *stock) sum() int64 { return s.stacks + s.rings + s.others }

// take reads the profile of the process's own memory.
func (s *stock) take() {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // a profile shows the state at the end of the previous collection
	runtime.ReadMemStats(&m)
	s.stacks = int64(m.StackInuse)
	known := int64(0)
	for _, r := range heapProfile() {
		known += r.InUseBytes()
		switch allocatedFor(r.Stack()) {
		case forStacks:
			s.stacks += r.InUseBytes()
		case forRings:
			s.rings += r.InUseBytes()
		}
	}
	s.others = int64(m.HeapAlloc) - s.rings - (s.stacks - int64(m.StackInuse))
}

func heapProfile() []runtime.MemProfileRecord {
	n, _ := runtime.MemProfile(nil, false)
	for {
		p := make([]runtime.MemProfileRecord, n+64)
		var ok bool
		if n, ok = runtime.MemProfile(p, false); ok {
			return p[:n]
		}
	}
}

type purpose int

const (
	forElse purpose = iota
	forStacks
	forRings
)

// allocatedFor returns the purpose of an allocation, by the functions on its stack.
func allocatedFor(stack []uintptr) purpose {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "kernbench/hw/ipcq."), f.Function == "kernbench/exec/sim.newPorts",
			f.Function == "kernbench/exec/sim/replay.(*Replay).makeRings":
			return forRings
		case f.Function == "iter.Pull[...]", f.Function == "runtime.newcoro", f.Function == "runtime.malg":
			return forStacks // and not iter.Pull[...].func1, which is below all calls of a kernel
		}
		if !more {
			return forElse
		}
	}
}
