package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/kerneltest/hosttest"
	"kernbench/tl"
)

// sums returns a host program that performs an all-reduce by name.
func sums(ctx context.Context, h *bench.Host) error { return bench.CCLAllReduce.Run(ctx, h) }

var collective = bench.Program{Name: "sums", Collectives: true, Run: sums}

// tasks returns a host program whose cores post an all-reduce as a task, and double what it gives.
// Without the wait they read it too early.
func tasks(wait bool) bench.Program {
	kernel := func(k *hccl.Kernel) {
		h := k.New(hccl.Config{})
		h.InitV2(k.HcclContext(0), k.Tiling())
		if h.SetCcTilingV2(k.Tiling().Offsets()[0]) != hccl.Success {
			return
		}
		x := k.Buffer(0)
		id := h.AllReduce(hccl.CommitNow, k.GM(0), k.GM(1), uint64(x.Len()), hccl.FP16, hccl.ReduceSum, 1)
		if wait {
			h.Wait(id)
		}
		y := k.Load(k.Buffer(1))
		k.Store(k.Buffer(2), k.Add(y, y))
		if !wait {
			h.Wait(id)
		}
		h.Finalize()
	}
	return bench.Program{Name: "tasks", Parallel: true, Ranks: 4, NElem: 8, Run: func(ctx context.Context, h *bench.Host) error {
		pes := h.Devices()
		ones := make([]float64, h.NElem)
		for i := range ones {
			ones[i] = 1
		}
		var vs [3]*bench.Vector
		for i := range vs {
			v, err := h.Vector(fmt.Sprint("v", i), pes, h.NElem, func(int) []float64 { return ones })
			if err != nil {
				return err
			}
			vs[i] = v
		}
		world, err := hccl.NewComm(h.Device, "world", pes, hccl.Options{})
		if err != nil {
			return err
		}
		tiling := hccl.NewTiling()
		tiling.AddInit()
		tiling.AddCc(hccl.NewCcTiling("world", hccl.OpAllReduce, "AllReduce=level0:doublering"))
		if err := tiling.Err(); err != nil {
			return err
		}
		l := hccl.Launch{Name: "tasks", Kernel: kernel, Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{world}, Tiling: tiling,
			Buffers: [][]*device.Tensor{vs[0].Tensors(), vs[1].Tensors(), vs[2].Tensors()}}
		if _, err := l.Run(ctx); err != nil {
			return err
		}
		return errors.Join(world.Free(), vs[0].Free(), vs[1].Free(), vs[2].Free())
	}}
}

func TestRunAccepts(t *testing.T) {
	hosttest.Run(t, collective, hosttest.Config{Ranks: 4, Schedules: 2})
	hosttest.Run(t, collective, hosttest.Config{Ranks: 4, Op: tl.Max, Algorithm: "ring_allreduce_chunked"})
	hosttest.Run(t, tasks(true), hosttest.Config{Schedules: 2})
}

func TestRunRefuses(t *testing.T) {
	silent := bench.Program{Name: "silent", Run: func(ctx context.Context, h *bench.Host) error {
		x, err := h.Device.Zeros(1, 8, h.DType, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: 1})
		if err != nil {
			return err
		}
		_, err = h.Device.LaunchKernel(ctx, "nothing", func(c *tl.Context, a tl.Args) {}, x)
		return errors.Join(err, x.Free())
	}}
	stops := bench.Program{Name: "stops", Run: func(context.Context, *bench.Host) error { return errors.New("out of luck") }}
	for _, c := range []struct {
		name    string
		program bench.Program
		cfg     hosttest.Config
		want    []string
	}{
		{"race", tasks(false), hosttest.Config{}, []string{"on mock", "race: FAILED", `Executors: []string{"mock"}`}},
		{"one schedule", tasks(false), hosttest.Config{Executors: []string{"sim"}, Seed: 3},
			[]string{"on sim, schedule 3", `Executors: []string{"sim"}, Seed: 3`}},
		{"nothing judged", silent, hosttest.Config{}, []string{"Host.Expect"}},
		{"error of the program", stops, hosttest.Config{}, []string{"on mock, its own schedule: out of luck"}},
		{"unknown executor", collective, hosttest.Config{Executors: []string{"mok"}}, []string{"unknown executor"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := hosttest.Check(c.program, c.cfg)
			if err == nil {
				t.Fatal("nothing was wrong")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in:\n%v", want, err)
				}
			}
		})
	}
}
