package sim_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// TestGoldenTraces: what happens in small runs, event by event, so that a change of timing
// is seen in review.
func TestGoldenTraces(t *testing.T) {
	tests := []struct {
		name   string
		kernel tl.Kernel
		setup  setup
	}{
		{"hello", algorithm.HelloSend.Kernel, setup{world: 2, n: 64}},
		{"ring", algorithm.RingAllReduceChunked.Kernel, setup{world: 4, n: 4096}},
		{"ring_poll_hbm", algorithm.RingAllReduce.Kernel,
			setup{world: 3, n: 512, space: mem.HBM, ring: func(r *tl.Ring) { r.Poll = true }}},
		{"tree_sleep", algorithm.TreeAllReduce.Kernel,
			setup{world: 7, n: 256, topology: "tree_binary", ring: func(r *tl.Ring) { r.WakeCost = 20 * unit.Nanosecond }}},
		{"mesh_sram", algorithm.MeshAllReduce.Kernel, setup{world: 4, n: 256, topology: "mesh_2d", space: mem.SRAM}},
		{"long_payload", algorithm.HelloSend.Kernel, setup{world: 2, n: 2048, slots: 2, slotBytes: 1024}},
		{"composite", func(c *tl.Context, a tl.Args) {
			in := func(at int64) tl.Ref { return c.Ref(mem.At(mem.HBM, 0, at), tl.Dims(64, 64), a.DType) }
			c.Await(c.Composite(tl.Composite{A: in(0), B: in(1 << 20), Out: in(2 << 20), Epilogue: []tl.Epilogue{{Op: tl.EpilogueReLU}}}))
		}, setup{world: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.kernel, tt.setup)
			var got bytes.Buffer
			w := trace.NewText(&got, b.m.PEName)
			if _, err := b.run(sim.Options{Trace: w}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", tt.name+".golden")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("%s (-want +got; -update writes it anew):\n%s", file, d)
			}
		})
	}
}
