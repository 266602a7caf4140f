// Package bench holds the host programs. Each is one file with one row in the registry at its end.
// A program makes tensors, launches kernels, and reports figures beyond those of every run. It does
// not judge collectives; it judges other results through Host.Expect.
//
// It may import dialect/torch, dialect/hccl, device and packages below them. Start at Program
// and Host.
package bench
