package hccl_test

import (
	"context"
	"regexp"
	"testing"

	"kernbench/check/race"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/kerneltest/hosttest"
	"kernbench/mem"
	"kernbench/tl"
)

// Hazards name the calls that prepared and committed a task, its handle and turn, and the calls
// that are missing.
func TestHazardsInWordsOfTasks(t *testing.T) {
	const n = 64
	ones := func(k *hccl.Kernel, at tl.Ref) { k.Store(at, k.Full(at.Shape, at.DType, 1)) }
	tests := []struct {
		name   string
		cores  int
		body   func(k *hccl.Kernel, h *hccl.Hccl)
		task   string // of rank 0 or 1
		calls  string
		core   string
		remedy string
	}{
		{"read before the wait", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), n, hccl.FP32, hccl.ReduceSum, 1)
			k.Store(k.Buffer(2), k.Load(k.Buffer(1)))
			h.Wait(id)
			h.Finalize()
		}, "AllReduce handle 0 turn 0 of rank R", "prepared and committed at hazard_test.go:L", "rank R block 0 (AIV)",
			"Wait(handle 0) before load at hazard_test.go:L"},
		{"the second turn is read after the first", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), n/2, hccl.FP32, hccl.ReduceSum, 2)
			h.Commit(id)
			h.Commit(id)
			h.Wait(id)
			k.Store(k.Buffer(2).Chunk(2, 1), k.Load(k.Buffer(1).Chunk(2, 1)))
			h.Wait(id)
			h.Finalize()
		}, "AllReduce handle 0 turn 1 of rank R", "prepared at hazard_test.go:L, committed at hazard_test.go:L", "rank R block 0 (AIV)",
			"Wait(handle 0) 2 times before load at hazard_test.go:L"},
		{"written after the commit", 1, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), n, hccl.FP32, hccl.ReduceSum, 1)
			ones(k, k.Buffer(0))
			h.Wait(id)
			h.Finalize()
		}, "AllReduce handle 0 turn 0 of rank R", "prepared and committed at hazard_test.go:L", "rank R block 0 (AIV)",
			"Wait(handle 0) before store at hazard_test.go:L"},
		{"written by a core that does not commit", 2, func(k *hccl.Kernel, h *hccl.Hccl) {
			id := h.AllReduce(hccl.CommitLater, k.GM(0), k.GM(1), n, hccl.FP32, hccl.ReduceSum, 1)
			ones(k, k.Buffer(0).Chunk(2, k.BlockIdx()))
			h.Commit(id)
			h.Wait(id)
			k.SyncAll(hccl.AIVOnly)
			h.Finalize()
		}, "AllReduce handle 0 turn 0 of rank R", "prepared at hazard_test.go:L, committed at hazard_test.go:L", "rank R block 1 (AIV)",
			"SyncAll after store at hazard_test.go:L and before Commit(handle 0) at hazard_test.go:L: block 0 (AIV) commits, and does not know what block 1 (AIV) has stored"},
	}
	scrub := func(s string) string {
		s = regexp.MustCompile(`hccl/hazard_test\.go:\d+`).ReplaceAllString(s, "hazard_test.go:L")
		return regexp.MustCompile(`rank \d`).ReplaceAllString(s, "rank R")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, mode := range []runMode{{bare: true}, {bare: true, timed: true}} {
				var dev *device.Context
				rep := hosttest.Races(func(judge *race.Detector) {
					mode.judge = judge
					r := openRig(t, mode)
					g := r.on(first(2), hccl.Options{})
					var buffers []*memory
					for range 3 {
						buffers = append(buffers, r.spread(g.PEs(), n, dtype.F32, constant(2)))
					}
					l := r.launch(g, hccl.Cores{AIV: tt.cores}, tt.body, buffers, usual(hccl.OpAllReduce))
					if _, err := l.Run(context.Background()); err != nil {
						t.Fatal(err)
					}
					dev = r.Device
				})
				if len(rep.Hazards) == 0 {
					t.Fatal("no hazard")
				}
				for i := range rep.Hazards {
					h := &rep.Hazards[i]
					sides := [2]device.RaceSide{raceSide(&h.First), raceSide(&h.Second)}
					x := dev.Explain(sides[0], sides[1], mem.Addr(h.Addr))
					if x == nil {
						t.Fatalf("not explained: %v", h)
					}
					task, core := 0, 1
					if sides[1].Agent.Queue > 0 {
						task, core = 1, 0
					}
					if got := scrub(x.Names[task]); got != tt.task {
						t.Errorf("the task is %q, not %q", got, tt.task)
					}
					if got := scrub(x.Calls[task]); got != tt.calls || x.Calls[core] != "" {
						t.Errorf("the calls are %q, not %q", got, tt.calls)
					}
					if got := scrub(x.Names[core]); got != tt.core {
						t.Errorf("the core is %q, not %q", got, tt.core)
					}
					if got := scrub(x.Remedy); got != tt.remedy {
						t.Errorf("the remedy is %q, not %q", got, tt.remedy)
					}
				}
			}
		})
	}
}

func raceSide(a *race.Access) device.RaceSide {
	return device.RaceSide{Agent: a.Info, Read: a.Does == "read", Spot: a.Call + " at " + a.Line}
}
