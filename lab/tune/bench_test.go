//go:build unix

package tune_test

import (
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	_ "kernbench/internal/fewcollections"
	"kernbench/lab/tune"
	"kernbench/unit"
)

// BenchmarkTune is a sweep over all algorithms of an all-reduce with one processor and with two, in
// turn. It measures the speed-up of the second, and how much more CPU time it takes.
func BenchmarkTune(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("there is one processor")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var wall, used [3]time.Duration
	for b.Loop() {
		for _, n := range []int{1, 2} {
			runtime.GOMAXPROCS(n)
			runtime.GC()
			st := openStore(b, filepath.Join(b.TempDir(), "x.db"))
			before, start := processorTime(b), time.Now()
			if _, err := tune.Run(b.Context(), tune.Spec{
				Ranks: []int{16, 32}, Collectives: []string{"all_reduce"}, Min: unit.KiB, Max: 64 * unit.KiB, Factor: 4,
				Vary: tune.DefaultVary(), Best: 3, AllTo: 16 * unit.KiB, MeasureTo: unit.MiB, Budget: 1e7,
			}, opened(st)); err != nil {
				b.Fatal(err)
			}
			wall[n], used[n] = wall[n]+time.Since(start), used[n]+processorTime(b)-before
		}
	}
	b.ReportMetric(wall[1].Seconds()/float64(b.N), "s/one")
	b.ReportMetric(wall[2].Seconds()/float64(b.N), "s/two")
	b.ReportMetric(wall[1].Seconds()/wall[2].Seconds(), "times-as-fast")
	b.ReportMetric(used[2].Seconds()/used[1].Seconds(), "times-the-cpu")
	b.ReportMetric(0, "ns/op")
}

// processorTime returns what this process has had of all processors.
func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
