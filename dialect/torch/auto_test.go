package torch_test

import (
	"context"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dialect/torch"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/machine"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// auto picks an algorithm for each AllReduce by its size.
func TestAutoPicksForEachAllReduce(t *testing.T) {
	top := conf.DefaultTopology()
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	t.Cleanup(log.Close)
	var ran []string
	dev, err := device.New(device.Config{
		Machine: m, Executor: mock.New(mock.Options{Data: log}), World: 2,
		Tuning: &algorithm.Tuning{Tables: []algorithm.TuningTable{{
			Machine: top.Fingerprint(), Collective: "all_reduce", Ranks: 2, Type: dtype.F32,
			Rows: []algorithm.TuningRow{{From: 0, Use: "tree_allreduce"}, {From: 100, Use: "ring_allreduce"}},
		}}},
		Check: func(c *device.Call) error { ran = append(ran, c.Plan.Name); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	d := torch.New(dev, "auto")
	if err := d.InitProcessGroup("ahbm"); err != nil {
		t.Fatal(err)
	}
	err = d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
		for _, n := range []int{4, 64, 8} {
			x, err := dev.EmptyOn(d.Plan().PEs, n, dtype.F32)
			if err != nil {
				return err
			}
			if err := x.CopyIn(slices.Repeat([]float64{3}, 2*n)); err != nil {
				return err
			}
			if err := w.AllReduce(ctx, []*device.Tensor{x}, tl.Sum); err != nil {
				return err
			}
			got, err := x.Read()
			if err != nil {
				return err
			}
			if !slices.Equal(got, slices.Repeat([]float64{6}, 2*n)) {
				t.Errorf("%d elements: %v", n, got)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"tree_allreduce", "ring_allreduce", "tree_allreduce"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}
