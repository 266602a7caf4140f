package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// A vector may be cut in pieces of any size.
func TestPieces(t *testing.T) {
	for _, a := range algorithm.All() {
		if !a.Pipelined {
			continue
		}
		for i, bytes := range []int64{0, 1, 2, 6, 80, 1000} {
			for j, n := range []int{0, 1, 41, 500} {
				for k, world := range []int{1, 2, 5} {
					if !exhaustive.On() && (world < 5 && (i+j+k)%2 == 0 || n > 100 && 0 < bytes && bytes < 80) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%d/%d/%d", a.Name, bytes, n, world), func(t *testing.T) {
						check(t, a, run{size: size{world: world, n: n * world}, typ: dtype.I16, op: tl.Sum, chunk: bytes})
					})
				}
			}
		}
	}
}

// Pieces have the requested length, or the length that the formula gives for the machine.
func TestChoiceOfPieces(t *testing.T) {
	for _, tt := range []struct {
		world, n       int
		chunk, latency int64
		pieces         int
	}{
		{2, 1 << 14, 0, 0, 1},         // no rank forwards: one piece
		{2, 1 << 16, 0, 0, 4},         // no rank forwards: pieces of a tile
		{3, 1024, 0, 0, 1},            // 1 × 4 KiB / 4 KiB
		{6, 4096, 0, 0, 4},            // 4 × 16 KiB / 4 KiB
		{6, 4096, 0, 1024, 8},         // 4 × 16 KiB / 1 KiB
		{6, 4096, 0, 1 << 30, 1},      // a very high latency
		{6, 4096, 0, 1, 256},          // almost no latency
		{18, 1 << 14, 0, 0, 16},       // 16 × 64 KiB / 4 KiB
		{18, 3, 0, 1, 3},              // at most one piece for each element
		{102, 25 * 1024, 0, 0, 50},    // 100 × 100 KiB / 4 KiB
		{6, 4096, 4096, 1, 4},         // the requested length
		{6, 4097, 4096, 1, 5},         // a fifth piece for the last element
		{6, 4096, 4099, 1, 4},         // of whole elements
		{6, 10, 3, 1, 10},             // at least one element
		{2, 1 << 16, 128 << 10, 0, 2}, // requested: longer than a tile
	} {
		o, err := kerneltest.Observe(t.Context(), algorithm.ChainBroadcast.Kernel, kerneltest.Config{
			Inputs: numbered(tt.world, tt.n), Args: []int{0}, SlotBytes: 1 << 20, // a piece is a message
			ChunkBytes: tt.chunk, LatencyBytes: tt.latency,
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64((tt.world - 1) * tt.pieces); o.Result.Messages != want {
			t.Errorf("%+v: %d messages, want %d", tt, o.Result.Messages, want)
		}
	}
}
