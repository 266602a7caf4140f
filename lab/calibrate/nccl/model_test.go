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
	b200 := nccl.System{Generation: nccl.Blackwell, Ranks: 16, Nodes: 2, NVLink: 721.8, Network: 388, NVLS: true}
	epyc := nccl.System{Generation: nccl.Ampere, Ranks: 16, Nodes: 2, NVLink: 240, Network: 194, AMD: true}
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
				Time: unit.Nanoseconds(25000 + float64(unit.GiB)/(2*360*0.85*7/8*8/14))}},
		{"tree of LL over a network", b200, "all_reduce", 64 << 10,
			nccl.Estimate{Algorithm: "tree", Protocol: "ll", Time: unit.Nanoseconds(6800 + 14*600 + 2*5000 + (64<<10)/(39*0.6/2))}},
		{"ring of LL over a network", b200, "all_gather", 64 << 10, // posts take 1 us, hops over NVLink 0.6
			nccl.Estimate{Algorithm: "ring", Protocol: "ll", Time: unit.Nanoseconds(6600 + 14*1000 + 2700 + (64<<10)/(39.*16/15))}},
		{"hosts with CPUs of AMD", epyc, "all_gather", 64 << 10,
			nccl.Estimate{Algorithm: "ring", Protocol: "ll", Time: unit.Nanoseconds(6600 + 14*2000 + 2700 + (64<<10)/(22.5*16/15))}},
		{"switches and a tree", b200, "all_reduce", 64 * unit.MiB, // 0.8 of the rate at this size
			nccl.Estimate{Algorithm: "nvls_tree", Protocol: "simple",
				Time: unit.Nanoseconds(25000 + 2*20900 + float64(64*unit.MiB)/(2*384*0.74*7/8*0.8*16/30))}},
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
