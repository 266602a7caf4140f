package bench

import (
	"context"
	"fmt"
	"math"

	"kernbench/device"
	"kernbench/dtype"
	"kernbench/tl"
)

// gemmSinglePE multiplies 32×128 by 128×32 on one PE, once with a dot on loaded operands
// and once with a composite that streams them from HBM.
func gemmSinglePE(ctx context.Context, h *Host) error {
	const m, k, n = 32, 128, 32
	if h.NElem > 0 {
		return fmt.Errorf("the matrices are %d×%d and %d×%d: there is no number of elements to choose", m, k, k, n)
	}
	onePE := device.DPPolicy{NumCubes: 1, NumPEs: 1}
	a, x, err := h.matrix(m, k, 1, onePE)
	if err != nil {
		return err
	}
	b, y, err := h.matrix(k, n, 2, onePE)
	if err != nil {
		return err
	}
	var want, bound []float64
	if h.Device.HasData() {
		want, bound = reference(h.DType, x, y, m, k, n)
	}
	for _, variant := range []struct {
		name   string
		kernel tl.Kernel
	}{{"dot", gemmDot}, {"composite", gemmComposite}} {
		out, err := h.Device.Empty(m, n, h.DType, onePE)
		if err != nil {
			return err
		}
		run, err := h.Device.LaunchKernel(ctx, "gemm_"+variant.name, variant.kernel, a, b, out)
		if err != nil {
			return err
		}
		if d := run.Result.Duration(); d > 0 {
			h.Report("gemm %d×%d×%d %v by %-9s %v, %.4g multiplications per ns", m, k, n, h.DType, variant.name, d, float64(m*k*n)/d.Ns())
		}
		if err := h.expectMatrix(variant.name, out, want, bound); err != nil {
			return err
		}
		if err := out.Free(); err != nil {
			return err
		}
	}
	return freeAll(a, b)
}

func gemmDot(c *tl.Context, args tl.Args) {
	a, b := c.Load(args.Tensor(0)), c.Load(args.Tensor(1))
	c.Store(args.Tensor(2), c.Dot(a, b))
}

func gemmComposite(c *tl.Context, args tl.Args) {
	c.Await(c.Composite(tl.Composite{A: args.Tensor(0), B: args.Tensor(1), Out: args.Tensor(2)}))
}

// matrix makes a matrix of small values and returns them as the element type holds them. In a run
// without data it returns none: there can be many.
func (h *Host) matrix(rows, cols, which int, p device.DPPolicy) (*device.Tensor, []float64, error) {
	x, err := h.Device.Empty(rows, cols, h.DType, p)
	if err != nil || !h.Device.HasData() {
		return x, nil, err
	}
	values := Inputs{Seed: h.Seed, World: 1, Type: h.DType, Op: tl.Max}.Vector(which, rows*cols)
	return x, values, x.CopyIn(values)
}

// expectMatrix compares a tensor with a reference, in a run that has data.
func (h *Host) expectMatrix(what string, x *device.Tensor, want, bound []float64) error {
	if !h.Device.HasData() {
		return nil
	}
	got, err := x.Read()
	if err != nil {
		return err
	}
	h.Expect(what, got, want, bound)
	return nil
}

// reference returns the product of x (m×k) and y (k×n) in float64, and the largest error of a
// result of type t. The k products and sums in its accumulator contribute 2k·u·Σ|x·y|. The
// accumulator is float32 or float64 with unit roundoff u (Higham, eq. 3.5). One rounding of the
// result is added. Integers wrap.
func reference(t dtype.Type, x, y []float64, m, k, n int) (want, bound []float64) {
	want, bound = make([]float64, m*n), make([]float64, m*n)
	eps := dtype.Epsilon(dtype.F64)
	if t == dtype.F16 || t == dtype.BF16 {
		eps = dtype.Epsilon(dtype.F32)
	}
	one := make([]byte, 8)
	for i := range m {
		for j := range n {
			sum, mag := 0.0, 0.0
			for l := range k {
				p := x[i*k+l] * y[l*n+j]
				sum += p
				mag += math.Abs(p)
			}
			at := i*n + j
			if t.IsInt() {
				dtype.SetInt(t, one, 0, int64(sum))
				want[at] = dtype.At(t, one, 0)
				continue
			}
			want[at] = sum
			bound[at] = 2*float64(k)*eps*mag + dtype.Epsilon(t)*math.Abs(sum)
		}
	}
	return want, bound
}

func freeAll(tensors ...*device.Tensor) error {
	for _, t := range tensors {
		if err := t.Free(); err != nil {
			return err
		}
	}
	return nil
}

// GEMMSinglePE is the matrix product of one PE.
var GEMMSinglePE = Register(Program{
	Name:    "gemm_single_pe",
	Summary: "a 32×128×32 matrix product on one PE, by dot and by composite",
	Run:     gemmSinglePE,
})
