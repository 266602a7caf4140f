package memory

import (
	"testing"

	"kernbench/conf"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/unit"
)

func TestPlaces(t *testing.T) {
	topo, err := conf.LoadTopology(nil, []string{"pe.tcm.capacity=8KiB", "pe.tcm.scratch=3KiB",
		"cube.sram.capacity=64KiB", "cube.hbm.capacity_per_pe=1MiB"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	const pe = 21 // of cube 2, with 8 PEs each
	tests := []struct {
		kind mem.Space
		unit int
		node machine.NodeID
		free unit.Bytes
	}{
		{mem.TCM, pe, m.TCM(pe), 5 << 10},
		{mem.HBM, pe, m.HBM(pe), 1 << 20},
		{mem.SRAM, 2, m.SRAM(2), 8 << 10},
	}
	for _, tt := range tests {
		if got := RingNode(m, pe, tt.kind); got != tt.node {
			t.Errorf("%v: rings at node %d, want %d", tt.kind, got, tt.node)
		}
		if got := Node(m, mem.At(tt.kind, tt.unit, 8)); got != tt.node {
			t.Errorf("%v: address at node %d, want %d", tt.kind, got, tt.node)
		}
		taken := unit.Bytes(0)
		if tt.kind == mem.TCM {
			taken = topo.PE().TCM.Scratch
		}
		if got := RingSpace(m, pe, tt.kind, taken); got != tt.free {
			t.Errorf("%v: space for %v, want %v", tt.kind, got, tt.free)
		}
		if got := RingSpace(m, pe, tt.kind, taken+1024); got != tt.free-1024 {
			t.Errorf("%v: space for %v beside 1 KiB, want %v", tt.kind, got, tt.free-1024)
		}
	}
	if got := RingSpace(m, pe, mem.TCM, 1<<20); got != 0 {
		t.Errorf("more scratch than TCM has space for %v", got)
	}
}
