package torch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dialect/torch"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/record/oplog"
	"kernbench/tl"
)

var (
	ctx     = context.Background()
	columns = device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}
)

// open makes a module on a machine of sips SIPs × (2 × 1 cubes) × 4 PEs, with data.
func open(t testing.TB, algorithm string, check func(*device.Call) error, sets ...string) (*device.Context, *torch.Dist) {
	t.Helper()
	sets = append([]string{"system.sips.count=3", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1"}, sets...)
	topoSets, cclSets, err := conf.SplitSets(sets)
	if err != nil {
		t.Fatal(err)
	}
	top, err := conf.LoadTopology(nil, topoSets)
	if err != nil {
		t.Fatal(err)
	}
	ccl, err := conf.LoadCCL(nil, cclSets)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	t.Cleanup(log.Close)
	dev, err := device.New(device.Config{
		Machine: m, CCL: ccl, Executor: mock.New(mock.Options{Data: log}), Check: check,
	})
	if err != nil {
		t.Fatal(err)
	}
	return dev, torch.New(dev, algorithm)
}

// ones makes a tensor of one value on the current SIP.
func ones(dev *device.Context, n int, v float64) (*device.Tensor, error) {
	x, err := dev.Zeros(1, n, dtype.F32, columns)
	if err != nil {
		return nil, err
	}
	return x, x.CopyIn(slices.Repeat([]float64{v}, n))
}

func TestProcessGroup(t *testing.T) {
	_, d := open(t, "", nil)
	if d.GetRank() != -1 || d.GetWorldSize() != -1 || d.GetBackend() != "" {
		t.Fatalf("before: rank %d of %d on %q", d.GetRank(), d.GetWorldSize(), d.GetBackend())
	}
	if err := d.Barrier(ctx); !errors.Is(err, torch.ErrNoGroup) {
		t.Fatal(err)
	}
	if err := d.Spawn(ctx, nil); !errors.Is(err, torch.ErrNoGroup) {
		t.Fatal(err)
	}
	var unknown *torch.UnknownBackend
	if err := d.InitProcessGroup("nccl"); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "known: ahbm") {
		t.Fatal(err)
	}
	if err := d.InitProcessGroup("ahbm"); err != nil {
		t.Fatal(err)
	}
	if d.GetRank() != 0 || d.GetWorldSize() != 24 || d.GetBackend() != "ahbm" {
		t.Fatalf("rank %d of %d on %q", d.GetRank(), d.GetWorldSize(), d.GetBackend())
	}
	if err := d.InitProcessGroup("ahbm"); err == nil {
		t.Fatal("a second default group was opened")
	}
	if err := d.Barrier(ctx); err != nil {
		t.Fatal(err)
	}
}

// rank_level: pe: one worker, a tensor per SIP, one launch; shards are contributions.
func TestAllReduceOverPEs(t *testing.T) {
	var calls []*device.Call
	dev, d := open(t, "ring_allreduce", func(c *device.Call) error { calls = append(calls, c); return nil })
	if err := d.InitProcessGroup("ahbm"); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
		runs++
		var list []*device.Tensor
		for sip := range 3 {
			if err := dev.SetDevice(sip); err != nil {
				return err
			}
			x, err := ones(dev, 16, float64(sip))
			if err != nil {
				return err
			}
			list = append(list, x)
		}
		if err := w.AllReduce(ctx, list, tl.Sum); err != nil {
			return err
		}
		for _, x := range list {
			got, err := x.Read()
			if err != nil {
				return err
			}
			if want := slices.Repeat([]float64{8 * (0 + 1 + 2)}, 16); !slices.Equal(got, want) {
				return fmt.Errorf("got %v", got)
			}
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	if runs != 1 || len(dev.Launches()) != 1 || len(calls) != 1 {
		t.Fatalf("%d workers, %d launches, %d calls", runs, len(dev.Launches()), len(calls))
	}
	c := calls[0]
	if len(c.Groups) != 1 || c.Groups[0].Call.World != 24 || len(c.Groups[0].Inputs[23]) != 8 {
		t.Fatalf("%+v", c.Groups)
	}
}

// rank_level: sip: a worker per SIP; element i is the sum over SIPs of element i, by one
// launch with a group per shard.
func TestAllReduceOverSIPs(t *testing.T) {
	var calls []*device.Call
	dev, d := open(t, "ring_allreduce_chunked", func(c *device.Call) error { calls = append(calls, c); return nil },
		"defaults.rank_level=sip")
	if err := d.InitProcessGroup("ahbm"); err != nil {
		t.Fatal(err)
	}
	if d.GetRank() != -1 || d.GetWorldSize() != 3 {
		t.Fatalf("rank %d of %d", d.GetRank(), d.GetWorldSize())
	}
	if err := d.AllReduce(ctx, nil, tl.Sum); err == nil || !strings.Contains(err.Error(), "Spawn") {
		t.Fatal(err)
	}
	const n = 19 // shards of 3 and of 2 elements
	var order []int
	err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
		order = append(order, w.GetRank())
		if w.GetRank() != dev.CurrentDevice() || w.GetWorldSize() != 3 || w.GetBackend() != "ahbm" {
			return fmt.Errorf("rank %d of %d on SIP %d", w.GetRank(), w.GetWorldSize(), dev.CurrentDevice())
		}
		x, err := dev.Zeros(1, n, dtype.F32, columns)
		if err != nil {
			return err
		}
		values, want := make([]float64, n), make([]float64, n)
		for i := range values {
			values[i] = float64(i + 100*w.GetRank())
			want[i] = float64(3*i + 300)
		}
		if err := x.CopyIn(values); err != nil {
			return err
		}
		if err := w.AllReduce(ctx, []*device.Tensor{x}, tl.Sum); err != nil {
			return err
		}
		order = append(order, w.GetRank())
		got, err := x.Read()
		if err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("rank %d got %v, want %v", w.GetRank(), got, want)
		}
		if dev.CurrentDevice() != w.GetRank() {
			return fmt.Errorf("rank %d woke up on SIP %d", w.GetRank(), dev.CurrentDevice())
		}
		return w.Barrier(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, []int{0, 1, 2, 0, 1, 2}) {
		t.Fatalf("workers ran in the order %v", order)
	}
	if len(dev.Launches()) != 1 || len(calls) != 1 || len(calls[0].Groups) != 8 {
		t.Fatalf("%d launches, %d calls", len(dev.Launches()), len(calls))
	}
	if dev.CurrentDevice() != 0 {
		t.Fatalf("the host ended up on SIP %d", dev.CurrentDevice())
	}
	for k, g := range calls[0].Groups {
		if g.Call.World != 3 || g.Call.Labels.At(0) != 3*k || g.PEs[2]-g.PEs[1] != 8 {
			t.Fatalf("group %d: %+v", k, g)
		}
	}
}

func TestWorkersThatDisagree(t *testing.T) {
	type body func(ctx context.Context, dev *device.Context, w *torch.Worker) error
	reduce := func(n int, op tl.ReduceOp) body {
		return func(ctx context.Context, dev *device.Context, w *torch.Worker) error {
			x, err := ones(dev, n, 1)
			if err != nil {
				return err
			}
			return w.AllReduce(ctx, []*device.Tensor{x}, op)
		}
	}
	barrier := func(ctx context.Context, _ *device.Context, w *torch.Worker) error { return w.Barrier(ctx) }
	nothing := func(context.Context, *device.Context, *torch.Worker) error { return nil }
	tests := []struct {
		name    string
		bodies  [3]body
		missing bool
		text    []string
	}{
		{"operation", [3]body{reduce(8, tl.Sum), reduce(8, tl.Sum), reduce(8, tl.Max)}, false,
			[]string{"rank 0 called AllReduce(sum, 1 × 8 f32) at dist_test.go:", "rank 2 called AllReduce(max, 1 × 8 f32)"}},
		{"shape", [3]body{reduce(8, tl.Sum), reduce(16, tl.Sum), reduce(8, tl.Sum)}, false,
			[]string{"rank 1 called AllReduce(sum, 1 × 16 f32)"}},
		{"barrier", [3]body{barrier, reduce(8, tl.Sum), barrier}, false, []string{"rank 0 called Barrier()", "rank 1 called AllReduce"}},
		{"missing worker", [3]body{reduce(8, tl.Sum), nothing, reduce(8, tl.Sum)}, true,
			[]string{"returned (1)", "rank 0 called AllReduce"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dev, d := open(t, "", nil, "defaults.rank_level=sip")
			if err := d.InitProcessGroup("ahbm"); err != nil {
				t.Fatal(err)
			}
			err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error { return tt.bodies[w.GetRank()](ctx, dev, w) })
			var mismatch *torch.Mismatch
			var missing *torch.Missing
			if errors.As(err, &missing) != tt.missing || errors.As(err, &mismatch) == tt.missing {
				t.Fatalf("got %v", err)
			}
			for _, text := range tt.text {
				if !strings.Contains(err.Error(), text) {
					t.Fatalf("got %v, want %q in it", err, text)
				}
			}
		})
	}
}

