package hccl_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/kerneltest/hosttest"
	"kernbench/tl"
)

// Kernels that do not wait for a task, or for each other, race with it. On every schedule that
// is so, whether or not the results come out right.
func TestRaces(t *testing.T) {
	const world, n = 2, 64
	half := func(k *hccl.Kernel, i int) tl.Ref { return k.Buffer(i).Chunk(2, k.BlockIdx()) }
	ones := func(k *hccl.Kernel, at tl.Ref) { k.Store(at, k.Full(at.Shape, at.DType, 1)) }
	prepare := func(k *hccl.Kernel, h *hccl.Hccl, release hccl.Release, repeat uint8) hccl.Handle {
		return h.AllReduce(release, k.GM(0), k.GM(1), n/uint64(repeat), hccl.FP32, hccl.ReduceSum, repeat)
	}
	tests := []struct {
		name  string
		cores int
		body  func(k *hccl.Kernel, h *hccl.Hccl)
		found []string // sides of hazards, or what makes the class "scheduled"
	}{
		{"written after the wait", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitLater, 1)
			ones(k, k.Buffer(0))
			h.Commit(id)
			h.Wait(id)
			ones(k, k.Buffer(0))
			k.Store(k.Buffer(2), k.Load(k.Buffer(1)))
			h.Finalize()
		}, nil},
		{"written before the wait", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitLater, 1)
			h.Commit(id)
			ones(k, k.Buffer(0))
			h.Wait(id)
			h.Finalize()
		}, []string{"read of a task, write of a program"}},
		{"read before the wait", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitNow, 1)
			k.Store(k.Buffer(2), k.Load(k.Buffer(1)))
			h.Wait(id)
			h.Finalize()
		}, []string{"read of a program, write of a task"}},
		{"read after Query", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitNow, 1)
			for h.Query(id) < 1 {
			}
			k.Store(k.Buffer(2), k.Load(k.Buffer(1)))
			h.Finalize()
		}, []string{"load_scalar"}},
		{"the second turn is read after the first", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitNow, 2)
			h.Wait(id)
			k.Store(k.Buffer(2).Chunk(2, 0), k.Load(k.Buffer(1).Chunk(2, 0)))
			k.Store(k.Buffer(2).Chunk(2, 1), k.Load(k.Buffer(1).Chunk(2, 1)))
			h.Wait(id)
			h.Finalize()
		}, []string{"read of a program, write of a task"}},
		{"turn by turn", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitLater, 2)
			for i := range 2 {
				ones(k, k.Buffer(0).Chunk(2, i))
				h.Commit(id)
			}
			for i := range 2 {
				h.Wait(id)
				k.Store(k.Buffer(2).Chunk(2, i), k.Load(k.Buffer(1).Chunk(2, i)))
			}
			h.Finalize()
		}, nil},
		{"parts of two cores", 2, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitLater, 1)
			ones(k, half(k, 0))
			k.SyncAll(hccl.AIVOnly)
			h.Commit(id)
			h.Wait(id)
			k.Store(half(k, 2), k.Load(half(k, 1)))
			k.SyncAll(hccl.AIVOnly)
			h.Finalize()
		}, nil},
		{"parts of two cores that do not meet", 2, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepare(k, h, hccl.CommitLater, 1)
			ones(k, half(k, 0))
			h.Commit(id)
			h.Wait(id)
			k.SyncAll(hccl.AIVOnly)
			h.Finalize()
		}, []string{"read of a task, write of a program"}},
		{"two tasks read one buffer", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			prepare(k, h, hccl.CommitNow, 1)
			h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(2), n, hccl.FP32, hccl.ReduceMax, 1)
			h.Finalize()
		}, nil},
		{"a task reads what the one before wrote", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			prepare(k, h, hccl.CommitNow, 1)
			h.AllReduce(hccl.CommitNow, k.GM(1), k.GM(2), n, hccl.FP32, hccl.ReduceSum, 1)
			h.Finalize()
			k.Store(k.Buffer(0), k.Load(k.Buffer(2)))
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, mode := range []runMode{{bare: true}, {bare: true, seed: 1}, {bare: true, seed: 2},
				{bare: true, seed: 3}, {bare: true, timed: true}} {
				rep := hosttest.Races(func(judge *race.Detector) {
					mode.judge = judge
					r := openRig(t, mode)
					g := r.on(first(world), hccl.Options{})
					var buffers []*memory
					for range 3 {
						buffers = append(buffers, r.spread(g.PEs(), n, dtype.F32, constant(2)))
					}
					l := r.launch(g, hccl.Cores{AIV: tt.cores}, tt.body, buffers, usual(hccl.OpAllReduce))
					if _, err := l.Run(context.Background()); err != nil {
						t.Fatal(err)
					}
				})
				if tt.found == nil {
					content(t, rep)
					continue
				}
				if got := found(rep); !slices.Equal(got, tt.found) {
					t.Errorf("seed %d, timed %v: %q, want %q", mode.seed, mode.timed, got, tt.found)
				}
			}
		})
	}
}

// found returns the content of a report.
func found(rep *race.Report) []string {
	side := func(a *race.Access) string {
		owner := "program"
		if a.Info.Queue > 0 {
			owner = "task"
		}
		return fmt.Sprintf("%s of a %s", a.Does, owner)
	}
	var all []string
	for i := range rep.Hazards {
		h := &rep.Hazards[i]
		s := []string{side(&h.First), side(&h.Second)}
		slices.Sort(s)
		all = append(all, strings.Join(s, ", "))
	}
	for i := range rep.Depends {
		if op := rep.Depends[i].Op; op != "race" {
			all = append(all, op)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
