package bench

import (
	"context"
	"fmt"

	"kernbench/device"
	"kernbench/mem"
	"kernbench/tl"
)

// gpt3QKV returns the first step of an attention layer, Q = X·Wq, K = X·Wk, V = X·Wv, on one cube.
// Every PE has the activations X (tokens × width) and some columns of each weight matrix. It
// computes the same columns of each result by three parallel pipelines. GPT-3 itself is 12288 wide;
// the default takes little time in a run with data.
func gpt3QKV(ctx context.Context, h *Host) error {
	const tokens = 32
	width, heads := 256, min(8, h.Device.Machine().PEsPerCube())
	if h.NElem > 0 {
		width = h.NElem
	}
	if width%heads != 0 {
		return fmt.Errorf("a width of %d does not divide over %d PEs", width, heads)
	}
	perPE := device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: heads}
	x, xs, err := h.matrix(tokens, width, 1, device.DPPolicy{NumCubes: 1, NumPEs: heads})
	if err != nil {
		return err
	}
	names := []string{"Q", "K", "V"}
	tensors := []*device.Tensor{x}
	var weights [][]float64
	for i := range names {
		w, ws, err := h.matrix(width, width, 2+i, perPE)
		if err != nil {
			return err
		}
		tensors, weights = append(tensors, w), append(weights, ws)
	}
	var results []*device.Tensor
	for range names {
		out, err := h.Device.Empty(tokens, width, h.DType, perPE)
		if err != nil {
			return err
		}
		results = append(results, out)
	}
	tensors = append(tensors, results...)
	args := []any{tokens, width, width / heads}
	for _, t := range tensors {
		args = append(args, t)
	}
	run, err := h.Device.LaunchKernel(ctx, "qkv", qkvKernel, args...)
	if err != nil {
		return err
	}
	if d := run.Result.Duration(); d > 0 {
		h.Report("Q, K, V of %d tokens × %d over %d PEs: %v, %.4g multiplications per ns", tokens, width, heads, d,
			float64(3*tokens*width*width)/d.Ns())
	}
	if h.Device.HasData() {
		for i, name := range names {
			want, bound := reference(h.DType, xs, weights[i], tokens, width, width)
			if err := h.expectMatrix(name, results[i], want, bound); err != nil {
				return err
			}
		}
	}
	return freeAll(tensors...)
}

// qkvKernel has the tensors X, Wq, Wk, Wv, Q, K, V and the numbers tokens, width, columns
// per PE.
func qkvKernel(c *tl.Context, a tl.Args) {
	tokens, width, columns := a.Int(0), a.Int(1), a.Int(2)
	// A PE's columns are one shard. It lies row by row, after the shards of earlier PEs.
	mine := func(whole tl.Ref, rows int) tl.Ref {
		offset := int64(c.Rank()) * int64(rows*columns*a.DType.Size())
		return c.Ref(whole.Addr+mem.Addr(offset), tl.Dims(rows, columns), a.DType)
	}
	var pipes [3]tl.Handle
	for i := range pipes {
		pipes[i] = c.Composite(tl.Composite{
			A: a.Tensor(0), B: mine(a.Tensor(1+i), width), Out: mine(a.Tensor(4+i), tokens),
		})
	}
	for _, p := range pipes {
		c.Await(p)
	}
}

// GPT3QKV is the projection of an attention layer.
var GPT3QKV = Register(Program{
	Name:    "gpt3_qkv",
	Summary: "Q, K and V projections of an attention layer as composites, tiled over the PEs of a cube (--n-elem: width)",
	Run:     gpt3QKV,
})
