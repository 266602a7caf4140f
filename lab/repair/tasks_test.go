package repair_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/lab/repair"
	"kernbench/lab/run"
)

// withTasks registers a host program in which every device calls the task API.
func withTasks(name string, calls func(k *hccl.Kernel, o *hccl.Hccl)) string {
	return bench.Register(bench.Program{
		Name: name, Parallel: true, Ranks: 4,
		Run: func(ctx context.Context, h *bench.Host) error {
			comm, err := hccl.NewComm(h.Device, "world", h.Devices(), hccl.Options{})
			if err != nil {
				return err
			}
			tiling := hccl.NewTiling()
			tiling.AddInit()
			at, _ := tiling.AddCc(hccl.NewCcTiling("world", hccl.OpAllReduce, hccl.DefaultAlgConfig(hccl.OpAllReduce)))
			if err := tiling.Err(); err != nil {
				return err
			}
			var buffers [][]*device.Tensor
			for range 2 {
				x, err := h.Device.EmptyOn(h.Devices(), 60, dtype.F32)
				if err != nil {
					return err
				}
				if err := x.CopyIn(make([]float64, 60*len(h.Devices()))); err != nil {
					return err
				}
				buffers = append(buffers, []*device.Tensor{x})
			}
			l := hccl.Launch{Name: name, Cores: hccl.Cores{AIV: 1}, Comms: []*hccl.Comm{comm}, Tiling: tiling, Buffers: buffers}
			l.Kernel = func(k *hccl.Kernel) {
				o := k.New(hccl.Config{})
				o.InitV2(k.HcclContext(0), k.Tiling())
				o.SetCcTilingV2(at)
				calls(k, o)
				o.Finalize()
			}
			_, err = l.Run(ctx)
			return err
		},
	}).Name
}

// allReduce prepares a task of some turns.
func allReduce(k *hccl.Kernel, o *hccl.Hccl, when hccl.Release, turns uint8) hccl.Handle {
	return o.AllReduce(when, k.GM(0), k.GM(1), 20, hccl.FP32, hccl.ReduceSum, turns)
}

var (
	commitsTooFew = withTasks("repair_commits_too_few", func(k *hccl.Kernel, o *hccl.Hccl) {
		id := allReduce(k, o, hccl.CommitLater, 2)
		o.Commit(id)
		o.Wait(id)
	})
	commitsNone = withTasks("repair_commits_none", func(k *hccl.Kernel, o *hccl.Hccl) {
		allReduce(k, o, hccl.CommitLater, 2)
	})
	preparesOnOne = withTasks("repair_prepares_on_one", func(k *hccl.Kernel, o *hccl.Hccl) {
		if o.GetRankID() == 0 {
			allReduce(k, o, hccl.CommitNow, 1)
		}
	})
)

// Programs of the task API are repaired if a commit is missing. They are not repaired if no line
// prepares the task.
func TestRepairsOfTasks(t *testing.T) {
	for _, tt := range []struct{ bench, executor, want string }{
		{commitsTooFew, "sim", "committing one more turn at repair/tasks_test.go:"},
		{commitsNone, "mock", "committing all turns where the task is prepared, at repair/tasks_test.go:"},
		{preparesOnOne, "mock", ""},
	} {
		t.Run(tt.bench, func(t *testing.T) {
			spec := run.Spec{Topology: "ahbm-cube", Executor: tt.executor, Bench: tt.bench}
			_, err := run.Run(context.Background(), spec)
			if !repair.Applies(err) {
				t.Fatalf("the run ends with %v", err)
			}
			r := repair.Search(context.Background(), spec, err, time.Minute)
			if tt.want == "" {
				if len(r.Found) > 0 || r.Stopped {
					t.Errorf("%+v", r)
				}
				return
			}
			i := slices.IndexFunc(r.Found, func(f run.Repair) bool { return strings.HasPrefix(f.What, tt.want) })
			if i < 0 || len(r.Found[i].Also) != 2 || len(r.Found[i].NotAt) > 0 {
				t.Errorf("not found: %q in %+v", tt.want, r)
			}
		})
	}
}
