package hccl_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/kerneltest/hosttest"
	"kernbench/mem"
	"kernbench/tl"
)

// steps returns an AlltoAllV in steps, with the number of steps that one Commit releases.
func steps(size int) *hccl.CcTiling {
	cc := usual(hccl.OpAlltoAllV)
	cc.SetStepSize(uint8(size))
	return cc
}

// equal returns an AlltoAllV of equal blocks, as rows of n elements each turn.
func equal(world, n, repeat int) *form {
	counts := make([][]uint64, world)
	for r := range counts {
		counts[r] = slices.Repeat([]uint64{uint64(n)}, world)
	}
	f := packed(counts, repeat)
	f.typ = hccl.FP32
	return f
}

// The order of the documents, for rank 0 of 8.
func TestIterateOrder(t *testing.T) {
	const world = 8
	tests := []struct {
		size, repeat int
		side         hccl.Side
		want         string // what calls give rank 0
	}{
		{1, 1, hccl.Destinations, "[0] [1] [2] [3] [4] [5] [6] [7]"},
		{1, 1, hccl.Sources, "[0] [7] [6] [5] [4] [3] [2] [1]"},
		{2, 1, hccl.Destinations, "[0 1] [2 3] [4 5] [6 7]"},
		{4, 2, hccl.Sources, "[0 7 6 5] [4 3 2 1] [0 7 6 5] [4 3 2 1]"},
		{8, 2, hccl.Destinations, "[0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7]"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.size, " ", tt.repeat, " ", tt.side), func(t *testing.T) {
			onEach(t, func(t *testing.T, r *rig) {
				var given []string
				r.iterate(world, tt.size, tt.repeat, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle) {
					if tt.side == hccl.Sources {
						for range tt.repeat * world / tt.size {
							h.Commit(id)
						}
					}
					slices := make([]int, tt.size)
					for n := h.Iterate(tt.side, id, slices); n > 0; n = h.Iterate(tt.side, id, slices) {
						if tt.side == hccl.Destinations {
							h.Commit(id)
						}
						if h.GetRankID() == 0 {
							given = append(given, fmt.Sprint(slices[:n]))
						}
					}
				})
				if got := fmt.Sprintf("%v", given); got != "["+tt.want+"]" {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// With step size 4, 8 ranks and 8 turns, 16 calls return 4 and all that follow 0.
func TestIterateCalls(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		r.iterate(8, 4, 8, func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle) {
			slices := make([]int, 4)
			for call := range 18 {
				want, side := 4, hccl.Destinations
				if call%3 == 1 {
					side = hccl.Sources
				}
				if call >= 16 {
					want = 0
				} else {
					h.Commit(id)
				}
				if n := h.Iterate(side, id, slices); n != want {
					t.Errorf("call %d: %d, not %d", call, n, want)
				}
			}
		})
	})
}

// A wait for steps comes before Finalize as one for a turn does.
func TestIterateAfterFinalize(t *testing.T) {
	for _, meet := range []bool{false, true} {
		onEach(t, func(t *testing.T, r *rig) {
			f := equal(2, 3, 1)
			g := r.on(first(2), hccl.Options{})
			x, y := r.spread(g.PEs(), 6, f.carrier(), f.input), r.spread(g.PEs(), 6, f.carrier(), constant(untouched))
			l := r.launch(g, hccl.Cores{AIV: 2}, func(k *hccl.Kernel, h *hccl.Hccl) {
				id := f.prepare(h, hccl.CommitNow, k.GM(0), k.GM(1))
				for ranks := make([]int, 1); h.Iterate(hccl.Sources, id, ranks) > 0; {
				}
				if meet {
					k.SyncAll(hccl.AIVOnly)
				}
				h.Finalize()
			}, []*memory{x, y}, steps(1))
			if _, err := l.Run(t.Context()); (err == nil) != meet || !meet && !isMisuse(err, hccl.FinalizeBeforeWait) {
				t.Errorf("with SyncAll %v: %v", meet, err)
			}
		})
	}
}

// iterate runs a kernel with an AlltoAllV in steps, and checks its result.
func (r *rig) iterate(world, size, repeat int, body func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle)) {
	r.Helper()
	f := equal(world, 3, repeat)
	send, recv := f.extent(world)
	g := r.on(first(world), hccl.Options{})
	x, y := r.spread(g.PEs(), send, f.carrier(), f.input), r.spread(g.PEs(), recv, f.carrier(), constant(untouched))
	r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
		id := f.prepare(h, hccl.CommitLater, k.GM(0), k.GM(1))
		body(k, h, id)
		h.Finalize()
	}, []*memory{x, y}, steps(size)))
	in, want := x.read(), y.read()
	for turn := range repeat {
		f.apply(turn, in, want)
	}
	y.holds("in steps", want)
	if n := repeat * world / size; len(r.Judged) != n {
		r.Errorf("%d units were judged, not %d", len(r.Judged), n)
	}
}

// A kernel computes the blocks of a step, commits it and continues with the next. In another task
// it takes the blocks of each step as soon as they have arrived. Nothing races.
func TestComputeAndWaitBySteps(t *testing.T) {
	const world, n, repeat = 6, 5, 2
	for _, size := range []int{1, 2, 3, 6} {
		for _, buffer := range []hccl.Options{{}, {Buffer: 64}} {
			for _, mode := range []runMode{{}, {seed: 5}, {timed: true}} {
				rep := hosttest.Races(func(judge *race.Detector) {
					mode.judge = judge
					r := openRig(t, mode)
					r.bySteps(world, n, repeat, size, buffer)
				})
				content(t, rep)
			}
		}
	}
}

func (r *rig) bySteps(world, n, repeat, size int, o hccl.Options) {
	f := equal(world, n, repeat)
	elems, _ := f.extent(world)
	g := r.on(first(world), o)
	value := func(rank, i int) float64 { return float64(100*rank + i) }
	fresh := func() *memory { return r.spread(g.PEs(), elems, dtype.F32, constant(untouched)) }
	a, send, recv, back, b := r.spread(g.PEs(), elems, dtype.F32, value), fresh(), fresh(), fresh(), fresh()
	r.run(r.launch(g, hccl.Cores{AIV: 1}, func(k *hccl.Kernel, h *hccl.Hccl) {
		double := func(from, to, turn, rank int) { // the block of a turn, for or from a rank
			at := mem.Addr(4 * n * (repeat*rank + turn))
			block := func(buffer int) tl.Ref {
				return tl.Ref{Addr: k.GM(buffer) + at, Shape: tl.Dims(n), DType: dtype.F32}
			}
			x := k.Load(block(from))
			k.Store(block(to), k.Add(x, x))
		}
		id := f.prepare(h, hccl.CommitLater, k.GM(1), k.GM(2))
		ranks := make([]int, size)
		for u := 0; h.Iterate(hccl.Destinations, id, ranks) > 0; u++ {
			for _, to := range ranks {
				double(0, 1, u*size/world, to)
			}
			h.Commit(id)
		}
		id = f.prepare(h, hccl.CommitNow, k.GM(2), k.GM(3)) // and back again
		for u := 0; h.Iterate(hccl.Sources, id, ranks) > 0; u++ {
			for _, from := range ranks {
				double(3, 4, u*size/world, from)
			}
		}
		h.Finalize()
	}, []*memory{a, send, recv, back, b}, steps(size)))
	for rank, got := range b.read() {
		for i, v := range got {
			if want := 4 * value(rank, i); v != want {
				r.Fatalf("step size %d: rank %d element %d is %v, not %v", size, rank, i, v, want)
			}
		}
	}
}
