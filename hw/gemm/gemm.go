// Package gemm is the model of a PE's matrix unit. It computes blocks of mac_m × mac_k ×
// mac_n, one in each clock.
//
// It may import tl, record/trace and unit. Start at Spec.
package gemm

import (
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec describes a matrix unit.
type Spec struct {
	M, K, N             int       // block of one clock
	TileM, TileK, TileN int       // tile of a composite
	Clock               unit.Time // of one block
	Setup               unit.Time // of one operation
}

// Time returns the time of a product of m×k and k×n: setup + ⌈m/M⌉⌈k/K⌉⌈n/N⌉ clocks.
func (s *Spec) Time(m, k, n int) unit.Time { return s.Setup + s.Blocks(m, k, n) }

// Blocks is Time without the setup, as for a tile in the middle of a pipeline.
func (s *Spec) Blocks(m, k, n int) unit.Time {
	return unit.Time(ceil(m, s.M)) * unit.Time(ceil(k, s.K)) * unit.Time(ceil(n, s.N)) * s.Clock
}

func ceil(a, b int) int { return (a + b - 1) / b }

// Takes returns the time of a matrix product.
func (s *Spec) Takes(in *tl.Instr) (d unit.Time, ok bool) {
	return s.Time(in.Outer, in.Axis, in.Inner), in.Op == tl.OpGemm
}

// Kind is trace.Gemm.
func (s *Spec) Kind() trace.Kind { return trace.Gemm }
