package machine

import (
	"kernbench/conf"
	"kernbench/unit"
)

// specs are the kinds of link that a machine has.
type specs struct {
	noc, tile, hbm, tcm, sram, sramPort          *LinkSpec
	crossing, fromIO, fromHub, outer, fromSwitch *LinkSpec
}

// newSpecs sets the delays. A router's is paid on the link out of it to a next router: leaving the network at a PE's own
// router is free. Crossing from cube to cube pays both ports. An IO chiplet's is paid on every link out of it.
func newSpecs(t *conf.Topology, m *Machine) *specs {
	inner, outer := m.inSIP.channels(), uint8(1)
	if m.outside != nil {
		outer = m.outside.channels()
	}
	link := func(rate unit.Rate, router, wire unit.Time, channels uint8) *LinkSpec {
		return &LinkSpec{Serial: rate.Serial(), Rate: rate, Router: router, Wire: wire,
			Buffer: int64(t.Fabric.BufferBytes), Channels: channels}
	}
	port := func(rate unit.Rate, access unit.Time) *LinkSpec {
		p := link(rate, 0, access, 1)
		p.Port = true
		return p
	}
	noc, ucie, io, out := t.Cube.NoC, t.SIP.UCIe, t.SIP.IO, t.System.Link
	crossing := 2 * ucie.Port
	outerRate := min(out.BW, io.BW)
	return &specs{
		noc:        link(noc.BW, noc.Router, unit.Nanoseconds(noc.Pitch*noc.NsPerMM), m.final+1),
		tile:       link(t.PE.LinkBW, 0, 0, 1),
		sram:       link(t.Cube.SRAMBW, 0, 0, 1),
		hbm:        port(t.Cube.HBMBW, t.Cube.HBM.Access),
		tcm:        port(t.PE.TCM.BW, t.PE.TCM.Access),
		sramPort:   port(t.Cube.SRAMBW, t.Cube.SRAM.Access),
		crossing:   link(ucie.BW, 0, crossing, inner),
		fromIO:     link(ucie.BW, io.Overhead+io.PCIe, crossing, inner),
		fromHub:    link(ucie.BW, t.SIP.CubeMesh.Switch.Overhead, crossing, inner),
		outer:      link(outerRate, io.Overhead+io.PCIe, out.Latency, outer),
		fromSwitch: link(outerRate, t.System.Switch.Overhead, out.Latency, outer),
	}
}
