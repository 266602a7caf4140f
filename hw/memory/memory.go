// Package memory places the rings of a launch in the memories of a machine and checks that
// they fit.
//
// It may import machine, mem and unit. Start at RingNode.
package memory

import (
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/unit"
)

// Node returns the memory node of an address.
func Node(m *machine.Machine, a mem.Addr) machine.NodeID {
	switch a.Space() {
	case mem.TCM:
		return m.TCM(a.Unit())
	case mem.SRAM:
		return m.SRAM(a.Unit())
	}
	return m.HBM(a.Unit())
}

// RingNode returns the memory node in which the slots of a PE's rings lie.
func RingNode(m *machine.Machine, pe int, kind mem.Space) machine.NodeID {
	switch kind {
	case mem.HBM:
		return m.HBM(pe)
	case mem.SRAM:
		return m.SRAM(pe / m.PEsPerCube())
	}
	return m.TCM(pe)
}

// RingSpace returns the memory that a PE's rings may use, less the part in use. It is in the PE's
// HBM slice or TCM, or in its share of the cube's SRAM.
func RingSpace(m *machine.Machine, pe int, kind mem.Space, taken unit.Bytes) unit.Bytes {
	free := m.Capacity(RingNode(m, pe, kind))
	if kind == mem.SRAM {
		free /= unit.Bytes(m.PEsPerCube())
	}
	return max(0, free-taken)
}
