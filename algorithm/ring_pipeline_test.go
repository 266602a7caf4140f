package algorithm_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// pipelines lists the algorithms that send pieces around rings, several in flight.
var pipelines = []*algorithm.Algorithm{
	algorithm.RingAllReduceChunked, algorithm.BidirectionalRingAllReduce, algorithm.RingAllGather, algorithm.RingReduceScatter,
	algorithm.RingSendRecv,
}

// For any number of pieces, in total and in flight, results are right and no rank waits forever for
// a slot.
func TestPiecesInFlight(t *testing.T) {
	for _, a := range pipelines {
		for _, slots := range []int{2, 3, 4, 7} {
			for _, pieces := range []int{1, 2, 3, 5, 8, 13} {
				for _, world := range []int{1, 2, 3, 5} {
					t.Run(fmt.Sprintf("%s/%d/%d/%d", a.Name, slots, pieces, world), func(t *testing.T) {
						n := world * pieces * 8
						for _, n := range []int{n - 1, n} { // the last chunk is shorter, or none
							check(t, a, run{size: size{world: world, n: n}, typ: dtype.I16, op: tl.Sum, chunk: 8 * 2, slots: slots})
						}
					})
				}
			}
		}
	}
}

// Between neighbours one slot is enough.
func TestPiecesThroughOneSlot(t *testing.T) {
	for _, world := range []int{1, 2, 5} {
		check(t, algorithm.RingSendRecv, run{size: size{world: world, n: 100}, typ: dtype.I16, op: tl.Sum, chunk: 16, slots: 1})
	}
}

// A piece takes one message if it fits in a slot, and several messages otherwise. The number of
// pieces of a long chunk is a multiple of those in flight.
func TestPiecesFitSlots(t *testing.T) {
	const world = 4
	for _, tt := range []struct {
		slots    int
		slot     int64
		chunk    int64 // requested
		bytes    int   // of a chunk
		messages int   // for a chunk in each step
	}{
		{slots: 4, slot: 4 << 10, bytes: 4 << 10, messages: 1},
		{slots: 4, slot: 4 << 10, bytes: 256 << 10, messages: 64},     // two pieces of 32 slots
		{slots: 4, slot: 4 << 10, bytes: 258 << 10, messages: 3 * 22}, // three of 86 KiB
		{slots: 4, slot: 64 << 10, bytes: 192 << 10, messages: 3},
		{slots: 4, slot: 64 << 10, bytes: 256 << 10, messages: 6}, // three in flight
		{slots: 9, slot: 64 << 10, bytes: 320 << 10, messages: 8}, // four
		{slots: 2, slot: 64 << 10, bytes: 256 << 10, messages: 4},
		{slots: 4, slot: 4 << 10, chunk: 2 << 10, bytes: 4 << 10, messages: 2},
	} {
		n := world * tt.bytes / 4
		o, err := kerneltest.Observe(t.Context(), algorithm.RingAllReduceChunked.Kernel, kerneltest.Config{
			Inputs: numbered(world, n), Slots: tt.slots, SlotBytes: tt.slot, ChunkBytes: tt.chunk,
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(2 * (world - 1) * world * tt.messages); o.Result.Messages != want {
			t.Errorf("%+v: %d messages, want %d", tt, o.Result.Messages, want)
		}
		if want := slices.Repeat([]float64{6}, n); !slices.Equal(o.Outputs[0], want) {
			t.Errorf("%+v: a wrong result", tt)
		}
	}
}
