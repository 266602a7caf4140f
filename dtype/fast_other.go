//go:build !amd64

package dtype

// binaryFast leaves everything to binaryRef on processors for which there is no assembly.
func binaryFast(op BinaryOp, t Type, dst, a, b []byte, n int) (done int) { return 0 }

func accumulateFast(t Type, sum, size []float64, src []byte, n int) (done int) { return 0 }
