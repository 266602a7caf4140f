package pe

import (
	"testing"

	"kernbench/conf"
	"kernbench/unit"
)

func TestFromConfig(t *testing.T) {
	topo, err := conf.LoadTopology(nil, []string{
		"pe.issue_ns=3", "pe.ipcq.send_ns=0.5", "pe.ipcq.recv_ns=0.25", "pe.tcm.scratch=2KiB", "pe.tcm.bw_gbs=100",
		"pe.math.lanes=8", "pe.math.clock_ghz=2", "pe.math.setup_ns=1", "pe.gemm.clock_ghz=0.5", "pe.gemm.mac_k=7",
		"pe.gemm.tile_n=9", "pe.dma.queue_depth=5", "pe.dma.setup_ns=6",
	})
	if err != nil {
		t.Fatal(err)
	}
	s := FromConfig(topo)
	const ns = unit.Nanosecond
	if s.Issue != 3*ns || s.Send != 500 || s.Recv != 250 || s.Scratch != 2<<10 || s.TCM.Time(100) != ns {
		t.Errorf("%+v", s)
	}
	if s.Math.Time(9) != 2*ns || s.GEMM.Clock != 2*ns || s.GEMM.K != 7 || s.GEMM.TileN != 9 || s.DMA.Depth != 5 || s.DMA.Setup != 6*ns {
		t.Errorf("%+v", s)
	}
}

// TestPeriod: a clock of whole picoseconds, and never of none.
func TestPeriod(t *testing.T) {
	for ghz, want := range map[float64]unit.Time{1: 1000, 3: 333, 1.5: 667, 1000: 1, 5000: 1} {
		if got := period(ghz); got != want {
			t.Errorf("%v GHz: %d ps, want %d", ghz, got, want)
		}
	}
}
