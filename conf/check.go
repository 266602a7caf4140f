package conf

import (
	"fmt"
	"strings"
)

// maxPEs and maxSIPs bound the machine; the design point is 100,000 PEs.
const (
	maxPEs  = 1 << 22
	maxSIPs = 1 << 20
)

// check compares the keys of a topology with each other.
func (t *Topology) check(l *ledger) {
	t.checkLevels(l)
	t.checkSIPs(l)
	t.addNodes(l)
	t.checkConnections(l)
	t.checkRings(l)
	t.checkStarts(l)
	l.checkTables("choices", t.values.Choices)
	layout := &t.values.Cube.PELayout
	if len(layout.Corners) == 0 {
		l.disagree([]string{"cube.pe_layout.corners"}, "found an empty list, want at least one corner")
	}
	sizes := []string{"system.sips.count", "sip.cube_mesh.w", "sip.cube_mesh.h", "cube.pe_layout.pe_per_corner", "cube.pe_layout.corners"}
	if n := t.NumPEs(); n > maxPEs {
		l.disagree(sizes, "makes a machine of %d PEs (%d SIPs × %d cubes × %d), want at most %d",
			n, t.values.System.SIPs.Count, t.CubesPerSIP(), t.PEsPerCube(), maxPEs)
	}
	if t.values.PE.TCM.Scratch > t.values.PE.TCM.Capacity {
		l.disagree([]string{"pe.tcm.scratch", "pe.tcm.capacity"}, "the scratch of %v is larger than the TCM of %v%s",
			t.values.PE.TCM.Scratch, t.values.PE.TCM.Capacity, l.both("pe.tcm.scratch", "pe.tcm.capacity"))
	}
	f := &t.values.Fabric
	if f.BufferBytes < f.MessageBytes {
		l.disagree([]string{"fabric.buffer_bytes", "fabric.message_bytes"},
			"a buffer of %v cannot hold a message of %v; buffer_bytes must be at least message_bytes%s",
			f.BufferBytes, f.MessageBytes, l.both("fabric.buffer_bytes", "fabric.message_bytes"))
	}
	if f.FlitBytes > f.MessageBytes {
		l.disagree([]string{"fabric.flit_bytes", "fabric.message_bytes"}, "a flit of %v is larger than a message of %v%s",
			f.FlitBytes, f.MessageBytes, l.both("fabric.flit_bytes", "fabric.message_bytes"))
	}
	if f.RequestBytes > f.BufferBytes {
		l.disagree([]string{"fabric.request_bytes", "fabric.buffer_bytes"}, "a buffer of %v cannot hold a request of %v%s",
			f.BufferBytes, f.RequestBytes, l.both("fabric.buffer_bytes", "fabric.request_bytes"))
	}
}

// checkSIPs compares the number of SIPs with their grid and the number of cubes.
func (t *Topology) checkSIPs(l *ledger) {
	s := &t.values.System.SIPs
	grid := []string{"system.sips.count", "system.sips.w", "system.sips.h"}
	switch {
	case (s.W == 0) != (s.H == 0) && s.Count%max(s.W, s.H) != 0:
		l.disagree(grid, "a side of the SIP grid is %d, which does not divide the number of SIPs %d%s",
			max(s.W, s.H), s.Count, l.both(grid...))
	case s.W > 0 && s.H > 0 && s.W*s.H != s.Count:
		l.disagree(grid, "the SIP grid is %d × %d = %d, the number of SIPs %d; they must agree%s",
			s.W, s.H, s.W*s.H, s.Count, l.both(grid...))
	}
	if w, h := s.Grid(); len(t.values.System.Levels) == 0 && s.W == 0 && s.H == 0 && h == 1 && w > 1 && s.network().Dims {
		l.disagree([]string{"system.sips.count", "system.sips.topology"},
			"%d SIPs make no square for %s; give system.sips.w and system.sips.h", s.Count, s.Topology)
	}
	if cubes := t.CubesPerSIP(); s.CubesPerSIP > 0 && s.CubesPerSIP != cubes {
		keys := []string{"system.sips.cubes_per_sip", "sip.cube_mesh.w", "sip.cube_mesh.h"}
		l.disagree(keys, "cubes_per_sip is %d, but the cube mesh is %d × %d = %d; leave cubes_per_sip out, or make them agree%s",
			s.CubesPerSIP, t.values.SIP.CubeMesh.W, t.values.SIP.CubeMesh.H, cubes, l.both(keys...))
	}
}

// checkConnections compares the list of connections with the cube. The default list describes the
// default cube. If a file changes the cube and not the list, the list is dropped.
func (t *Topology) checkConnections(l *ledger) {
	const key = "sip.ucie.connection_of_pe"
	u := &t.values.SIP.UCIe
	pes := t.PEsPerCube()
	fits := len(u.ConnectionOfPE) == pes
	for _, c := range u.ConnectionOfPE {
		fits = fits && c < u.Connections
	}
	switch {
	case fits || len(u.ConnectionOfPE) == 0:
		return
	case l.untouched(key):
		u.ConnectionOfPE = nil
		return
	}
	if len(u.ConnectionOfPE) != pes {
		keys := []string{key, "cube.pe_layout.pe_per_corner", "cube.pe_layout.corners"}
		l.disagree(keys, "connection_of_pe has %d elements, a cube %d PEs, want one for each%s",
			len(u.ConnectionOfPE), pes, l.both(keys...))
	}
	for i, c := range u.ConnectionOfPE {
		if c >= u.Connections {
			keys := []string{fmt.Sprintf("%s.%d", key, i), "sip.ucie.connections"}
			l.disagree(keys, "PE %d has connection %d; with %d connections, 0 to %d exist%s",
				i, c, u.Connections, u.Connections-1, l.both(keys...))
		}
	}
}

// untouched reports whether no source after the defaults set key or an element of it.
func (l *ledger) untouched(key string) bool {
	for path, at := range l.places {
		if (path == key || strings.HasPrefix(path, key+".")) && !at.text.builtin {
			return false
		}
	}
	return true
}

// both names the places of all keys but the last one, which the error already names. Keys without a
// place are left out.
func (l *ledger) both(keys ...string) string {
	_, last := l.places.latest(keys...)
	var others []string
	for _, key := range keys {
		if at, ok := l.places[key]; ok && at.order != last.order {
			others = append(others, fmt.Sprintf("%s at %v", key, at))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return " (" + strings.Join(others, ", ") + ")"
}

// check compares the keys of each algorithm with each other.
func (c *CCL) check(l *ledger) {
	for _, name := range c.Names() {
		if l.full() {
			return
		}
		c.checkGrid(l, join("algorithms", name), c.Merge(name))
	}
}

// checkGrid compares w and h with the world size. A missing side follows from the other.
func (c *CCL) checkGrid(l *ledger, path string, r Resolved) {
	w, h := join(path, "w"), join(path, "h")
	world := join(path, "world_size")
	if _, own := l.places[world]; !own {
		world = "defaults.world_size"
	}
	switch side := max(r.W, r.H); {
	case side == 0 || r.WorldSize == 0:
	case (r.W == 0 || r.H == 0) && r.WorldSize%side != 0:
		keys := []string{w, h, world}
		l.disagree(keys, "a side of the grid is %d, which does not divide the world size %d%s", side, r.WorldSize, l.both(keys...))
	case r.W > 0 && r.H > 0 && r.W*r.H != r.WorldSize:
		keys := []string{w, h, world}
		l.disagree(keys, "the grid is %d × %d = %d, the world size %d; they must agree%s",
			r.W, r.H, r.W*r.H, r.WorldSize, l.both(keys...))
	}
}
