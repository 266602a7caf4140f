package machine

import (
	"kernbench/conf"
	"kernbench/unit"
)

// maxSIPs bounds what levels may multiply to.
const maxSIPs = 1 << 20

// checkValues refuses what conf cannot know to be impossible, and all that would make Build itself fail.
func checkValues(t *conf.Topology) error {
	var errs conf.Errors
	refuse := func(key, format string, args ...any) { errs = append(errs, t.Errorf(key, format, args...)) }
	for _, r := range []struct {
		key  string
		rate unit.Rate
	}{
		{"cube.noc.link_bw_gbs", t.Cube.NoC.BW},
		{"cube.hbm_to_router_bw_gbs", t.Cube.HBMBW},
		{"cube.sram_to_router_bw_gbs", t.Cube.SRAMBW},
		{"pe.link_bw_gbs", t.PE.LinkBW},
		{"pe.tcm.bw_gbs", t.PE.TCM.BW},
		{"sip.ucie.bw_gbs", t.SIP.UCIe.BW},
		{"sip.io.bw_gbs", t.SIP.IO.BW},
	} {
		if r.rate <= 0 {
			refuse(r.key, "a bandwidth must be above 0")
		}
	}
	for _, d := range []struct {
		key  string
		time unit.Time
	}{
		{"cube.noc.router_ns", t.Cube.NoC.Router},
		{"cube.hbm.access_ns", t.Cube.HBM.Access},
		{"cube.sram.access_ns", t.Cube.SRAM.Access},
		{"pe.tcm.access_ns", t.PE.TCM.Access},
		{"sip.ucie.port_ns", t.SIP.UCIe.Port},
		{"sip.io.overhead_ns", t.SIP.IO.Overhead},
		{"sip.io.pcie_ep_ns", t.SIP.IO.PCIe},
		{"sip.cube_mesh.switch.overhead_ns", t.SIP.CubeMesh.Switch.Overhead},
	} {
		if d.time < 0 || d.time > unit.Second {
			refuse(d.key, "a delay of %v is not between 0 and 1 s", d.time)
		}
	}
	checkLevels(t, refuse)
	if d := t.Cube.NoC.Pitch * t.Cube.NoC.NsPerMM; !(d >= 0 && d <= 1e9) {
		refuse("cube.noc.pitch_mm", "a wire delay of pitch_mm × ns_per_mm = %g ns is not between 0 and 1 s", d)
	}
	for _, n := range []struct {
		key   string
		value int
		max   int
	}{
		{"system.sips.count", t.System.SIPs.Count, maxSIPs},
		{"sip.cube_mesh.w", t.SIP.CubeMesh.W, 1 << 10},
		{"sip.cube_mesh.h", t.SIP.CubeMesh.H, 1 << 10},
		{"sip.ucie.connections", t.SIP.UCIe.Connections, 256},
		{"cube.noc.w", t.Cube.NoC.W, 64},
		{"cube.noc.h", t.Cube.NoC.H, 64},
		{"cube.pe_layout.pe_per_corner", t.Cube.PELayout.PEPerCorner, 64},
		{"cube.pe_layout.corners", len(t.Cube.PELayout.Corners), 4},
	} {
		if n.value < 1 || n.value > n.max {
			refuse(n.key, "%d is not between 1 and %d", n.value, n.max)
		}
	}
	for _, c := range t.Cube.PELayout.Corners {
		if len(c) != 2 || c[0] != 'N' && c[0] != 'S' || c[1] != 'W' && c[1] != 'E' {
			refuse("cube.pe_layout.corners", "%q is no corner: NW, NE, SW or SE", c)
		}
	}
	if list := t.SIP.UCIe.ConnectionOfPE; len(list) > 0 {
		if len(list) != t.PEsPerCube() {
			refuse("sip.ucie.connection_of_pe", "it has %d entries for the %d PEs of a cube", len(list), t.PEsPerCube())
		}
		for pe, c := range list {
			if c < 0 || c >= t.SIP.UCIe.Connections {
				refuse("sip.ucie.connection_of_pe", "PE %d has connection %d; the connections are 0 to %d", pe, c, t.SIP.UCIe.Connections-1)
			}
		}
	}
	f := t.Fabric
	if f.MessageBytes < 1 {
		refuse("fabric.message_bytes", "a message needs a byte")
	}
	if most := max(f.MessageBytes, f.RequestBytes); f.BufferBytes < most {
		refuse("fabric.buffer_bytes", "an input buffer of %v cannot hold a message of %v", f.BufferBytes, most)
	}
	if len(errs) > 0 {
		return errs
	}
	if cubes := t.System.SIPs.Count * t.CubesPerSIP(); cubes > maxLinks/newLayout(&t.Cube, 1).links {
		return t.Errorf("system.sips.count", "%d cubes have more than %d links", cubes, maxLinks)
	}
	return nil
}

// checkLevels refuses levels that cannot be built.
func checkLevels(t *conf.Topology, refuse func(key, format string, args ...any)) {
	sips := 1
	between := t.System.Between()
	for i := range between {
		l := &between[i]
		key := func(k string) string { return t.LevelKey(i, k) }
		if l.Link.BW <= 0 {
			refuse(key("link.bw_gbs"), "a bandwidth must be above 0")
		}
		for _, d := range []struct {
			key  string
			time unit.Time
		}{
			{"link.latency_ns", l.Link.Latency},
			{"switch.overhead_ns", l.Switch.Overhead},
			{"gateway.overhead_ns", l.Gateway.Overhead},
		} {
			if d.time < 0 || d.time > unit.Second {
				refuse(key(d.key), "a delay of %v is not between 0 and 1 s", d.time)
			}
		}
		grid := 1
		for _, d := range l.Dims {
			grid *= min(max(d, 0), maxSIPs)
			grid = min(grid, maxSIPs+1)
		}
		wantsGrid := conf.FindNetwork(l.Network).Dims
		switch n, short := l.Members(), len(t.System.Levels) == 0; {
		case short && wantsGrid && grid != n:
			refuse(key("dims"), "a grid of %d × %d SIPs has not %d SIPs", l.Dims[0], l.Dims[1], n)
		case short:
		case n < 1 || n > maxSIPs:
			refuse(key("count"), "%d is not between 1 and %d", n, maxSIPs)
		case wantsGrid && (grid != n || len(l.Dims) == 0):
			refuse(key("dims"), "dims of %v have not %d members", l.Dims, n)
		case i == 0 && l.ByGroup():
			refuse(key("join"), "there is no group below the innermost level")
		}
		sips = min(sips*max(l.Members(), 1), maxSIPs+1)
	}
	if len(t.System.Levels) > 0 && sips != t.System.SIPs.Count {
		refuse("system.sips.count", "it is %d; the levels make %d", t.System.SIPs.Count, sips)
	}
}
