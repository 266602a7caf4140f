package mock_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
)

// each runs a kernel on three ranks with four elements each.
func each(t *testing.T, cfg kerneltest.Config, k tl.Kernel) [][]float64 {
	t.Helper()
	if cfg.Inputs == nil {
		cfg.Inputs = [][]float64{{1, 2, 3, 4}, {10, 20, 30, 40}, {100, 200, 300, 400}}
	}
	return kerneltest.Once(t, k, cfg)
}

func wantShards(t *testing.T, got [][]float64, want ...[]float64) {
	t.Helper()
	for r := range want {
		if !slices.Equal(got[r], want[r]) {
			t.Errorf("rank %d: %v, want %v", r, got[r], want[r])
		}
	}
}

func TestProgramIDs(t *testing.T) {
	got := each(t, kerneltest.Config{Inputs: vectors(5, 5), PEsPerCube: 2, Args: []int{7}}, func(c *tl.Context, a tl.Args) {
		for i, v := range []int{c.ProgramID(0), c.ProgramID(1), c.NumPrograms(0), c.NumPrograms(1), a.Int(0)} {
			c.Store(a.Shard(c.Rank()).Slice(i, 1), c.Full(tl.Dims(1), a.DType, float64(v)))
		}
	})
	wantShards(t, got, []float64{0, 0, 2, 3, 7}, []float64{1, 0, 2, 3, 7}, []float64{0, 1, 2, 3, 7},
		[]float64{1, 1, 2, 3, 7}, []float64{0, 2, 2, 3, 7})
}

// A message carries the source as it was when the call returned.
func TestMessagesAreSnapshots(t *testing.T) {
	got := each(t, kerneltest.Config{}, func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		c.SendRef(tl.East, mine)
		c.Store(mine, c.Full(mine.Shape, mine.DType, -1))
		c.RecvTo(tl.West, mine)
	})
	wantShards(t, got, []float64{100, 200, 300, 400}, []float64{1, 2, 3, 4}, []float64{10, 20, 30, 40})
}

// So does the rest of a payload that is longer than a slot, which follows later.
func TestLongMessagesAreSnapshots(t *testing.T) {
	for _, slots := range []int{1, 2, 3} {
		got := each(t, kerneltest.Config{Slots: slots, SlotBytes: 8}, func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank())
			c.SendRef(tl.East, mine)
			c.Store(mine, c.Full(mine.Shape, mine.DType, -1))
			c.RecvTo(tl.West, mine)
		})
		wantShards(t, got, []float64{100, 200, 300, 400}, []float64{1, 2, 3, 4}, []float64{10, 20, 30, 40})
	}
}

// Slices of a received slot keep their place, and are sent on from there.
func TestSlicesOfSlots(t *testing.T) {
	got := each(t, kerneltest.Config{}, func(c *tl.Context, a tl.Args) {
		x := own(c, a).Slice(1, 3)
		c.Send(tl.East, x)
		y := like(c, tl.West, x).Slice(1, 2)
		c.Send(tl.East, y)
		z := like(c, tl.West, y)
		c.Store(a.Shard(c.Rank()).Slice(0, 1), z.Slice(1, 1))
	})
	wantShards(t, got, []float64{40, 2, 3, 4}, []float64{400, 20, 30, 40}, []float64{4, 200, 300, 400})
}

// An undirected receive goes round the directions from the last one served.
func TestRoundRobin(t *testing.T) {
	for range 2 { // and is the same every time
		var order []string
		each(t, kerneltest.Config{}, func(c *tl.Context, a tl.Args) {
			x := own(c, a)
			for range 3 {
				c.Send(tl.East, x)
				c.Send(tl.West, x)
			}
			for range 6 {
				_, d := c.RecvAny(x.Shape(), x.DType())
				if c.Rank() == 0 {
					order = append(order, d.String())
				}
			}
		})
		// Rank 0 runs first and waits; rank 1's messages come from E before rank 2's from W.
		if want := []string{"E", "W", "E", "W", "E", "W"}; !slices.Equal(order, want) {
			t.Errorf("served %v, want %v", order, want)
		}
	}
}

func TestFutures(t *testing.T) {
	got := each(t, kerneltest.Config{}, func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		f := c.RecvAsync(tl.West, x.Shape(), x.DType())
		g := c.RecvAsync(tl.West, x.Shape(), x.DType())
		c.Send(tl.East, x)
		c.Send(tl.East, c.Neg(x))
		sum := c.Add(x, c.Wait(f))
		c.Store(a.Shard(c.Rank()), c.Add(sum, c.Scale(dtype.Mul, c.Wait(g), 3)))
	})
	wantShards(t, got, []float64{1 - 200, 2 - 400, 3 - 600, 4 - 800})
}

