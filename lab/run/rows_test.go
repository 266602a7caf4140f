package run_test

import (
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/tl"
)

// rowsLayout has a row for the vector of every rank, and a word for each rank that has arrived.
func rowsLayout(world, n int, t dtype.Type) (*mem.Layout, error) {
	return mem.NewLayout(0, []mem.Buffer{
		{Name: "came", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, world)}},
		{Name: "rows", Parts: []mem.Part{mem.DataPart("", t, world*n)}},
	})
}

// along combines all rows of a window at once.
func along(c *tl.Context, a tl.Args, op tl.ReduceOp) tl.Tensor {
	rows := c.Local(c.Data(a.Window(0), "rows"))
	rows.Shape = tl.Dims(c.WorldSize(), a.NElem)
	all := c.Load(rows)
	switch op {
	case tl.Prod:
		return c.Prod(all, 0)
	case tl.Max:
		return c.Max(all, 0)
	case tl.Min:
		return c.Min(all, 0)
	}
	return c.Finish(op, c.Sum(all, 0), c.WorldSize())
}

// lab_rows_ring brings the rows by ring, in a program that is replayed; lab_rows_put by puts. Each
// then combines them along an axis. lab_rows_max takes the largest for every operation.
func init() {
	ring := func(op func(tl.ReduceOp) tl.ReduceOp) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			me, n := c.Rank(), c.WorldSize()
			rows, mine := c.Data(a.Window(0), "rows"), a.Shard(me)
			x := c.Load(mine)
			for i := range n {
				c.Store(c.Local(rows.Chunk(n, (me+n-i)%n)), x)
				if i < n-1 {
					c.Send(tl.East, x)
					x = c.Recv(tl.West, x.Shape(), x.DType())
				}
			}
			c.Store(mine, along(c, a, op(a.Op)))
		}
	}
	same := func(op tl.ReduceOp) tl.ReduceOp { return op }
	algorithm.Register(algorithm.Algorithm{
		Name: "lab_rows_ring", Collective: "all_reduce", Topology: "ring_1d", Window: rowsLayout, Kernel: ring(same),
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "lab_rows_max", Collective: "all_reduce", Topology: "ring_1d", Window: rowsLayout,
		Kernel: ring(func(tl.ReduceOp) tl.ReduceOp { return tl.Max }),
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "lab_rows_put", Collective: "all_reduce", Topology: "none", Window: rowsLayout,
		Kernel: func(c *tl.Context, a tl.Args) {
			me, n := c.Rank(), c.WorldSize()
			rows, came, mine := c.Data(a.Window(0), "rows"), c.Signals(a.Window(0), "came"), a.Shard(me)
			for to := range n {
				if to != me {
					c.PutSignal(rows.Chunk(n, me), to, mine, came.At(me), tl.SignalAdd, 1)
				}
			}
			c.Copy(c.Local(rows.Chunk(n, me)), mine)
			for from := range n {
				if from != me {
					c.WaitUntil(came.At(from), tl.GE, 1)
				}
			}
			c.PipeBarrier()
			c.Store(mine, along(c, a, a.Op))
		},
	})
}

// A reduction along an axis of all ranks' vectors is the reduction of a collective, in every
// operation. Another one is an operation that the collective does not mean, under its own name.
func TestReductionAlongAnAxis(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, name := range []string{"lab_rows_ring", "lab_rows_put"} {
			for op, typ := range map[tl.ReduceOp]dtype.Type{tl.Sum: dtype.F16, tl.Prod: dtype.F32, tl.Max: dtype.I32,
				tl.Min: dtype.BF16, tl.Avg: dtype.F64} {
				r := right(t, run.Spec{Algorithm: name, Ranks: 5, NElem: 7, DType: typ, Op: op, Executor: executor})
				if name == "lab_rows_ring" && r.Timed && (len(r.Simulation) != 1 || !strings.Contains(r.Simulation[0], "replay")) {
					t.Errorf("%s goes by %q", name, r.Simulation)
				}
			}
		}
		r, err := run.Run(ctx, run.Spec{Algorithm: "lab_rows_max", Ranks: 5, NElem: 7, VerifyData: true, Executor: executor})
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() || !strings.Contains(r.Failures[0].Reason, "max at run/rows_test.go:32") ||
			!strings.Contains(r.Failures[0].Reason, ": either it is no operation of all_reduce sum") {
			t.Errorf("%+v", r.Failures)
		}
	})
}
