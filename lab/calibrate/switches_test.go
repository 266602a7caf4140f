package calibrate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"kernbench/internal/exhaustive"
	"kernbench/lab/calibrate"
	"kernbench/lab/run"
	"kernbench/unit"
)

// TestSwitchPoints: on NVIDIA's machines the fastest program changes where NCCL's model changes it,
// within a factor of 2 in size. What is off is listed with the reason, and the list must hold.
func TestSwitchPoints(t *testing.T) {
	const (
		gather = "nvls_allgather is faster than LL from 4 MiB on"
		slow   = "through one to four channels LL is slower than NVLS from 32 to 128 KiB"
	)
	for _, test := range []struct {
		topology, collective string
		ranks                int
		sets                 []string
		off                  map[string]string // programs, with the reason
		twice                map[string]string // that are run in two ranges of sizes
		largest              unit.Bytes        // that is simulated by default: a larger one shows the same
	}{
		{"dgx-a100", "all_reduce", 8, nil, nil, nil, 8 * unit.MiB},
		{"dgx-h100", "all_reduce", 8, nil, nil, map[string]string{"ring ll": slow, "nvls simple": slow}, 8 * unit.MiB},
		{"dgx-h200", "all_reduce", 8, nil, nil, map[string]string{"ring ll": slow, "nvls simple": slow}, 8 * unit.MiB},
		{"dgx-b200", "all_reduce", 8, nil, nil, nil, 8 * unit.MiB},
		{"dgx-b200", "all_gather", 8, nil, map[string]string{"ring simple": gather}, nil, 32 * unit.MiB},
		{"dgx-b200", "all_reduce", 16, []string{"system.nodes.count=2"}, nil, nil, 32 * unit.MiB},
	} {
		if exhaustive.On() {
			test.largest = 64 * unit.MiB
		}
		t.Run(fmt.Sprintf("%s %s %d", test.topology, test.collective, test.ranks), func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			fmt.Fprintf(&text, "# ranks: %d\n# collective: %s\nsize_bytes\ttime_us\n", test.ranks, test.collective)
			for size := 4096; size <= 128<<20; size *= 2 {
				fmt.Fprintf(&text, "%d\t10\n", size) // times are not looked at
			}
			s, err := calibrate.RunScore(context.Background(), calibrate.ScoreSpec{
				Base: run.Spec{Topology: test.topology, Sets: test.sets}, Files: []string{write(t, text.String())},
				Largest: test.largest,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Tables[0].Switches {
				t.Logf("%s %s: ours %v, NCCL's %v, before %v", p.Algorithm, p.Protocol, p.From, p.NCCL, p.Before)
				if p.NCCL == nil {
					continue // NCCL has the program nowhere here
				}
				near := false
				from := []unit.Bytes{}
				if p.From != nil {
					from = append(from, *p.From)
				}
				for _, r := range p.Before {
					from = append(from, r.From)
				}
				for _, size := range from {
					near = near || size <= 2**p.NCCL && *p.NCCL <= 2*size
				}
				if why := test.twice[p.Algorithm+" "+p.Protocol]; (why != "") != (len(from) > 1) {
					t.Errorf("%s %s: from %v on, and the list says %q", p.Algorithm, p.Protocol, from, why)
				}
				switch why, known := test.off[p.Algorithm+" "+p.Protocol]; {
				case near && known:
					t.Errorf("%s %s is from %v on, NCCL's from %v: it is no longer off because %s",
						p.Algorithm, p.Protocol, from, *p.NCCL, why)
				case !near && !known:
					t.Errorf("%s %s: %+v, NCCL's from %v", p.Algorithm, p.Protocol, p, *p.NCCL)
				}
			}
			if len(s.Tables[0].Switches) < 2 {
				t.Errorf("%+v", s.Tables[0].Switches)
			}
		})
	}
}

// TestPublishedSwitchPoint: on 8 GPUs of Hopper NCCL runs a ring with LL up to 1 MiB, and NVLS with
// Simple from 2 MiB on. A user read that from NCCL's log (NVIDIA/nccl-tests#309).
func TestPublishedSwitchPoint(t *testing.T) {
	s, err := calibrate.RunScore(context.Background(), calibrate.ScoreSpec{
		Base: run.Spec{Topology: "dgx-h100"}, Largest: 16 * unit.MiB,
		Files: []string{write(t, "# ranks: 8\n# collective: all_reduce\nsize_bytes\ttime_us\n"+
			"8\t1\n1024\t1\n1048576\t1\n4194304\t1\n16777216\t1\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"ring_allreduce_chunked ll", "ring_allreduce_chunked ll", "ring_allreduce_chunked ll",
		"nvls_allreduce simple", "nvls_allreduce simple"} {
		if r := s.Tables[0].Rows[i]; r.Algorithm+" "+r.Protocol != want {
			t.Errorf("%v: %s %s, want %s", r.Size, r.Algorithm, r.Protocol, want)
		}
	}
}
