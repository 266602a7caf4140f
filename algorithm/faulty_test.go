package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/check/verify"
	"kernbench/dtype"
	"kernbench/tl"
)

// judge reports each of these faulty kernels.
func TestFaultyKernelsAreCaught(t *testing.T) {
	ring := func(step func(c *tl.Context, a tl.Args, acc, current, recv tl.Tensor) (newAcc, next tl.Tensor),
		rounds func(n int) int, finish func(c *tl.Context, a tl.Args, t tl.Tensor) tl.Tensor) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank())
			acc := c.Load(mine)
			current := acc
			for range rounds(c.WorldSize()) {
				c.Send(tl.East, current)
				recv := c.Recv(tl.West, acc.Shape(), acc.DType())
				acc, current = step(c, a, acc, current, recv)
			}
			c.Store(mine, finish(c, a, acc))
		}
	}
	right := func(c *tl.Context, a tl.Args, acc, _, recv tl.Tensor) (tl.Tensor, tl.Tensor) {
		return c.Combine(a.Op, acc, recv), recv
	}
	all := func(n int) int { return n - 1 }
	once := func(c *tl.Context, a tl.Args, t tl.Tensor) tl.Tensor { return c.Finish(a.Op, t, c.WorldSize()) }
	tests := []struct {
		name   string
		op     tl.ReduceOp
		kernel tl.Kernel
		values bool // the check of values fails, too
	}{
		{"forwards the sum", tl.Sum, ring(func(c *tl.Context, a tl.Args, acc, _, recv tl.Tensor) (tl.Tensor, tl.Tensor) {
			acc = c.Combine(a.Op, acc, recv)
			return acc, acc
		}, all, once), true},
		{"stops one round early", tl.Sum, ring(right, func(n int) int { return n - 2 }, once), true},
		{"one round too many, max", tl.Max, ring(right, func(n int) int { return n }, once), false},
		{"does not divide", tl.Avg, ring(right, all, func(_ *tl.Context, _ tl.Args, t tl.Tensor) tl.Tensor { return t }), true},
		{"divides twice", tl.Avg, ring(right, all,
			func(c *tl.Context, a tl.Args, t tl.Tensor) tl.Tensor { return once(c, a, once(c, a, t)) }), true},
		{"multiplies and divides back", tl.Sum, ring(right, all, func(c *tl.Context, _ tl.Args, t tl.Tensor) tl.Tensor {
			return c.Scale(dtype.Div, c.Scale(dtype.Mul, t, 2), 2)
		}), false},
		{"keeps its own vector", tl.Sum, func(c *tl.Context, a tl.Args) {}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &algorithm.Algorithm{Collective: "all_reduce", Topology: "ring_1d", Kernel: tt.kernel}
			v, err := judge(a, run{size: size{world: 4, n: 8}, typ: dtype.F32, op: tt.op})
			if err != nil {
				t.Fatal(err)
			}
			if v.OK() || v.Provenance.Status != verify.Fail {
				t.Errorf("provenance: %v, want it to fail", v.Provenance)
			}
			if got := v.Values.Status == verify.Fail; got != tt.values {
				t.Errorf("values: %v, want failure %v", v.Values, tt.values)
			}
		})
	}
}
