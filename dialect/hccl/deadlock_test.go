package hccl_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/fault"
)

// The report of a program that never ends has the state of the tasks of every rank.
func TestDeadlocks(t *testing.T) {
	tests := []struct {
		name string
		body func(k *hccl.Kernel, h *hccl.Hccl)
		want string // the table
		try  string // the advice
		rule hccl.Rule
	}{
		{"a rank prepares nothing", func(k *hccl.Kernel, h *hccl.Hccl) {
			if h.GetRankID() != 1 {
				h.Wait(prepared(k, h, hccl.CommitNow, 2))
			}
			h.Finalize()
		}, `tasks of ranks 0, 2, group world
    handle  name       prepared  committed  done  waited
    0       AllReduce  2         2          0     1
  tasks of rank 1 (sip0.cube0.pe1), group world: none`,
			"prepare on rank 1, too, what rank 0 prepares at hccl/deadlock_test.go: AllReduce(count 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 2)",
			hccl.Mismatch},
		{"a rank does not commit", func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepared(k, h, hccl.CommitLater, 2)
			h.Commit(id)
			h.Wait(id)
			if h.GetRankID() != 1 {
				h.Commit(id)
				h.Wait(id)
			}
			for h.GetRankID() == 1 && h.Query(id) < 2 {
			}
			h.Finalize()
		}, `tasks of ranks 0, 2, group world
    handle  name       prepared  committed  done  waited
    0       AllReduce  2         2          1     2
  tasks of rank 1 (sip0.cube0.pe1), group world
    handle  name       prepared  committed  done  waited
    0       AllReduce  2         1          1     1`,
			"call Commit(handle 0) for turn 1 on rank 1: AllReduce(count 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 2), prepared at hccl/deadlock_test.go, has 1 of 2 committed",
			""},
		{"Finalize with a turn that is not committed", func(k *hccl.Kernel, h *hccl.Hccl) {
			h.Commit(prepared(k, h, hccl.CommitLater, 2))
			h.Finalize()
		}, `tasks of ranks 0-2, group world: Finalize called by block 0 (AIV) at hccl/deadlock_test.go
    handle  name       prepared  committed  done  waited
    0       AllReduce  2         1          1     0`,
			"call Commit(handle 0) for turn 1 on rank 0, 1, 2: AllReduce(count 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 2), prepared at hccl/deadlock_test.go, has 1 of 2 committed",
			hccl.FinalizeUncommitted},
		{"Query for more than there are", func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepared(k, h, hccl.CommitNow, 1)
			for h.Query(id) < 10 {
			}
			h.Finalize()
		}, `tasks of ranks 0-2, group world
    handle  name       prepared  committed  done  waited
    0       AllReduce  1         1          1     0`,
			"Query(handle 0) at hccl/deadlock_test.go stays 1, the number of turns of AllReduce(count 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1): compare it with 1",
			""},
		{"a task behind one that is not committed", func(k *hccl.Kernel, h *hccl.Hccl) {
			prepared(k, h, hccl.CommitLater, 1)
			id := prepared(k, h, hccl.CommitNow, 3)
			h.Wait(id)
		}, `tasks of ranks 0-2, group world
    handle  name       prepared  committed  done  waited
    0       AllReduce  1         0          0     0
    1       AllReduce  3         3          0     1`,
			"call Commit(handle 0) for turn 0 on rank 0, 1, 2: AllReduce(count 20, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, repeat 1), prepared at hccl/deadlock_test.go, has 0 of 1 committed",
			""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, r *rig) {
				g := r.on(first(3), hccl.Options{})
				x, y := r.spread(g.PEs(), 60, dtype.F32, constant(1)), r.spread(g.PEs(), 60, dtype.F32, constant(0))
				l := r.launch(g, hccl.Cores{AIV: 1}, tt.body, []*memory{x, y}, usual(hccl.OpAllReduce))
				_, err := l.Run(context.Background())
				dead, ok := errors.AsType[*fault.Deadlock](err)
				if !ok {
					t.Fatalf("got %v", err)
				}
				if got := table(dead); got != tt.want {
					t.Errorf("the report has\n%s\nnot\n%s", got, tt.want)
				}
				if got := regexp.MustCompile(`deadlock_test\.go:\d+`).ReplaceAllString(dead.Advice,
					"deadlock_test.go"); got != tt.try || !strings.Contains(err.Error(), "try: "+dead.Advice) {
					t.Errorf("the advice is\n%s\nnot\n%s", got, tt.try)
				}
				if m, misused := errors.AsType[*hccl.Misuse](err); tt.rule != "" && !isMisuse(err, tt.rule) || tt.rule == "" && misused {
					t.Errorf("misuse: %v", m)
				}
			})
		})
	}
}

// Cores of one device that wait for each other, or for a call that is refused, get advice too.
func TestDeadlocksOfCores(t *testing.T) {
	tests := []struct {
		name string
		body func(k *hccl.Kernel, h *hccl.Hccl)
		want string
	}{
		{"a core does not call SyncAll", func(k *hccl.Kernel, h *hccl.Hccl) {
			h.Wait(prepared(k, h, hccl.CommitNow, 1))
			if k.BlockIdx() == 0 {
				k.SyncAll(hccl.AIVOnly)
			}
			h.Finalize()
		},
			"let block 1 (AIV) of rank 0 call SyncAll<true> as often as the cores that wait for it at hccl/deadlock_test.go: 1 time, it has called it 0 times"},
		{"a Wait after Finalize", func(k *hccl.Kernel, h *hccl.Hccl) {
			id := prepared(k, h, hccl.CommitNow, 1)
			if k.BlockIdx() == 1 {
				for range 500 {
					k.PipeBarrier()
				}
				h.Wait(id)
			}
			h.Finalize()
		},
			"call SyncAll on all cores between their last Wait and Finalize: the Wait at hccl/deadlock_test.go came after Finalize of another core"},
		{"a loop around a refused call", func(k *hccl.Kernel, h *hccl.Hccl) {
			for h.Wait(3) != hccl.Success {
			}
		},
			"leave the loop at hccl/deadlock_test.go when its call fails: Wait(handle 3) is refused each time, because 0 tasks were prepared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := openRig(t, runMode{timed: true, bare: true})
			g := r.on(first(2), hccl.Options{})
			x, y := r.spread(g.PEs(), 60, dtype.F32, constant(1)), r.spread(g.PEs(), 60, dtype.F32, constant(0))
			l := r.launch(g, hccl.Cores{AIV: 2}, tt.body, []*memory{x, y}, usual(hccl.OpAllReduce))
			_, err := l.Run(context.Background())
			dead, ok := errors.AsType[*fault.Deadlock](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if got := regexp.MustCompile(`deadlock_test\.go:\d+`).ReplaceAllString(dead.Advice,
				"deadlock_test.go"); got != tt.want || dead.Missing != "" {
				t.Errorf("the advice is\n%s\nnot\n%s\nmissing %q", got, tt.want, dead.Missing)
			}
		})
	}
}

// prepared returns an AllReduce.
func prepared(k *hccl.Kernel, h *hccl.Hccl, release hccl.Release, repeat uint8) hccl.Handle {
	return h.AllReduce(release, k.GM(0), k.GM(1), 20, hccl.FP32, hccl.ReduceSum, repeat)
}

// table returns the part of a report about tasks, without the lines of this file.
func table(d *fault.Deadlock) string {
	_, rest, _ := strings.Cut(d.Error(), "\n  tasks of ")
	return regexp.MustCompile(`deadlock_test\.go:\d+`).ReplaceAllString("tasks of "+rest, "deadlock_test.go")
}
