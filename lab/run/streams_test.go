package run_test

import (
	"context"
	"testing"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/exec/sim"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"
)

// streamsOnly returns a program that may run collectives, and installs one. It only uses streams,
// or only a kernel of its own.
func streamsOnly(name string, launch func(ctx context.Context, h *bench.Host, k tl.Kernel, x *device.Tensor) error) *bench.Program {
	return bench.Register(bench.Program{
		Name: name, Collectives: true, Ranks: 2,
		Run: func(ctx context.Context, h *bench.Host) error {
			if _, err := h.Device.InstallIPCQ("ring_allreduce"); err != nil {
				return err
			}
			x, err := h.Device.EmptyOn(h.Devices(), 64, h.DType)
			if err != nil {
				return err
			}
			return launch(ctx, h, func(c *tl.Context, a tl.Args) {
				x := a.Shard(c.Rank())
				c.Store(x, c.Full(x.Shape, x.DType, 1))
			}, x)
		},
	})
}

var (
	onStreams = streamsOnly("lab_test_on_streams", func(ctx context.Context, h *bench.Host, k tl.Kernel, x *device.Tensor) error {
		for _, pe := range h.Devices() {
			s, err := h.Device.NewStream(int(pe))
			if err != nil {
				return err
			}
			if err := s.Launch("fill", k, device.Grid{Programs: 1}, x); err != nil {
				return err
			}
		}
		return h.Device.Synchronize(ctx)
	})
	ownKernel = streamsOnly("lab_test_own_kernel", func(ctx context.Context, h *bench.Host, k tl.Kernel, x *device.Tensor) error {
		_, err := h.Device.LaunchKernel(ctx, "fill", k, x)
		return err
	})
)

// Where a program runs no collective, its time is that of all its launches.
func TestTimeWithoutACollective(t *testing.T) {
	for _, p := range []*bench.Program{onStreams, ownKernel} {
		r, err := run.Run(ctx, run.Spec{Bench: p.Name, Executor: sim.Name, Ranks: 2})
		if err != nil || r.SimulatedTime <= 0 || r.Launches != 1 {
			t.Errorf("%s: %v in %d launches: %v", p.Name, r.SimulatedTime, r.Launches, err)
		}
	}
}
