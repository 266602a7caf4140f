package sim_test

import (
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/tl"
)

// BenchmarkStream measures the operations of 8 streams. They are copies of 4 KiB to the next PE,
// and programs of a grid that load, add and store as much.
func BenchmarkStream(b *testing.B) {
	const devices, n, each = 8, 1024, 200
	next := func(r int) mem.Addr { return mem.At(mem.HBM, (r+1)%devices, away) }
	add := func(c *tl.Context, _ tl.Args) {
		x := tl.Ref{Addr: mem.At(mem.HBM, c.Rank(), 0), Shape: tl.Dims(n), DType: dtype.F32}
		t := c.Load(x)
		c.Store(x, c.Add(t, t))
	}
	for name, queue := range map[string]func(s *streamBench, r int){
		"copies": func(s *streamBench, r int) {
			for range each {
				s.add(r, copyOp(next(r), mem.At(mem.HBM, r, 0), n))
			}
		},
		"programs": func(s *streamBench, r int) {
			op := launchOp(add, each, 4)
			op.Launch.Rank, op.Launch.World = r, devices
			s.add(r, op)
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := newStreams(b, devices, n)
			for r := range devices {
				queue(s, r)
			}
			e := sim.New(s.m, sim.Options{})
			b.ReportAllocs()
			for range b.N {
				if _, err := e.RunStreams(b.Context(), &s.batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*devices*each), "ns/operation")
		})
	}
}