// A slot lent to the kernel is occupied until the next receive of its direction. With one slot,
// rank 0's second send waits for that, and rank 1 waits in vain for the message after it. The older
// rule gives the slot back within the receive.
func TestCreditsComeWithTheNextReceive(t *testing.T) {
	kernel := func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		if c.Rank() == 0 {
			c.Send(tl.East, x)
			c.Send(tl.East, x)
			c.Send(tl.West, x)
			return
		}
		like(c, tl.West, x)
		like(c, tl.East, x)
		like(c, tl.West, x)
	}
	cfg := kerneltest.Config{Inputs: vectors(2, 4), Slots: 1}
	var hang *fault.Deadlock
	if _, err := kerneltest.Try(kernel, cfg); !errors.As(err, &hang) || !slices.Equal(hang.Cycle, []int{0, 1}) {
		t.Errorf("%v, want a hang of both ranks", err)
	}
	cfg.OnRecv = true
	kerneltest.Once(t, kernel, cfg)
	cfg.OnRecv, cfg.Slots = false, 2
	kerneltest.Once(t, kernel, cfg)
	cfg.Slots, cfg.SlotBytes = 1, 8 // longer than a slot: copied, and given back at once
	kerneltest.Once(t, kernel, cfg)
}

// The end of a kernel gives back the slot that it still holds: the second send returns
// then, though no rank will receive it.
func TestCreditsComeAtTheEnd(t *testing.T) {
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		if c.Rank() == 0 {
			c.Send(tl.East, x)
			c.Send(tl.East, x)
			return
		}
		like(c, tl.West, x)
	}, kerneltest.Config{Inputs: vectors(2, 4), Slots: 1})
	var left *fault.Unreceived
	if !errors.As(err, &left) || left.Rank != 1 || left.From != 0 || left.Count != 1 {
		t.Errorf("%v, want one message that rank 1 did not receive", err)
	}
}

// Under the older rule, reads of a slot that the next message has overwritten are
// hazards, and are counted.
func TestHazards(t *testing.T) {
	kernel := func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		if c.Rank() == 0 {
			c.Send(tl.East, x)
			c.Send(tl.East, x)
			c.Send(tl.West, x)
			return
		}
		y := like(c, tl.West, x)
		c.Add(y, x) // still there
		like(c, tl.East, x)
		c.Add(y, y) // overwritten: both operands
		like(c, tl.West, x)
	}
	for slots, want := range map[int]int64{1: 2, 2: 0} {
		o, err := kerneltest.Observe(context.Background(), kernel, kerneltest.Config{Inputs: vectors(2, 4), Slots: slots, OnRecv: true})
		if err != nil {
			t.Fatal(err)
		}
		if o.Result.Hazards != want {
			t.Errorf("%d slots: %d hazards, want %d", slots, o.Result.Hazards, want)
		}
	}
}

// Without strict validation a receive may see the elements as others of their size: the
// float32 1.0 is 0x3f800000.
func TestLooseReceive(t *testing.T) {
	for _, slotBytes := range []int64{8, 64} {
		got := each(t, kerneltest.Config{Loose: true, SlotBytes: slotBytes, Inputs: [][]float64{{1, 0, -2, 4, 1}}},
			func(c *tl.Context, a tl.Args) {
				mine := a.Shard(c.Rank())
				c.Send(tl.East, c.Load(mine).Slice(1, 4))
				bits := c.Recv(tl.West, tl.Dims(2, 2), dtype.I32).Reshape(4)
				c.Store(mine.Slice(0, 4), c.Convert(bits, dtype.F32))
			})
		wantShards(t, got, []float64{0, -0x40000000, 0x40800000, 0x3f800000, 1})
	}
}

// A composite multiplies, scales, adds a bias and cuts off, from memory to memory.
func TestComposite(t *testing.T) {
	in := [][]float64{{
		1, 2, 3, 4, // A 2×2
		1, 0, 0, -1, // B 2×2
		0, 0, 0, 0, // Out
		10, 1, // bias
	}}
	got := each(t, kerneltest.Config{Inputs: in}, func(c *tl.Context, a tl.Args) {
		m := a.Shard(0)
		at := func(i int) tl.Ref { return c.Ref(m.Addr+mem.Addr(4*i), tl.Dims(2, 2), m.DType) }
		h := c.Composite(tl.Composite{A: at(0), B: at(4), Out: at(8), Epilogue: []tl.Epilogue{
			{Op: tl.EpilogueBias, Bias: c.Load(m.Slice(12, 2))},
			{Op: tl.EpilogueReLU},
			{Op: tl.EpilogueScale, Scope: tl.PerKTile, Factor: 2},
		}})
		c.Await(h)
	})
	// 2·A·B = [2 -4; 6 -8], plus bias [12 -3; 16 -7], cut off [12 0; 16 0]
	if want := []float64{12, 0, 16, 0}; !slices.Equal(got[0][8:12], want) {
		t.Errorf("%v, want %v", got[0][8:12], want)
	}
}

