package dtype

import "golang.org/x/sys/cpu"

// hasVectors reports whether the loops of the *_amd64.s files can run here.
var hasVectors = cpu.X86.HasAVX2 && cpu.X86.HasF16C

// group is the number of elements in one iteration of a loop.
const group = 8

// binaryFast computes the first done elements in assembly, with the same bits as binaryRef. The
// caller computes the rest. The calls are direct, without a table of functions, so that slices on a
// caller's stack do not move to the heap.
func binaryFast(op BinaryOp, t Type, dst, a, b []byte, n int) (done int) {
	if !hasVectors || n < group {
		return 0
	}
	n &^= group - 1
	d, x, y := &dst[0], &a[0], &b[0]
	switch t {
	case F16:
		switch op {
		case Add:
			f16Add(d, x, y, n)
		case Sub:
			f16Sub(d, x, y, n)
		case Mul:
			f16Mul(d, x, y, n)
		case Max:
			f16Max(d, x, y, n)
		case Min:
			f16Min(d, x, y, n)
		default:
			return 0
		}
	case BF16:
		switch op {
		case Add:
			bf16Add(d, x, y, n)
		case Sub:
			bf16Sub(d, x, y, n)
		case Mul:
			bf16Mul(d, x, y, n)
		case Max:
			bf16Max(d, x, y, n)
		case Min:
			bf16Min(d, x, y, n)
		default:
			return 0
		}
	case F32:
		switch op {
		case Add:
			f32Add(d, x, y, n)
		case Sub:
			f32Sub(d, x, y, n)
		case Mul:
			f32Mul(d, x, y, n)
		case Max:
			f32Max(d, x, y, n)
		case Min:
			f32Min(d, x, y, n)
		default:
			return 0
		}
	case I32:
		if op != Add {
			return 0
		}
		i32Add(d, x, y, n)
	default:
		return 0
	}
	return n
}

//go:noescape
func f16Add(dst, a, b *byte, n int)

//go:noescape
func f16Sub(dst, a, b *byte, n int)

//go:noescape
func f16Mul(dst, a, b *byte, n int)

//go:noescape
func f16Max(dst, a, b *byte, n int)

//go:noescape
func f16Min(dst, a, b *byte, n int)

//go:noescape
func bf16Add(dst, a, b *byte, n int)

//go:noescape
func bf16Sub(dst, a, b *byte, n int)

//go:noescape
func bf16Max(dst, a, b *byte, n int)

//go:noescape
func bf16Min(dst, a, b *byte, n int)

//go:noescape
func bf16Mul(dst, a, b *byte, n int)

//go:noescape
func f32Add(dst, a, b *byte, n int)

//go:noescape
func f32Sub(dst, a, b *byte, n int)

//go:noescape
func f32Mul(dst, a, b *byte, n int)

//go:noescape
func f32Max(dst, a, b *byte, n int)

//go:noescape
func f32Min(dst, a, b *byte, n int)

//go:noescape
func i32Add(dst, a, b *byte, n int)

// accumulateFast accumulates the first done elements in assembly. The caller does the rest.
func accumulateFast(t Type, sum, size []float64, src []byte, n int) (done int) {
	if !hasVectors || n < group {
		return 0
	}
	n &^= group - 1
	switch t {
	case F16:
		f16Accumulate(&sum[0], &size[0], &src[0], n)
	case BF16:
		bf16Accumulate(&sum[0], &size[0], &src[0], n)
	case F32:
		f32Accumulate(&sum[0], &size[0], &src[0], n)
	default:
		return 0
	}
	return n
}

//go:noescape
func f16Accumulate(sum, size *float64, src *byte, n int)

//go:noescape
func bf16Accumulate(sum, size *float64, src *byte, n int)

//go:noescape
func f32Accumulate(sum, size *float64, src *byte, n int)
