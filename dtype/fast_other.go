//go:build !amd64

package dtype

// binaryFast computes nothing: there is no assembly for this processor, so binaryRef computes all
// elements.
func binaryFast(op BinaryOp, t Type, dst, a, b []byte, n int) (done int) { return 0 }

func accumulateFast(t Type, sum, size []float64, src []byte, n int) (done int) { return 0 }
