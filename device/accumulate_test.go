package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/device"
	"kernbench/dtype"
	_ "kernbench/internal/fewcollections"
	"kernbench/mem"
	"kernbench/tl"
)

// swallowed makes four ranks bring 256, 1, 1 and 1 for each of n elements: in bf16 no 1 changes
// what is 256 or more.
func swallowed(t testing.TB, c *device.Context, n int, typ dtype.Type) *device.Tensor {
	t.Helper()
	x := must(c.Zeros(1, 4*n, typ, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t)
	if err := x.CopyIn(append(slices.Repeat([]float64{256}, n), slices.Repeat([]float64{1}, 3*n)...)); err != nil {
		t.Fatal(err)
	}
	return x
}

// Partial sums in f32 keep what those of bf16 lose, on rings and windows, and wherever results go.
func TestAccumulate(t *testing.T) {
	for _, tt := range []struct {
		algorithm  string
		accumulate string
		typ        dtype.Type
		op         tl.ReduceOp
		want       float64
	}{
		{"ring_allreduce", "same", dtype.BF16, tl.Sum, 256},
		{"ring_allreduce", "f32", dtype.BF16, tl.Sum, 260}, // 259, rounded once
		{"ring_allreduce", "f32", dtype.BF16, tl.Avg, 65},  // 64.75,
		{"window_allreduce_onephase", "f32", dtype.BF16, tl.Sum, 260},
		{"window_allreduce_onephase", "f32", dtype.F32, tl.Sum, 259},
		{"ring_allreduce", "f32", dtype.I32, tl.Sum, 259},
		{"ring_allreduce", "f32", dtype.BF16, tl.Max, 256},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			const n = 5000 // more than a tile
			c := open(t, "defaults.accumulate="+tt.accumulate)
			x, y := swallowed(t, c, n, tt.typ), must(c.Zeros(1, 4*n, tt.typ, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t)
			before := inUse(t, c)
			must(c.Perform(context.Background(), installed(t, c, tt.algorithm, 4), tt.op, []*device.Tensor{x}, device.Into(y)))(t)
			run := must(c.Perform(context.Background(), installed(t, c, tt.algorithm, 4), tt.op, []*device.Tensor{x}))(t)
			for rank, got := range append(must(x.Read())(t), must(y.Read())(t)...) {
				// On a ring of bf16 each rank begins at another one, and 1 + 1 is not lost.
				if got != tt.want && (tt.accumulate == "f32" || rank/n%4 == 0) {
					t.Fatalf("element %d is %v, want %v", rank, got, tt.want)
				}
			}
			if call := run.Calls[0].Groups[0].Call; call.Type != tt.typ {
				t.Errorf("the call is one of %v", call.Type)
			}
			if after := inUse(t, c); after != before {
				t.Errorf("%d bytes are in use, before the call it was %d", after, before)
			}
		})
	}
}

// If wide copies do not fit, the error explains their purpose.
func TestAccumulateWithoutSpace(t *testing.T) {
	c := open(t, "defaults.accumulate=f32", "cube.hbm.capacity_per_pe=4096")
	x := swallowed(t, c, 1024, dtype.BF16)
	before := inUse(t, c)
	_, err := c.Perform(context.Background(), installed(t, c, "ring_allreduce", 4), tl.Sum, []*device.Tensor{x})
	if !errors.Is(err, mem.ErrFull) || !strings.Contains(err.Error(), "space for partial sums in f32") {
		t.Errorf("got %v", err)
	}
	if after := inUse(t, c); after != before {
		t.Errorf("%d bytes are in use, before the call it was %d", after, before)
	}
}
