package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"
)

// hastyCore reads the result of a task before it waits for it, and then runs a launch that is
// right on the same device.
var hastyCore = bench.Register(bench.Program{
	Name: "lab_test_hasty_core", Parallel: true, Ranks: 2, DType: dtype.F32,
	Run: func(ctx context.Context, h *bench.Host) error {
		const n = 64
		g, err := hccl.NewComm(h.Device, "world", h.Devices(), hccl.Options{})
		if err != nil {
			return err
		}
		tiling := hccl.NewTiling()
		tiling.AddInit()
		at, _ := tiling.AddCc(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
		var buffers [][]*device.Tensor
		for range 3 {
			x, err := h.Device.EmptyOn(h.Devices(), n, dtype.F32)
			if err == nil {
				err = x.CopyIn(make([]float64, 2*n))
			}
			if err != nil {
				return err
			}
			buffers = append(buffers, []*device.Tensor{x})
		}
		run := func(early bool) error {
			l := hccl.Launch{
				Name: "all_reduce_custom", Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{g}, Tiling: tiling, Buffers: buffers,
				Kernel: func(k *hccl.Kernel) {
					o := k.New(hccl.Config{})
					o.InitV2(k.HcclContext(0), k.Tiling())
					o.SetCcTilingV2(at)
					id := o.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), n, hccl.FP32, hccl.ReduceSum, 1)
					if early {
						k.Full(tl.Dims(2000), dtype.F32, 1) // the task begins meanwhile
						k.PipeBarrier()
						k.Store(k.Buffer(2), k.Load(k.Buffer(1)))
					}
					o.Wait(id)
					o.Finalize()
				},
			}
			_, err := l.Run(ctx)
			return err
		}
		err = run(true)
		if again := run(false); again != nil {
			return errors.Join(err, errors.New("a later launch does not work"))
		}
		return err
	},
})

// A core that reads the result of a running task races with it. That is the verdict on each
// executor, and without a judge of races the failure names the task.
func TestReadBeforeWait(t *testing.T) {
	yes, no := true, false
	executors(t, func(t *testing.T, executor string) {
		r, err := run.Run(ctx, run.Spec{Bench: hastyCore.Name, Executor: executor, VerifyData: true, Race: &yes})
		if err != nil || r.OK() || r.Verdict("race").State != run.Failed || len(r.Hazards) == 0 || r.Fault != "" {
			t.Fatalf("%v, verdicts %v, hazards %v", err, r.Verdicts, r.Hazards)
		}
		for _, want := range []string{"of AllReduce handle 0 turn 0 of rank ",
			", prepared and committed at run/early_test.go:", " block 0 (AIV) (sip0.cube0.pe",
			"missing: Wait(handle 0) before load at run/early_test.go:"} {
			if got := r.Hazards[0].String(); !strings.Contains(got, want) ||
				strings.Contains(got, "communication engine") || strings.Contains(got, "program 0") {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	})
	r, err := run.Run(ctx, run.Spec{Bench: hastyCore.Name, Executor: sim.Name, VerifyData: true, Race: &no})
	if !errors.As(err, new(*fault.Early)) || strings.Contains(err.Error(), "later launch") {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"early_test.go:", "load", "is a result of AllReduce handle 0 turn 0 of rank ",
		"which is still running: call Wait(handle 0) first"} {
		if !strings.Contains(r.Fault, want) {
			t.Errorf("%q is not in %q", want, r.Fault)
		}
	}
}
