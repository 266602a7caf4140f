package run

import (
	"context"
	"fmt"
	"testing"

	"kernbench/bench"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// idle runs launches whose kernels do nothing.
type idle struct{ exec.Executor }

func (e idle) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	nothing := *l
	nothing.Kernel = func(*tl.Context, tl.Args) {}
	return e.Executor.Launch(ctx, &nothing)
}

// BenchmarkStart is all of a run but the work of its kernels. That is configuration, machine,
// rings, tensors, ranks that start and end, and the release of memory. The last two are 65,536 and
// 102,400 PEs.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		algorithm string
		sips      int
		fidelity  string
	}{
		{"ring_allreduce_chunked", 2, "slot"},
		{"ring_allreduce_chunked", 32, "slot"},
		{"torus_allreduce", 32, "slot"},
		{"halving_doubling_allreduce", 512, "ideal"},
		{"hierarchical_ring_allreduce", 800, "slot"},
	} {
		b.Run(fmt.Sprintf("%s/sips=%d/%s", c.algorithm, c.sips, c.fidelity), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				x, err := Load(Spec{
					Algorithm: c.algorithm, Fidelity: c.fidelity,
					Sets: []string{fmt.Sprintf("system.sips.count=%d", c.sips)},
				})
				if err != nil {
					b.Fatal(err)
				}
				executor, err := x.openExecutor(nil, nil, nil, Pass{})
				if err != nil {
					b.Fatal(err)
				}
				dev, err := device.New(device.Config{
					Machine: x.Machine, CCL: x.Entries, Executor: idle{executor}, World: x.World(),
				})
				if err != nil {
					b.Fatal(err)
				}
				host := bench.NewHost(x.program, dev, bench.Options{Algorithm: x.Algorithm, NElem: 8192, DType: x.DType}, func(string) {})
				if err := x.program.Execute(b.Context(), host); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
