package machine

import (
	"kernbench/conf"
	"kernbench/unit"
)

// specs are the kinds of link that a machine has.
type specs struct {
	noc, tile, hbm, tcm, sram, sramPort *LinkSpec
	crossing, fromIO, fromHub           *LinkSpec
}

// newSpecs sets the delays. The delay of a router counts on each link from it to another router, so
// the last hop to a PE has none. A link from cube to cube has the delay of both ports. The delay of
// an IO chiplet counts on every link out of it.
func newSpecs(t *conf.Topology, m *Machine) *specs {
	inner := m.inSIP.channels()
	link := func(rate unit.Rate, router, wire unit.Time, channels uint8) *LinkSpec {
		return &LinkSpec{Serial: rate.Serial(), Rate: rate, Router: router, Wire: wire,
			Buffer: int64(t.Fabric().BufferBytes), Channels: channels}
	}
	port := func(rate unit.Rate, access unit.Time) *LinkSpec {
		p := link(rate, 0, access, 1)
		p.Port = true
		return p
	}
	noc, ucie, io := t.Cube().NoC, t.SIP().UCIe, t.SIP().IO
	crossing := 2 * ucie.Port
	return &specs{
		noc:      link(noc.BW, noc.Router, unit.Nanoseconds(noc.Pitch*noc.NsPerMM), m.final+1),
		tile:     link(t.PE().LinkBW, 0, 0, 1),
		sram:     link(t.Cube().SRAMBW, 0, 0, 1),
		hbm:      port(t.Cube().HBMBW, t.Cube().HBM.Access),
		tcm:      port(t.PE().TCM.BW, t.PE().TCM.Access),
		sramPort: port(t.Cube().SRAMBW, t.Cube().SRAM.Access),
		crossing: link(ucie.BW, 0, crossing, inner),
		fromIO:   link(ucie.BW, io.Overhead+io.PCIe, crossing, inner),
		fromHub:  link(ucie.BW, t.SIP().CubeMesh.Switch.Overhead, crossing, inner),
	}
}

// levelSpecs are the kinds of link of a level.
type levelSpecs struct {
	at                                       *level
	fromMember, fromGateway, inner, toMember *LinkSpec // inner is between hubs or from one to the gateway
}

// newLevelSpecs sets the delays of a level. A link has the delay of where it begins: the IO
// chiplet of a SIP, a gateway or a switch. The rate of a link at a SIP is at most that of its IO
// chiplet.
func newLevelSpecs(t *conf.Topology, l *levels, i int) *levelSpecs {
	between := t.System().Between()
	c, at, io := &between[i], &l.at[i], t.SIP().IO
	link := func(rate unit.Rate, router unit.Time) *LinkSpec {
		return &LinkSpec{Serial: rate.Serial(), Rate: rate, Router: router, Wire: c.Link.Latency,
			Buffer: int64(t.Fabric().BufferBytes), Channels: at.net.channels()}
	}
	s := &levelSpecs{at: at}
	member, end := io.Overhead+io.PCIe, min(c.Link.BW, io.BW)
	if at.group {
		member, end = c.Gateway.Overhead, c.Link.BW
	}
	s.fromMember, s.toMember = link(end, member), link(end, c.Switch.Overhead)
	s.inner = link(c.Link.BW, c.Switch.Overhead)
	if at.gateway {
		if at.net.hubs() > 0 { // the links of the gateway lead to hubs
			end = c.Link.BW
		}
		s.fromGateway = link(end, between[i+1].Gateway.Overhead)
	}
	return s
}

// of returns the kind of link for an edge of a level's network.
func (s *levelSpecs) of(e edge) *LinkSpec {
	n := int32(s.at.n)
	switch {
	case e.from < n:
		return s.fromMember
	case e.from == n && s.at.gateway:
		return s.fromGateway
	case e.to < n:
		return s.toMember
	}
	return s.inner
}