func TestWorkerFailures(t *testing.T) {
	dev, d := open(t, "", nil, "defaults.rank_level=sip")
	if err := d.InitProcessGroup("ahbm"); err != nil {
		t.Fatal(err)
	}
	aborted := 0
	broken := errors.New("broken")
	wait := func(ctx context.Context, w *torch.Worker) error {
		for range 2 {
			if err := w.Barrier(ctx); errors.Is(err, torch.ErrAborted) {
				aborted++
			}
		}
		return nil
	}
	t.Run("error", func(t *testing.T) {
		aborted = 0
		err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
			if w.GetRank() == 1 {
				return broken
			}
			return wait(ctx, w)
		})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "rank 1") || aborted != 2 {
			t.Fatalf("got %v, %d calls aborted", err, aborted)
		}
	})
	t.Run("panic", func(t *testing.T) {
		err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
			if w.GetRank() == 2 {
				panic("oops")
			}
			return wait(ctx, w)
		})
		var p *fault.Panic
		if !errors.As(err, &p) || !strings.Contains(p.Stack, "dist_test.go") {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("tensor of another SIP", func(t *testing.T) {
		err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error {
			if err := dev.SetDevice(0); err != nil {
				return err
			}
			x, err := ones(dev, 8, 1)
			if err != nil {
				return err
			}
			return w.AllReduce(ctx, []*device.Tensor{x}, tl.Sum)
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1") || !strings.Contains(err.Error(), "is on SIP 0") {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("spawn in spawn", func(t *testing.T) {
		err := d.Spawn(ctx, func(ctx context.Context, w *torch.Worker) error { return d.Spawn(ctx, wait) })
		if err == nil || !strings.Contains(err.Error(), "inside a worker") {
			t.Fatalf("got %v", err)
		}
	})
}

func TestAllReduceNeedsAnAllReduce(t *testing.T) {
	dev, d := open(t, "hello_send", nil)
	if err := d.InitProcessGroup("ahbm"); err != nil {
		t.Fatal(err)
	}
	x, err := ones(dev, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.AllReduce(ctx, []*device.Tensor{x}, tl.Sum); err == nil || !strings.Contains(err.Error(), "performs shift") {
		t.Fatal(err)
	}
}
