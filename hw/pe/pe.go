// Package pe is the model of a processing element: a CPU that issues a kernel's
// instructions in order on a clock of its own, and the engines that work beside it.
//
// It imports conf and the engines below hw. Start at Spec and PE.
package pe

import (
	"kernbench/conf"
	"kernbench/hw"
	"kernbench/hw/dma"
	"kernbench/hw/gemm"
	"kernbench/hw/vector"
	"kernbench/unit"
)

// Spec describes the PEs of a machine, which are all alike.
type Spec struct {
	Issue   unit.Time // of one instruction
	Send    unit.Time // of a send, beside issue and DMA
	Recv    unit.Time // of a receive, once the token is there
	Scratch unit.Bytes
	TCM     unit.Serial // reading or writing TCM
	Math    vector.Spec
	GEMM    gemm.Spec
	DMA     dma.Spec
}

// FromConfig takes a PE's description out of the topology.
func FromConfig(t *conf.Topology) Spec {
	p := &t.PE
	return Spec{
		Issue: p.Issue, Send: p.IPCQ.Send, Recv: p.IPCQ.Recv, Scratch: p.TCM.Scratch, TCM: p.TCM.BW.Serial(),
		Math: vector.Spec{Lanes: p.Math.Lanes, Clock: period(p.Math.ClockGHz), Setup: p.Math.Setup},
		GEMM: gemm.Spec{
			M: p.GEMM.MACM, K: p.GEMM.MACK, N: p.GEMM.MACN,
			TileM: p.GEMM.TileM, TileK: p.GEMM.TileK, TileN: p.GEMM.TileN,
			Clock: period(p.GEMM.ClockGHz), Setup: p.GEMM.Setup,
		},
		DMA: dma.Spec{Depth: p.DMA.Queue, Setup: p.DMA.Setup},
	}
}

// period is the length of a clock, in whole ps and at least one.
func period(ghz float64) unit.Time { return max(1, unit.Nanoseconds(1/ghz)) }

// PE is the state of a processing element. Clock is the time that its CPU has reached: it
// may run ahead of everybody else's as long as nobody can see it.
type PE struct {
	Clock unit.Time
	Math  hw.Server
	GEMM  hw.Server
	DMA   dma.Engine
	Last  unit.Time // when the last of its own transfers, and of its arithmetic, was complete
}
