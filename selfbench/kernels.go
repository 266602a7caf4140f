package selfbench

import (
	"context"
	"fmt"
	"time"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// empty is an executor that does nothing: a launch on it takes the time of the kernels alone.
type empty struct{}

func (empty) Data() *oplog.Log { return nil }
func (empty) Close()           {}

func (empty) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	res := &launch.Result{}
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i, pe := range g.PEs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := tl.NewContext(tl.Setup{
				Core: &emptyCore{ring: &l.Ring, sent: &res.Messages}, Rank: i, World: len(g.PEs), PE: int(pe),
				PEsPerCube: g.PEsPerCube, Wiring: &g.Wiring[i], Ring: &l.Ring, Addrs: l.Addrs, Scratch: l.Scratch,
			})
			if _, err := tl.DriverOf(c).Run(l.Kernel, g.Args); err != nil {
				return nil, err
			}
		}
	}
	return res, nil
}

// emptyCore answers a directed receive with a tensor of the requested shape and type.
type emptyCore struct {
	ring *tl.Ring
	sent *int64
}

func (e *emptyCore) Do(in *tl.Instr) {
	switch in.Op {
	case tl.OpSend:
		*e.sent += int64(e.ring.Parts(in.N, in.Type))
	case tl.OpRecv:
		in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
	}
}

// ringElems is the number of elements of each rank in the rows of this file, as in the rows ring-N.
const ringElems = 32768

// onRing returns a host with a vector on each of the PEs, and the rings of an algorithm.
func onRing(m *machine.Machine, x exec.Executor) (*device.Context, []*device.Tensor, error) {
	c, err := device.New(device.Config{Machine: m, Executor: x})
	if err != nil {
		return nil, nil, err
	}
	var all []*device.Tensor
	for sip := range m.SIPs() {
		if err := c.SetDevice(sip); err != nil {
			return nil, nil, err
		}
		x, err := c.EmptyRanks(m.NumPEs()/m.SIPs(), ringElems, dtype.F16)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, x)
	}
	_, err = c.InstallIPCQ(ringName)
	return c, all, err
}

const ringName = "ring_allreduce_chunked"

// kernels returns the row that measures the kernels of a ring alone.
func kernels(pes int) *work {
	return inside(fmt.Sprintf("kernels-%d", pes),
		fmt.Sprintf("kernels of %s, %s PEs, 64 KiB per PE, on an executor that does nothing", ringName, group(pes)),
		[]Figure{{What: wallTime, Unit: Seconds}, {What: userCPU, Unit: Seconds}, {What: perMessage, Unit: Seconds}},
		func(ctx context.Context) ([]float64, error) {
			m, err := machineOf(pes)
			if err != nil {
				return nil, err
			}
			c, tensors, err := onRing(m, empty{})
			if err != nil {
				return nil, err
			}
			took, cpu, messages, err := timed(func() (*device.Launched, error) { return c.Launch(ctx, ringName, tensors, tl.Sum) })
			if err != nil {
				return nil, err
			}
			return []float64{took.Seconds(), cpu.Seconds(), took.Seconds() / float64(messages)}, nil
		})
}

// ownRing compares a ring that an author wrote, with no row in the library, with the library's.
func ownRing(pes int) *work {
	return inside(fmt.Sprintf("own-ring-%d", pes),
		fmt.Sprintf("ring all-reduce as an author writes it, a kernel and nothing else, %s PEs, 64 KiB per PE, over %s",
			group(pes), ringName),
		[]Figure{{What: ratioOfCPU, Unit: Times}, {What: wallTime, Unit: Seconds}, {What: userCPU, Unit: Seconds},
			{What: perMessage, Unit: Seconds}},
		func(ctx context.Context) ([]float64, error) {
			m, err := machineOf(pes)
			if err != nil {
				return nil, err
			}
			var cpu [2]time.Duration
			var took time.Duration
			var messages int64
			for i := range cpu {
				x, err := exec.Default(exec.Timing).Open(exec.Setup{Machine: m})
				if err != nil {
					return nil, err
				}
				c, tensors, err := onRing(m, x)
				if err != nil {
					x.Close()
					return nil, err
				}
				took, cpu[i], messages, err = timed(func() (*device.Launched, error) {
					if i == 0 {
						return c.Launch(ctx, ringName, tensors, tl.Sum)
					}
					return c.LaunchKernel(ctx, "own ring", oneRing, tensors, tl.Sum)
				})
				x.Close()
				if err != nil {
					return nil, err
				}
			}
			return []float64{cpu[1].Seconds() / cpu[0].Seconds(), took.Seconds(), cpu[1].Seconds(), took.Seconds() / float64(messages)}, nil
		})
}

// ratioOfCPU is the figure of a row that compares two launches within this process.
const ratioOfCPU = "ratio of CPU times"

// timed returns the time of a launch, and its number of messages.
func timed(launch func() (*device.Launched, error)) (took, cpu time.Duration, messages int64, err error) {
	start, used := time.Now(), processTime()
	l, err := launch()
	took, cpu = time.Since(start), processTime()-used
	if err != nil {
		return 0, 0, 0, err
	}
	return took, cpu, l.Result.Messages, nil
}

// oneRing is a simple ring all-reduce: a chunk a step, no pieces.
func oneRing(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	chunks := a.Shard(me).Split(n)
	at := me
	sum := c.Load(chunks.Chunk(at))
	for range n - 1 {
		c.Send(tl.East, sum)
		at = (at + n - 1) % n
		got := c.Recv(tl.West, tl.Dims(chunks.Chunk(at).Len()), a.DType)
		sum = c.Combine(a.Op, c.Load(chunks.Chunk(at)), got)
	}
	c.Store(chunks.Chunk(at), sum)
	for range n - 1 {
		c.Send(tl.East, sum)
		at = (at + n - 1) % n
		sum = c.Recv(tl.West, tl.Dims(chunks.Chunk(at).Len()), a.DType)
		c.Store(chunks.Chunk(at), sum)
	}
}
