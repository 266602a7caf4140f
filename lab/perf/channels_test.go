package perf_test

import (
	"context"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// TestChannels: a ring of 8 ranks takes 14 steps. Few channels add time to a chunk in each of them.
// 64 KiB use two channels of 32 KiB.
func TestChannels(t *testing.T) {
	r, err := perf.Run(context.Background(), perf.Spec{
		Base:       run.Spec{Topology: "dgx-a100", Sets: []string{"defaults.protocol=ll"}},
		Collective: "all_reduce", Min: 64 * unit.KiB, Max: 64 * unit.KiB, Factor: 2, Algorithms: []string{"ring_allreduce_chunked"},
		Vary: []sweep.Variation{{Key: "nchannels", Values: []string{"24", "12", "2", "1", "0"}}},
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const one = 3.654 // GB/s, of the preset
	times := map[string]unit.Time{}
	for _, row := range r.Rows {
		times[row.Settings[0].Value] = row.OutOfPlace.Time
	}
	chunk := 8192. / one // ns
	for n, slower := range map[string]float64{"12": 1./12 - 1./24, "2": 1./2 - 1./24, "1": 1 - 1./24} {
		want := times["24"] + unit.Nanoseconds(14*chunk*slower)
		if got := times[n]; got < want-20 || got > want+20 {
			t.Errorf("%s channels take %v, want %v", n, got, want)
		}
	}
	if times["0"] != times["2"] {
		t.Errorf("by size %v, with two channels %v", times["0"], times["2"])
	}
}

// TestChannelsInStep: channels share a link evenly, so a chunk goes as one piece. Each of the 14
// steps waits for the latency of a hop. Without channels pieces hide it.
func TestChannelsInStep(t *testing.T) {
	took := func(sets ...string) unit.Time {
		r, err := perf.Run(context.Background(), perf.Spec{
			Base:       run.Spec{Topology: "dgx-a100", Sets: sets},
			Collective: "all_reduce", Min: 16 * unit.MiB, Max: 16 * unit.MiB, Factor: 2, Algorithms: []string{"ring_allreduce_chunked"},
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Rows[0].OutOfPlace.Time
	}
	const bytes = 14 * 2 << 20 / 240. // ns on the link
	for name, test := range map[string]struct {
		sets        []string
		least, most float64
	}{
		"in step": {nil, 8400 + bytes + 14*3400, 8400 + bytes + 14*3400 + 8000},
		"pieces":  {[]string{"software.channels.count=0"}, 8400 + bytes, 8400 + bytes + 8000},
	} {
		if got := took(test.sets...).Ns(); got < test.least || got > test.most {
			t.Errorf("%s: %.0f ns, want %.0f to %.0f", name, got, test.least, test.most)
		}
	}
}

// TestChannelsAreRight: chunks that move in lockstep have right results, also at the sizes where
// they become too long for it.
func TestChannelsAreRight(t *testing.T) {
	for what, algorithm := range map[string]string{
		"all_reduce": "ring_allreduce_chunked", "all_gather": "ring_allgather", "reduce_scatter": "ring_reduce_scatter",
	} {
		for _, ranks := range []int{2, 3, 8} {
			r, err := perf.Run(context.Background(), perf.Spec{
				Base: run.Spec{Topology: "dgx-a100", Ranks: ranks,
					Sets: []string{"pe.tcm.scratch=256KiB", "defaults.slot_size=32KiB"}},
				Collective: what, Min: 50_000, Max: 1_250_000, Factor: 5, Algorithms: []string{algorithm}, Check: true, Memory: unit.GiB,
			}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows {
				if at := row.OutOfPlace; at.Err != nil || at.Wrong == nil || *at.Wrong != 0 {
					t.Errorf("%s of %d ranks, %v: %+v", algorithm, ranks, row.Size, at)
				}
			}
		}
	}
}
