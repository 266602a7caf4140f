package nccl_test

import (
	"testing"

	"kernbench/lab/calibrate/nccl"
	"kernbench/unit"
)

// TestTime holds choices against sums by hand: base + hops + bytes / rate.
func TestTime(t *testing.T) {
	a100 := nccl.System{Generation: nccl.Ampere, Ranks: 8, Nodes: 1, NVLink: 240}
	h100 := nccl.System{Generation: nccl.Hopper, Ranks: 8, Nodes: 1, NVLink: 370.8, NVLS: true}
	for _, test := range []struct {
		name       string
		system     nccl.System
		collective string
		size       unit.Bytes
		want       nccl.Estimate
	}{
		{"ring of LL", a100, "all_reduce", 8,
			nccl.Estimate{Algorithm: "ring", Protocol: "ll", Time: unit.Nanoseconds(6600 + 14*600 + 8/(87.7*8/14))}},
		{"ring of Simple", a100, "all_reduce", unit.GiB,
			nccl.Estimate{Algorithm: "ring", Protocol: "simple", Time: unit.Nanoseconds(8400 + 14*3400 + float64(unit.GiB)/(240.*8/14))}},
		{"in the switch", h100, "all_reduce", unit.GiB,
			nccl.Estimate{Algorithm: "nvls", Protocol: "simple",
				Time: unit.Nanoseconds(25000 + float64(unit.GiB)/(2*360*0.85*15/16*8/14))}},
		{"all-gather", a100, "all_gather", 8192,
			nccl.Estimate{Algorithm: "ring", Protocol: "ll", Time: unit.Nanoseconds(6600 + 7*600 + 8192/(87.7*8/7))}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := test.system.Time(test.collective, test.size)
			if !ok || got != test.want {
				t.Errorf("%+v %v, want %+v", got, ok, test.want)
			}
		})
	}
}

// TestUnknown: what NCCL has no model for has no time.
func TestUnknown(t *testing.T) {
	known := nccl.System{Generation: nccl.Ampere, Ranks: 8, Nodes: 1, NVLink: 240}
	for name, change := range map[string]func(*nccl.System) string{
		"generation": func(s *nccl.System) string { s.Generation = "none"; return "all_reduce" },
		"one rank":   func(s *nccl.System) string { s.Ranks = 1; return "all_reduce" },
		"collective": func(*nccl.System) string { return "all_to_all" },
		"no links":   func(s *nccl.System) string { s.NVLink = 0; return "all_reduce" },
	} {
		s := known
		if c, ok := s.Time(change(&s), 1024); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
