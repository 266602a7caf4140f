package perf_test

import (
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/unit"
)

// TestTransfers: a transfer takes its bytes at the rate of the channels that it uses. They are one
// for each 64 KiB, at most 4 of 8 GPUs at once, and more if parts are longer than 16 MiB. The time
// is never below the bound, and many bytes go at the rate of the link.
func TestTransfers(t *testing.T) {
	for _, tt := range []struct {
		collective, algorithm string
		size                  unit.Bytes
		steps                 int // transfers that follow one another
		each                  unit.Bytes
		channels              float64
	}{
		{"sendrecv", "ring_sendrecv", 4 * unit.KiB, 1, 4 * unit.KiB, 1},
		{"sendrecv", "ring_sendrecv", 64 * unit.KiB, 1, 64 * unit.KiB, 1},
		{"sendrecv", "ring_sendrecv", 128 * unit.KiB, 1, 128 * unit.KiB, 2},
		{"sendrecv", "ring_sendrecv", 4 * unit.MiB, 1, 4 * unit.MiB, 4},
		{"sendrecv", "ring_sendrecv", 72 * unit.MiB, 1, 72 * unit.MiB, 8},
		{"sendrecv", "ring_sendrecv", 136 * unit.MiB, 1, 136 * unit.MiB, 370.8 / 36.7}, // the link
		{"all_to_all", "pairwise_all_to_all", 512 * unit.KiB, 7, 64 * unit.KiB, 1},
		{"all_to_all", "pairwise_all_to_all", 2 * unit.MiB, 7, 256 * unit.KiB, 4},
		{"gather", "linear_gather", 64 * unit.KiB * 8, 1, 64 * unit.KiB, 1},
		{"scatter", "linear_scatter", 64 * unit.KiB * 8, 1, 64 * unit.KiB, 1},
	} {
		took := func(sets ...string) unit.Time {
			r, err := perf.Run(t.Context(), perf.Spec{
				Base: run.Spec{Topology: "dgx-h100", Sets: sets}, Collective: tt.collective, Min: tt.size, Max: tt.size, Factor: 2,
				Algorithms: []string{tt.algorithm}, Bound: true,
			}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			at := r.Rows[0].OutOfPlace
			if at.Err != nil {
				t.Fatal(at.Err)
			}
			least := 0.0
			if tt.algorithm == "ring_sendrecv" && tt.size >= 4*unit.MiB { // its bound has the rate of its channels
				least = 0.8
			}
			f := r.Rows[0].Fraction
			if f == nil {
				t.Fatalf("%s of %v: no bound", tt.algorithm, tt.size)
			}
			if *f > 1 || *f < least {
				t.Errorf("%s of %v: the bound is %v of the time", tt.algorithm, tt.size, *f)
			}
			return at.Time
		}
		const link, block = 370.8, 36.7 // GB/s
		slower := float64(tt.steps) * float64(tt.each) * (1/(tt.channels*block) - 1/link)
		with, without := took(), took("software.channels.p2p.count=0")
		if tt.algorithm == "linear_gather" || tt.algorithm == "linear_scatter" { // transfers that share a link
			if with <= without {
				t.Errorf("%s: %v with channels, %v without", tt.algorithm, with, without)
			}
			continue
		}
		if got := (with - without).Ns(); got < 0.97*slower-20 || got > 1.03*slower+20 {
			t.Errorf("%s of %v takes %.0f ns longer through its channels, want %.0f", tt.algorithm, tt.size, got, slower)
		}
		if all := took("defaults.nchannels=32"); all != without {
			t.Errorf("%s of %v: %v through all channels, %v at the rate of the link", tt.algorithm, tt.size, all, without)
		}
	}
}
