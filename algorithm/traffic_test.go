package algorithm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/fault"
	"kernbench/kerneltest"
)

// Messages and bytes equal the published costs.
func TestTraffic(t *testing.T) {
	const world, n, size = 8, 64, 4
	tests := []struct {
		a               *algorithm.Algorithm
		w, h            int
		messages, bytes int64
	}{
		{a: algorithm.HelloSend, messages: world, bytes: world * n * size},
		{a: algorithm.RingAllReduce, messages: world * (world - 1), bytes: world * (world - 1) * n * size},
		{a: algorithm.RingAllReduceChunked, messages: world * 2 * (world - 1), bytes: 2 * (world - 1) * n * size},
		{a: algorithm.MeshAllReduce, w: 4, h: 2, messages: 2 * (world - 1), bytes: 2 * (world - 1) * n * size},
		{a: algorithm.TreeAllReduce, messages: 2 * (world - 1), bytes: 2 * (world - 1) * n * size},
	}
	for _, tt := range tests {
		t.Run(tt.a.Name, func(t *testing.T) {
			o, err := kerneltest.Observe(context.Background(), tt.a.Kernel, kerneltest.Config{
				Topology: tt.a.Topology, W: tt.w, H: tt.h, Inputs: numbered(world, n),
			})
			if err != nil {
				t.Fatal(err)
			}
			if o.Result.Messages != tt.messages || o.Result.Bytes != tt.bytes {
				t.Errorf("%d messages, %d bytes; want %d, %d", o.Result.Messages, o.Result.Bytes, tt.messages, tt.bytes)
			}
		})
	}
}

func numbered(world, n int) [][]float64 {
	in := make([][]float64, world)
	for r := range in {
		in[r] = slices.Repeat([]float64{float64(r)}, n)
	}
	return in
}

// A ring that forwards from its slots deadlocks with one slot, unless payloads are longer than a
// slot: these are copied. Other algorithms need one slot only.
func TestSingleSlot(t *testing.T) {
	tests := []struct {
		a     *algorithm.Algorithm
		world int
		hangs bool
	}{
		{algorithm.HelloSend, 4, false},
		{algorithm.RingAllReduce, 2, false},
		{algorithm.RingAllReduce, 3, true},
		{algorithm.RingAllReduceChunked, 2, true},
		{algorithm.RingAllReduceChunked, 5, true},
		{algorithm.MeshAllReduce, 9, false},
		{algorithm.TreeAllReduce, 7, false},
		{algorithm.RingAllGather, 2, false},
		{algorithm.RingAllGather, 3, true},
		{algorithm.RingReduceScatter, 2, false},
		{algorithm.RingReduceScatter, 5, true},
		{algorithm.RingSendRecv, 5, false},
	}
	for _, tt := range tests {
		cfg := kerneltest.Config{Topology: tt.a.Topology, Inputs: numbered(tt.world, 64), Slots: 1,
			OutElems: slices.Repeat([]int{64 * tt.world}, tt.world)}
		_, err := kerneltest.Try(tt.a.Kernel, cfg)
		var hang *fault.Deadlock
		if errors.As(err, &hang) != tt.hangs || !tt.hangs && err != nil {
			t.Errorf("%s of %d ranks: %v, want a hang: %v", tt.a.Name, tt.world, err, tt.hangs)
		}
		if tt.hangs && hang.Advice != "set n_slots: 2; with one slot, each rank of the cycle waits to send while its own slot is occupied" {
			t.Errorf("%s of %d ranks: advice %q", tt.a.Name, tt.world, hang.Advice)
		}
		cfg.SlotBytes = 8 // shorter than every chunk
		if _, err := kerneltest.Try(tt.a.Kernel, cfg); err != nil {
			t.Errorf("%s of %d ranks, payloads of many slots: %v", tt.a.Name, tt.world, err)
		}
	}
}

// Payloads of 1, n_slots and 16 n_slots slots, as rings are specified to carry.
func TestPayloadsOfManySlots(t *testing.T) {
	for _, slots := range []int{1, 2, 4} {
		for _, messages := range []int{1, slots, 16 * slots} {
			if slots == 1 && messages == 1 {
				continue // forwards from its only slot
			}
			const world, slotBytes = 4, 64
			n := messages * slotBytes / 4
			o, err := kerneltest.Observe(context.Background(), algorithm.RingAllReduce.Kernel, kerneltest.Config{
				Inputs: numbered(world, n), Slots: slots, SlotBytes: slotBytes,
			})
			if err != nil {
				t.Fatalf("%d slots, %d messages: %v", slots, messages, err)
			}
			if want := int64(world * (world - 1) * messages); o.Result.Messages != want {
				t.Errorf("%d slots: %d messages, want %d", slots, o.Result.Messages, want)
			}
			for r := range world {
				if want := slices.Repeat([]float64{6}, n); !slices.Equal(o.Outputs[r], want) {
					t.Fatalf("%d slots, %d messages: rank %d has %v", slots, messages, r, o.Outputs[r])
				}
			}
		}
	}
}
