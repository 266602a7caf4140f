package hccl_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/fault"
)

// The samples of the pages for Commit, Wait, Query and Finalize pass 10 for repeat, one argument
// too early. It is the stride, and there is one turn.

// sample runs such a program on four ranks.
func sample(t *testing.T, r *rig, calls func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle), commit hccl.Release) error {
	g := r.group(4, hccl.Options{})
	send, recv := r.buffer(4, 300, dtype.F32, pageInput), r.buffer(4, 300, dtype.F32, nil)
	tiling, at := r.tiling(hccl.NewCcTiling("world", hccl.OpReduceScatter, hccl.DefaultAlgConfig(hccl.OpReduceScatter)))
	l := hccl.Launch{
		Name: "sample", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: tensors(send, recv),
		Kernel: func(k *hccl.Kernel) {
			h := k.New(hccl.Config{})
			h.InitV2(k.HcclContext(0), k.Tiling())
			h.SetCcTilingV2(at[0])
			calls(k, h, h.ReduceScatter(commit, k.GM(0), k.GM(1), 20, hccl.FP32, hccl.ReduceSum, 10, 1))
		},
	}
	_, err := l.Run(context.Background())
	leavesNothing(r, g, send, recv)
	return err
}

// wantRules checks for diagnostics of these rules, in this order, and for words in the report.
func wantRules(t *testing.T, err error, rules []hccl.Rule, words ...string) {
	t.Helper()
	m, ok := errors.AsType[*hccl.Misuse](err)
	if !ok {
		t.Fatalf("no diagnostics: %v", err)
	}
	var found []hccl.Rule
	for _, d := range m.Diagnostics {
		found = append(found, d.Rule)
	}
	if !slices.Equal(found, rules) {
		t.Errorf("rules %v, not %v: %v", found, rules, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not said in\n%v", w, err)
		}
	}
}

const trap = "the stride comes before repeat: for 10 turns pass 0 (or the distance) and then 10"

func TestSampleOfCommitAndWait(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		err := sample(t, r, func(_ *hccl.Kernel, h *hccl.Hccl, id hccl.Handle) {
			for range 10 {
				h.Commit(id)
			}
			for i := range 10 {
				want := hccl.Failure
				if i == 0 {
					want = hccl.Success
				}
				if got := h.Wait(id); got != want {
					t.Errorf("Wait %d returned %d", i, got)
				}
			}
			h.Finalize()
		}, hccl.CommitLater)
		wantRules(t, err, []hccl.Rule{hccl.CommitTooOften, hccl.WaitTooOften, hccl.StrideLooksLikeRepeat},
			trap, "(returned ignored; found 36 times)", "(returned -1; found 36 times)",
			"strideCount is 10: the stride comes before repeat")
		if _, stuck := errors.AsType[*fault.Deadlock](err); stuck {
			t.Errorf("a deadlock: %v", err)
		}
	})
}

func TestSampleOfQuery(t *testing.T) {
	onEach(t, func(t *testing.T, r *rig) {
		err := sample(t, r, func(_ *hccl.Kernel, h *hccl.Hccl, id hccl.Handle) {
			for h.Query(id) < 10 {
			}
			t.Error("all ten turns are done")
		}, hccl.CommitNow)
		wantRules(t, err, []hccl.Rule{hccl.StrideLooksLikeRepeat}, trap, "deadlock", "tasks.done[0] to change, which is 1",
			"0       ReduceScatter  1         1          1     0")
	})
}

// A loop around a call that is refused has no end: it is seen to wait.
func TestLoopsAroundRefusedCalls(t *testing.T) {
	for i, tt := range []struct {
		name string
		rule hccl.Rule
		loop func(k *hccl.Kernel, h *hccl.Hccl)
	}{
		{"query", hccl.BadHandle, func(_ *hccl.Kernel, h *hccl.Hccl) {
			for h.Query(hccl.Invalid) < 1 {
			}
		}},
		{"wait", hccl.BadHandle, func(_ *hccl.Kernel, h *hccl.Hccl) {
			for h.Wait(40) != hccl.Success {
			}
		}},
		{"prepare", hccl.RepeatZero, func(k *hccl.Kernel, h *hccl.Hccl) {
			for h.ReduceScatter(hccl.CommitNow, k.GM(0), k.GM(1), 1, hccl.FP32, hccl.ReduceSum, 0, 0) == hccl.Invalid {
			}
		}},
		{"object that is not initialised", hccl.NoInit, func(k *hccl.Kernel, _ *hccl.Hccl) {
			for h := k.New(hccl.Config{}); h.GetRankID() < 0; {
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := sample(t, newRig(t, []string{"mock", "sim"}[i%2]), func(k *hccl.Kernel, h *hccl.Hccl, id hccl.Handle) {
				h.Wait(id)
				tt.loop(k, h)
			}, hccl.CommitNow)
			wantRules(t, err, []hccl.Rule{tt.rule, hccl.StrideLooksLikeRepeat}, "deadlock")
		})
	}
}