// A composite takes tensors as operands, also a part of one, as they are at the call.
func TestCompositeOfTensors(t *testing.T) {
	in := [][]float64{{
		9, 9, 1, 2, 3, 4, // A 2×2, behind two others
		1, 0, 0, -1, // B 2×2
		0, 0, 0, 0, // Out
	}}
	for _, loaded := range []string{"A", "B", "AB"} {
		got := each(t, kerneltest.Config{Inputs: in}, func(c *tl.Context, a tl.Args) {
			m := a.Shard(0)
			at := func(i int) tl.Ref { return c.Ref(m.Addr+mem.Addr(4*i), tl.Dims(2, 2), m.DType) }
			p := tl.Composite{A: at(2), B: at(6), Out: at(10)}
			if strings.Contains(loaded, "A") {
				p.A, p.LoadedA = tl.Ref{}, c.Load(m.Slice(0, 6)).Slice(2, 4).Reshape(2, 2)
			}
			if strings.Contains(loaded, "B") {
				p.B, p.LoadedB = tl.Ref{}, c.Load(at(6))
			}
			c.Await(c.Composite(p))
		})
		if want := []float64{1, -2, 3, -4}; !slices.Equal(got[0][10:14], want) {
			t.Errorf("%s loaded: %v, want %v", loaded, got[0][10:14], want)
		}
	}
}

// Groups of one launch run side by side, each with ranks of its own.
func TestGroups(t *testing.T) {
	wiring, err := topology.Ring1D.Wire(2, topology.Grid{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	defer log.Close()
	l := &launch.Launch{
		Name: "groups", Addrs: &mem.Map{}, Scratch: 1 << 10,
		Ring: tl.Ring{Slots: 2, SlotBytes: 64, Space: mem.TCM, Strict: true},
		Kernel: func(c *tl.Context, a tl.Args) {
			x := own(c, a)
			c.Send(tl.East, x)
			c.Store(a.Shard(c.Rank()), like(c, tl.West, x))
		},
	}
	for g := range 2 {
		gr := launch.Group{PEsPerCube: 2, Wiring: wiring, Args: tl.Args{DType: dtype.I32, NElem: 1}}
		for r := range 2 {
			pe := 2*g + r
			at := mem.At(mem.HBM, pe, 0)
			gr.PEs, gr.Args.Shards = append(gr.PEs, int32(pe)), append(gr.Args.Shards, at)
			if err := log.Map(at, dtype.I32, 1); err != nil {
				t.Fatal(err)
			}
			if err := log.Write(at, dtype.I32, []byte{byte(pe), 0, 0, 0}); err != nil {
				t.Fatal(err)
			}
		}
		l.Groups = append(l.Groups, gr)
	}
	e := mock.New(mock.Options{Data: log})
	defer e.Close()
	res, err := e.Launch(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if res.Messages != 4 || res.Bytes != 16 {
		t.Errorf("%d messages of %d bytes, want 4 of 16", res.Messages, res.Bytes)
	}
	for pe, want := range []byte{1, 0, 3, 2} {
		b, err := e.Data().Read(mem.At(mem.HBM, pe, 0), dtype.I32, 1)
		if err != nil || b[0] != want {
			t.Errorf("PE %d: %v %v, want %d", pe, b, err, want)
		}
	}
}

// A launch without the data pass runs the same schedule.
func TestWithoutData(t *testing.T) {
	wiring, err := topology.Ring1D.Wire(4, topology.Grid{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &launch.Launch{
		Name: "timing", Addrs: &mem.Map{}, Scratch: 1 << 10,
		Ring: tl.Ring{Slots: 2, SlotBytes: 8, Space: mem.TCM, Strict: true},
		Groups: []launch.Group{{PEs: []int32{0, 1, 2, 3}, PEsPerCube: 4, Wiring: wiring,
			Args: tl.Args{DType: dtype.F16, NElem: 9, Shards: make([]mem.Addr, 4)}}},
		Kernel: func(c *tl.Context, a tl.Args) {
			m := c.Ref(mem.At(mem.HBM, c.Rank(), 0), tl.Dims(a.NElem), a.DType)
			x := c.Load(m)
			c.Send(tl.East, x)
			c.SendRef(tl.West, m)
			c.RecvTo(tl.East, m)
			c.Store(m, c.Add(x, like(c, tl.West, x)))
		},
	}
	res, err := mock.New(mock.Options{}).Launch(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if res.Messages != 4*2*3 || res.Bytes != 4*2*18 {
		t.Errorf("%d messages of %d bytes, want 24 of 144", res.Messages, res.Bytes)
	}
}

// A kernel that ends its goroutine, as t.FailNow in a kernel does, is invalid: the launch ends.
func TestGoexit(t *testing.T) {
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		if c.Rank() == 1 {
			runtime.Goexit()
		}
		like(c, tl.West, x)
	}, kerneltest.Config{Inputs: vectors(3, 1)})
	exited, ok := errors.AsType[*fault.Exited](err)
	if !ok || exited.Rank != 1 || !strings.HasPrefix(exited.Line, "mock/semantics_test.go:") {
		t.Errorf("%v, want that rank 1 ended its goroutine here", err)
	}
}
