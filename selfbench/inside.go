package selfbench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"kernbench/conf"
	"kernbench/des"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"
)

// inside returns a row that is measured in this process.
func inside(name, what string, figures []Figure, run func(ctx context.Context) ([]float64, error)) *work {
	return &work{name: name, what: what, inside: true, figures: figures,
		run: func(ctx context.Context, _ *meter) ([]float64, *Outcome, error) {
			values, err := run(ctx)
			return values, nil, err
		}}
}

// delays are the distances of posted events from the clock in real runs, in 20 equal parts. The
// runs are all-reduces on 256 to 2,048 PEs at fidelity slot. Most are a router and a wire.
var delays = [20]unit.Time{10, 1000, 3030, 3030, 3030, 3030, 3030, 3030, 3030, 3030, 3030, 3030, 3030, 12500, 16000,
	16000, 16000, 17000, 28000, 35000}

// hold pops events and posts as many, so that the number of live events is constant.
func hold(live int) *work {
	name := fmt.Sprintf("hold-1e%d", len(fmt.Sprint(live))-1)
	figures := []Figure{{What: "per event", Unit: Seconds}, {What: "allocations per event", Unit: Number}, {What: userCPU, Unit: Seconds}}
	return inside(name, fmt.Sprintf("event queue: pop one, post one, %s live, at the distances of real runs", group(live)), figures,
		func(ctx context.Context) ([]float64, error) {
			const batch, batches = 1 << 16, 32
			q, at := newQueue(live), uint32(0)
			holds := func(n int) {
				for range n {
					e, _ := q.Pop()
					// The next of a fixed sequence: a generator would add to the time of the queue.
					at = at*1664525 + 1013904223
					e.Time += delays[uint64(at)*uint64(len(delays))>>32]
					q.Post(e)
				}
			}
			holds(2*live + batch) // until the queue has grown and knows how dense events are
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start, used := time.Now(), processTime()
			for range batches {
				holds(batch)
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			took, cpu := time.Since(start).Seconds(), (processTime() - used).Seconds()
			runtime.ReadMemStats(&after)
			allocations := (after.Mallocs - before.Mallocs) / (batch * batches) // whole ones, as package testing has it
			return []float64{took / (batch * batches), float64(allocations), cpu / (batch * batches)}, nil
		})
}

// newQueue returns a queue with a number of events, spread over the range of delays.
func newQueue(live int) *des.Queue {
	q, longest := &des.Queue{}, delays[len(delays)-1]
	for i := range live {
		q.Post(des.Event{Time: unit.Time(i) * longest / unit.Time(live), Key: des.MakeKey(des.Arrive, uint32(i), 0, 0)})
	}
	return q
}

// machineOf returns the default machine with a number of PEs.
func machineOf(pes int) (*machine.Machine, error) {
	topo, err := conf.LoadTopology(nil, []string{fmt.Sprintf("system.sips.count=%d", pes/128)})
	if err != nil {
		return nil, err
	}
	return machine.Build(topo)
}

// build makes a machine, and the state of its links that a simulation begins with.
func build(pes int) *work {
	return inside(fmt.Sprintf("build-%d", pes), fmt.Sprintf("building a machine of %s PEs, and a simulator of its links", group(pes)),
		[]Figure{{What: wallTime, Unit: Seconds}, {What: userCPU, Unit: Seconds}},
		func(ctx context.Context) ([]float64, error) {
			runtime.GC() // so that the garbage of earlier rows is not collected in this one
			start, used := time.Now(), processTime()
			m, err := machineOf(pes)
			if err != nil {
				return nil, err
			}
			e, err := exec.Default(exec.Timing).Open(exec.Setup{Machine: m})
			took, cpu := time.Since(start).Seconds(), (processTime() - used).Seconds()
			if err != nil {
				return nil, err
			}
			e.Close()
			return []float64{took, cpu}, ctx.Err()
		})
}

// message is one slot message between neighbours, with everything that it passes: kernel, ring,
// DMA, links, and its credit. Each pair of PEs has links of its own.
func message(pes int) *work {
	return inside(fmt.Sprintf("message-%d", pes),
		fmt.Sprintf("one slot message between two PEs that have their links alone, on %s PEs at once", group(pes)),
		[]Figure{{What: perMessage, Unit: Seconds}, {What: userCPU, Unit: Seconds}},
		func(ctx context.Context) ([]float64, error) {
			m, err := machineOf(pes)
			if err != nil {
				return nil, err
			}
			// The difference of a long and a short launch leaves out start and end, which both
			// have.
			few, many := 8, 8+max(64, 1<<19/pes)
			var took, cpu [2]time.Duration
			var messages [2]int64
			for i, rounds := range []int{few, many} {
				l, err := pairs(m, pes, rounds)
				if err != nil {
					return nil, err
				}
				e, err := exec.Default(exec.Timing).Open(exec.Setup{Machine: m})
				if err != nil {
					return nil, err
				}
				runtime.GC()
				start, used := time.Now(), processTime()
				res, err := e.Launch(ctx, l)
				took[i], cpu[i] = time.Since(start), processTime()-used
				e.Close()
				if err != nil {
					return nil, err
				}
				messages[i] = res.Messages
			}
			each := func(t [2]time.Duration) float64 {
				return max(0, t[1]-t[0]).Seconds() / float64(messages[1]-messages[0])
			}
			return []float64{each(took), each(cpu)}, nil
		})
}

// pairs returns a launch in which PEs 2k and 2k+1 send each other messages of a slot.
func pairs(m *machine.Machine, pes, rounds int) (*launch.Launch, error) {
	top, err := topology.Lookup("ring_1d")
	if err != nil {
		return nil, err
	}
	const elems = 128 // of 2 bytes: the message of a ring all-reduce of 64 KiB on 256 PEs
	l := &launch.Launch{
		Name: "pairs", Addrs: &mem.Map{}, Scratch: m.Topology().PE().TCM.Scratch,
		Ring: tl.Ring{Slots: 4, SlotBytes: 4096, Space: mem.TCM, CreditBytes: 16, Strict: true},
		Kernel: func(c *tl.Context, a tl.Args) {
			x := c.Full(tl.Dims(elems), a.DType, 1)
			for range rounds {
				c.Send(tl.East, x)
				c.Recv(tl.West, tl.Dims(elems), a.DType)
			}
		},
	}
	for pe := 0; pe < pes; pe += 2 {
		w, err := top.Wire(2, topology.Grid{}, nil)
		if err != nil {
			return nil, err
		}
		l.Groups = append(l.Groups, launch.Group{PEs: []int32{int32(pe), int32(pe + 1)}, PEsPerCube: 2, Wiring: w,
			Args: tl.Args{DType: dtype.F16}})
	}
	return l, nil
}
