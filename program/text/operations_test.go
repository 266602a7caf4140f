package text_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/program/text"
	"kernbench/tl"
	"kernbench/tl/launch"

	"github.com/google/go-cmp/cmp"
)

// scene returns a launch of a kernel on a ring of ranks with shards, results and a window.
func scene(t *testing.T, world int, k tl.Kernel) (*launch.Launch, *text.Recorded) {
	t.Helper()
	const elems, outs = 64, 64
	g := launch.Group{PEsPerCube: 4, Args: tl.Args{DType: dtype.F16, NElem: elems}}
	r := &text.Recorded{}
	for rank := range int32(world) {
		pe, n := 3*rank+2, int32(world)
		g.PEs = append(g.PEs, pe)
		r.In = append(r.In, mem.At(mem.HBM, int(pe), int64(rank)<<8))
		r.Out = append(r.Out, mem.At(mem.HBM, int(pe), 1<<14))
		g.Args.OutElems = append(g.Args.OutElems, outs)
		east, west := (rank+1)%n, (rank+n-1)%n
		g.Wiring = append(g.Wiring, tl.Wiring{
			Out: []tl.OutPort{{Peer: east, Dir: tl.East, PeerIn: 1}, {Peer: west, Dir: tl.West, PeerIn: 0}},
			In:  []tl.InPort{{Peer: east, Dir: tl.East, PeerOut: 1}, {Peer: west, Dir: tl.West, PeerOut: 0}},
		})
	}
	g.Args.Shards, g.Args.Outs = r.In, r.Out
	team, err := mem.NewTeam("all", g.PEs)
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := mem.NewLayout(0, []mem.Buffer{{Name: "rounds", Parts: []mem.Part{mem.SignalPart("", mem.Int64, max(1, team.Rounds()))}}})
	if err != nil {
		t.Fatal(err)
	}
	team.Meeting = mem.NewWindow("meeting", team, rounds, 1<<15)
	layout, err := mem.NewLayout(0, []mem.Buffer{
		{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F16, 16)}},
		{Name: "mixed", Parts: []mem.Part{mem.StagingPart("wide", dtype.F32, 8), mem.SignalPart("sig", mem.Int64, 48)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Args.Windows = []*mem.Window{mem.NewWindow("w", team, layout, 1<<16)}
	l := &launch.Launch{
		Name: "scene", Kernel: k, Groups: []launch.Group{g}, Addrs: &mem.Map{}, Scratch: 1 << 16,
		Ring: tl.Ring{Slots: 4, SlotBytes: 64, Space: mem.TCM, Strict: true},
	}
	r.Launch = l
	return l, r
}

// recorded returns a launch as a file.
func recorded(t *testing.T, r *text.Recorded) *text.File {
	t.Helper()
	var err error
	if r.Program, err = program.RecordLaunch(t.Context(), r.Launch, program.Options{Places: true}); err != nil {
		t.Fatal(err)
	}
	f := &text.File{Name: "scene", Algorithm: "scene", Collective: "all_reduce", Type: dtype.F16, Elems: 64, Results: 64}
	if err := f.Of(r); err != nil {
		t.Fatal(err)
	}
	return f
}

// calls are kernels that together do all that one can do which does not ask.
var calls = map[string]tl.Kernel{
	"memory": func(c *tl.Context, a tl.Args) {
		in, out := a.Shard(c.Rank()), a.Out(c.Rank(), 32)
		x := c.Load(in.Slice(c.Rank(), 8))
		c.Store(out.Slice(2*c.Rank(), 8), x)
		c.Store(out.Slice(0, 3), x.Slice(c.Rank(), 3))
		y := c.Load(tl.Ref{Addr: in.Addr, Shape: tl.Dims(2, 4), DType: dtype.I16})
		c.Store(tl.Ref{Addr: out.Addr, Shape: tl.Dims(8), DType: dtype.I16}, y)
		d := c.Desc(in, 8, 8, 3, 2)
		tile := c.LoadTile(d, 1, 4)
		c.StoreTile(c.Desc(out, 4, 8, 3, 2), 0, 6, tile)
		c.Store(out.Slice(0, 6), tile)
		c.LoadTile(c.Desc(in, 8, 8, 3, 8), 0, 0)
		c.Load(a.Shard((c.Rank()+1)%c.WorldSize()).Slice(4, 4))
	},
	"messages": func(c *tl.Context, a tl.Args) {
		in, out := a.Shard(c.Rank()), a.Out(c.Rank(), 32)
		x := c.Load(in.Slice(0, 8))
		c.Send(tl.East, x)
		c.Send(tl.East, x.Slice(2, 4))
		c.Send(tl.East, x.Reshape(2, 4))
		c.UseChannels(tl.MostChannels)
		c.SendRef(tl.East, in.Slice(0, 40))
		c.UseChannels(0)
		c.SendRef(tl.East, tl.Ref{Addr: in.Addr, Shape: tl.Dims(2, 2), DType: dtype.F16})
		c.Send(tl.East, c.Load(in.Slice(3, 0)))
		c.UseChannels(3)
		c.Send(tl.East, x)
		c.UseChannels(0)
		c.Send(tl.East, x)
		y := c.Recv(tl.West, tl.Dims(8), dtype.F16)
		c.Store(out.Slice(0, 8), y)
		c.RecvTo(tl.West, out.Slice(0, 4))
		c.Recv(tl.West, tl.Dims(2, 4), dtype.F16)
		c.Store(out, c.Recv(tl.West, tl.Dims(40), dtype.F16).Slice(0, 32))
		c.RecvTo(tl.West, tl.Ref{Addr: out.Addr, Shape: tl.Dims(2, 2), DType: dtype.F16})
		c.RecvTo(tl.West, out.Slice(0, 0))
		f := c.RecvAsync(tl.West, tl.Dims(4, 2), dtype.F16)
		g := c.RecvAsync(tl.West, tl.Dims(8), dtype.F16)
		c.Add(c.Wait(f), x)
		c.Wait(g)
	},
	"arithmetic": func(c *tl.Context, a tl.Args) {
		x := c.Load(a.Shard(c.Rank()).Slice(0, 8))
		y := c.Full(tl.Dims(8), dtype.F16, math.Copysign(0, -1))
		for _, r := range []tl.Tensor{
			c.Add(x, y), c.Sub(x, y), c.Mul(x, y.Slice(3, 1)), c.Div(x.Slice(1, 1), y),
			c.Maximum(x.Slice(0, 4), y.Slice(4, 4)), c.Minimum(x.Reshape(2, 4), y),
			c.Abs(x), c.Neg(x.Slice(1, 2)), c.Exp(x), c.Log(x), c.Sqrt(x), c.FMA(x, y, x),
			c.FMA(x.Slice(0, 2), y.Slice(1, 2), x.Slice(3, 2)),
			c.Scale(dtype.Div, x, 3), c.Scale(dtype.Mul, x, 0.1), c.Scale(dtype.Add, x, math.Inf(-1)), c.Scale(dtype.Max, x, math.NaN()),
			c.Scale(dtype.Sub, x, math.Float64frombits(0xfff8000000000007)), c.Clamp(x, -1e300, math.SmallestNonzeroFloat64),
			c.Convert(x, dtype.F32), c.Convert(x.Slice(0, 1).Reshape(), dtype.I8), c.Full(tl.Dims(), dtype.F64, 1.0/3),
		} {
			c.Free(r)
		}
		m := x.Reshape(2, 4)
		c.Sum(m, 0)
		c.Max(m, 1)
		c.Add(c.Sum(x, 0), x)
		c.Softmax(m, 1)
		c.Softmax(x, 0)
		c.Sum(c.Full(tl.Dims(2, 1, 3, 1), dtype.F16, 1), 2)
		c.Dot(m, c.Transpose(m))
		e := x.Slice(0, 0)
		c.Add(c.Load(a.Shard(c.Rank()).Slice(0, 0)), e)
		c.Scale(dtype.Mul, c.Load(a.Shard(c.Rank()).Slice(5, 0)), 2)
	},
	"windows": func(c *tl.Context, a tl.Args) {
		me, w := c.Rank(), a.Window(0)
		next := (me + 1) % c.WorldSize()
		in, data, wide, sig := a.Shard(me), c.Data(w, "data"), c.Data(w, "mixed.wide"), c.Signals(w, "mixed.sig")
		x := c.Load(in.Slice(0, 8))
		c.Store(c.Local(data.Slice(8, 8)), x)
		c.Store(c.Local(wide), c.Convert(x, dtype.F32))
		c.PipeBarrier()
		c.PutTensor(data.Slice(0, 8), next, x)
		c.PutTensor(data.Slice(0, 3), me, x.Slice(me, 3))
		c.Put(data.Slice(me, 4), next, in.Slice(0, 4))
		c.PutNBI(data.Slice(0, 4).As(dtype.I16), next, tl.Ref{Addr: in.Addr, Shape: tl.Dims(2, 2), DType: dtype.I16})
		c.PutSignal(data.Slice(0, 4), next, in.Slice(0, 4), sig.At(me), tl.SignalSet, -5)
		c.UseChannels(2)
		c.PutSignalNBI(data.Slice(0, 4), next, in.Slice(0, 4), sig.At(1), tl.SignalAdd, 1)
		c.PutTensor(data.Slice(0, 3), next, x.Slice(0, 3)) // which has no signal, and names none
		c.PutTensorSignal(data.Slice(0, 8), next, x, sig.At(2), tl.SignalAdd, math.MaxInt64)
		c.PutLL(data.Slice(8, 8), next, x, sig.At(40), 7)
		c.UseChannels(0)
		c.WaitLL(sig.At(40), 7)
		c.PutLL128(data.Slice(0, 8), me, x, sig.At(41), -7)
		c.WaitLines(sig.At(41), -7, 0, 1)
		c.WaitLines(sig.At(40).Grid([]int{2}, []int{2}), 7, 3, 2)
		c.PutSignal(data.Slice(16, 0), next, in.Slice(0, 0), sig.At(3), tl.SignalAdd, 1)
		c.PutCombine(data.Slice(0, 4), next, in.Slice(0, 4), tl.Avg)
		c.PutTensorCombine(data.Slice(0, 8), next, x, tl.Min)
		c.Fence()
		c.Notify(sig.At(4), next, tl.SignalAdd, 1)
		c.Notify(sig.At(4), me, tl.SignalSet, 9)
		c.WaitUntil(sig.At(4), tl.GE, 1)
		c.WaitUntil(sig.Slice(0, 4), tl.NE, 7)
		c.WaitUntil(sig.At(1).Grid([]int{3, 2, 2}, []int{16, 3, -1}), tl.LT, 7)
		c.WaitUntil(sig.At(5).Grid([]int{3}, []int{0}), tl.EQ, 0)
		c.Get(in.Slice(0, 4), data.Slice(4, 4), next)
		c.GetNBI(in.Slice(4, 4), data.Slice(me, 4), me)
		c.Load(c.At(data.Slice(2, 6), next))
		c.Quiet()
		c.Sync(w.Team)
		c.Barrier(w.Team)
	},
}

// TestEveryOperation: kernels are recorded, printed, read and interpreted; what the interpreter
// does is recorded as the same operations.
func TestEveryOperation(t *testing.T) {
	for name, k := range calls {
		for _, world := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s/%d", name, world), func(t *testing.T) {
				l, r := scene(t, world, k)
				f := recorded(t, r)
				want := textOf(t, f)
				instrs := normal(t, r)
				f.Classes()
				again, err := text.Parse("x.txt", textOf(t, f))
				if err != nil {
					t.Fatalf("%v\n%s", err, textOf(t, f))
				}
				l.Kernel = again.Kernel()
				if got := textOf(t, recorded(t, r)); !bytes.Equal(got, want) {
					t.Errorf("interpreted\n%s\nwritten\n%s", got, want)
				}
				if d := cmp.Diff(instrs, normal(t, r)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// normal returns the instructions of all ranks, with tensors numbered in the order in which they
// are made, and their traffic.
func normal(t *testing.T, r *text.Recorded) []string {
	t.Helper()
	var all []string
	for i := range r.Program.Blocks {
		b := &r.Program.Blocks[i]
		numbers, made := map[int32]int32{tl.None: tl.None}, int32(0)
		for in := range r.Program.Instrs(b, int(r.Launch.Groups[0].PEs[b.Rank])) {
			in.A, in.B, in.C = numbers[in.A], numbers[in.B], numbers[in.C]
			if in.Dst != tl.None {
				numbers[in.Dst], in.Dst = made, made
				made++
			}
			if in.Op == tl.OpRecv && in.N == 0 {
				in.Addr = 0
			}
			side := ""
			if in.Side != nil {
				one := *in.Side
				if one.Group != nil {
					side, one.Group = fmt.Sprint(one.Group.Ranks), nil // made anew by each rank
				}
				side += fmt.Sprintf("%+v", one)
				in.Side = nil
			}
			all = append(all, fmt.Sprintf("rank %d %+v %s", b.Rank, in, side))
		}
		all = append(all, fmt.Sprintf("rank %d %+v", b.Rank, r.Program.Records[b.Record].Traffic))
	}
	return all
}

// TestScratchIsEnough: a program runs in the scratch memory of its kernel, however long a tensor
// stays unused.
func TestScratchIsEnough(t *testing.T) {
	l, r := scene(t, 1, func(c *tl.Context, a tl.Args) {
		in := a.Shard(0)
		x := c.Load(in)
		c.Pin(x)
		var last [3]tl.Tensor
		for i := range 40 {
			last[i%3] = c.Load(in)
			if i >= 2 {
				c.Store(in, c.Add(last[(i+1)%3], last[i%3]))
			}
		}
		c.Store(in, x)
	})
	l.Scratch = 10 * 128
	f := recorded(t, r)
	l.Kernel = f.Kernel()
	if d := cmp.Diff(string(textOf(t, f)), string(textOf(t, recorded(t, r)))); d != "" {
		t.Error(d)
	}
}
