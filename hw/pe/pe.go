// Package pe is the model of a processing element. It has a CPU that issues a kernel's instructions
// in order on a clock of its own. Its engines work in parallel with the CPU. A new engine is a
// folder next to this one and a line in assemble.
//
// It may import conf, tl, unit, hw and the engines below hw. Start at Spec and PE.
package pe

import (
	"kernbench/conf"
	"kernbench/hw"
	"kernbench/hw/dma"
	"kernbench/hw/gemm"
	"kernbench/hw/vector"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec describes the PEs of a machine, which are all alike.
type Spec struct {
	Issue   unit.Time // of one instruction
	Send    unit.Time // of a send, in addition to issue and DMA
	Recv    unit.Time // of a receive, once the token is there
	Scratch unit.Bytes
	TCM     unit.Serial // reading or writing TCM
	Math    vector.Spec
	GEMM    gemm.Spec
	DMA     dma.Spec
	Units   []hw.Unit // units that compute: an instruction goes to the first one that accepts it
}

// The units that every PE has, by their numbers in Spec.Units. Other units come after them.
const (
	Math = iota
	GEMM
)

// MostUnits is the most units that a PE has.
const MostUnits = 4

// assemble gives a PE its units, one line each.
func (s *Spec) assemble() {
	s.Units = []hw.Unit{
		Math: &s.Math,
		GEMM: &s.GEMM,
	}
}

// Unit returns the number of the unit that an instruction goes to, and how long it works. It
// panics if there is none: the kernel API has refused such an instruction.
func (s *Spec) Unit(in *tl.Instr) (n int, d unit.Time) {
	for i, u := range s.Units {
		if d, ok := u.Takes(in); ok {
			return i, d
		}
	}
	panic("pe: no unit takes " + in.Op.String())
}

// FromConfig takes a PE's description out of the topology.
func FromConfig(t *conf.Topology) *Spec {
	p := t.PE()
	s := &Spec{
		Issue: p.Issue, Send: p.IPCQ.Send, Recv: p.IPCQ.Recv, Scratch: p.TCM.Scratch, TCM: p.TCM.BW.Serial(),
		Math: vector.Spec{Lanes: p.Math.Lanes, Clock: period(p.Math.ClockGHz), Setup: p.Math.Setup},
		GEMM: gemm.Spec{
			M: p.GEMM.MACM, K: p.GEMM.MACK, N: p.GEMM.MACN,
			TileM: p.GEMM.TileM, TileK: p.GEMM.TileK, TileN: p.GEMM.TileN,
			Clock: period(p.GEMM.ClockGHz), Setup: p.GEMM.Setup,
		},
		DMA: dma.Spec{Depth: p.DMA.Queue, Setup: p.DMA.Setup},
	}
	s.assemble()
	return s
}

// period returns the length of a clock, in whole ps and at least one.
func period(ghz float64) unit.Time { return max(1, unit.Nanoseconds(1/ghz)) }

// PE is the state of a processing element. Clock is the time that its CPU has reached: it
// may run ahead of all others' as long as no other PE can see it.
type PE struct {
	Clock unit.Time
	Units [MostUnits]hw.Server // by number in Spec.Units
	DMA   dma.Engine
	Last  unit.Time // when the last of its own transfers, and of its arithmetic, was complete
}

// Reset puts all of it at rest at a time.
func (p *PE) Reset(at unit.Time) {
	*p = PE{Clock: at}
	for i := range p.Units {
		p.Units[i].FreeAt = at
	}
}

// Spend lets the CPU work for so long.
func (p *PE) Spend(d unit.Time) { p.Clock += d }

// AdvanceTo lets the CPU wait until a time, if it has not reached it.
func (p *PE) AdvanceTo(t unit.Time) { p.Clock = max(p.Clock, t) }

// Completed notes that a transfer or arithmetic is complete at a time.
func (p *PE) Completed(at unit.Time) { p.Last = max(p.Last, at) }
