package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/internal/exhaustive"
	"kernbench/unit"
)

func TestAllPairsOfTheDefaultMachine(t *testing.T) {
	m := mustBuild(t)
	ends := m.endpoints()
	var route []Hop
	for i, from := range ends {
		if !exhaustive.On() && i%4 > 0 {
			continue
		}
		for _, to := range ends {
			route = m.Route(route[:0], from, to)
			if err := m.checkRoute(from, to, route); err != nil {
				t.Fatalf("from %s to %s: %v", m.NodeName(from), m.NodeName(to), err)
			}
		}
	}
}

func TestRoutesOfRandomMachines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := func(name string, list ...string) string { return rapid.SampledFrom(list).Draw(t, name) }
		n := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(t, name) }
		sips := in("sips", "switch", "ring_1d", "torus_2d", "mesh_2d_no_wrap", "full")
		w, h := n("sip w", 1, 6), n("sip h", 1, 4)
		cubes := in("cubes", "mesh", "torus", "ring", "full", "switch")
		sets := shape(w*h, sips, w, h, n("cube w", 1, 7), n("cube h", 1, 7), cubes, n("noc", 2, 9), n("pe", 1, 6))
		corners := []string{"NW", "SE", "NE", "SW"}[:n("corners", 1, 4)]
		m, err := tryBuild(append(sets, fmt.Sprintf("cube.noc.h=%d", n("noc h", 2, 9)),
			"cube.pe_layout.corners=["+strings.Join(corners, ",")+"]",
			fmt.Sprintf("sip.ucie.connections=%d", n("connections", 1, 9)), "sip.ucie.connection_of_pe=[]"))
		if err != nil {
			t.Fatal(err)
		}
		ends := m.endpoints()
		for range 30 {
			from, to := ends[n("from", 0, len(ends)-1)], ends[n("to", 0, len(ends)-1)]
			route := m.Route(nil, from, to)
			if err := m.checkRoute(from, to, route); err != nil {
				t.Fatalf("from %s to %s: %v", m.NodeName(from), m.NodeName(to), err)
			}
			if again := m.Route([]Hop{{Link: 7}}, from, to); !slices.Equal(again[1:], route) || again[0].Link != 7 {
				t.Fatalf("appended to a slice the route is %v, else %v", again, route)
			}
		}
	})
}

// names prints a route, ports and all.
func names(m *Machine, route []Hop) string {
	var b strings.Builder
	for _, h := range route {
		b.WriteString(m.LinkName(h.Link))
		if h.Channel > 0 {
			fmt.Fprintf(&b, " on %d", h.Channel)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRoutesInFull(t *testing.T) {
	small := shape(2, "switch", 0, 0, 3, 2, "mesh", 3, 1)
	tests := []struct {
		name     string
		sets     []string
		from, to func(*Machine) NodeID
		want     string
	}{
		{"own slice", small,
			func(m *Machine) NodeID { return m.HBM(1) }, func(m *Machine) NodeID { return m.PE(1) },
			"sip0.cube0.pe1.hbm.port\n"},
		{"into the own slice", small,
			func(m *Machine) NodeID { return m.PE(1) }, func(m *Machine) NodeID { return m.HBM(1) },
			"sip0.cube0.pe1.hbm.port\n"},
		{"own TCM to own slice", small,
			func(m *Machine) NodeID { return m.TCM(1) }, func(m *Machine) NodeID { return m.HBM(1) },
			"sip0.cube0.pe1.tcm.read\nsip0.cube0.pe1.hbm.port\n"},
		{"nowhere", small,
			func(m *Machine) NodeID { return m.PE(1) }, func(m *Machine) NodeID { return m.PE(1) },
			""},
		{"within a cube, along the row first", small,
			func(m *Machine) NodeID { return m.TCM(0) }, func(m *Machine) NodeID { return m.TCM(3) }, `
sip0.cube0.pe0.tcm.read
sip0.cube0.pe0->sip0.cube0.r0c0
sip0.cube0.r0c0->sip0.cube0.r0c1 on 1
sip0.cube0.r0c1->sip0.cube0.r0c2 on 1
sip0.cube0.r0c2->sip0.cube0.r1c2 on 1
sip0.cube0.r1c2->sip0.cube0.r2c2 on 1
sip0.cube0.r2c2->sip0.cube0.pe3
sip0.cube0.pe3.tcm.write
`},
		{"the SRAM", small,
			func(m *Machine) NodeID { return m.SRAM(0) }, func(m *Machine) NodeID { return m.PE(0) }, `
sip0.cube0.sram.port
sip0.cube0.sram->sip0.cube0.r1c0
sip0.cube0.r1c0->sip0.cube0.r0c0 on 1
sip0.cube0.r0c0->sip0.cube0.pe0
`},
		{"along a row of cubes first, then along a column", small,
			func(m *Machine) NodeID { return m.PE(0) }, func(m *Machine) NodeID { return m.PE(4*4 + 1) }, `
sip0.cube0.pe0->sip0.cube0.r0c0
sip0.cube0.r0c0->sip0.cube0.r0c1
sip0.cube0.r0c1->sip0.cube0.r0c2
sip0.cube0.r0c2->sip0.cube0.r1c2
sip0.cube0.r1c2->sip0.cube1.r1c0#1
sip0.cube1.r1c0->sip0.cube1.r1c1
sip0.cube1.r1c1->sip0.cube1.r2c1
sip0.cube1.r2c1->sip0.cube4.r0c1#1
sip0.cube4.r0c1->sip0.cube4.r0c2 on 1
sip0.cube4.r0c2->sip0.cube4.pe1
`},
		{"to another SIP over the exit of each column", small,
			func(m *Machine) NodeID { return m.PE(4 * 4) }, func(m *Machine) NodeID { return m.PE(6*4 + 5*4) }, `
sip0.cube4.pe0->sip0.cube4.r0c0
sip0.cube4.r0c0->sip0.cube4.r0c1
sip0.cube4.r0c1->sip0.cube1.r2c1#0
sip0.cube1.r2c1->sip0.cube1.r1c1
sip0.cube1.r1c1->sip0.cube1.r0c1
sip0.cube1.r0c1->sip0.io#0
sip0.io->switch
switch->sip1.io
sip1.io->sip1.cube2.r0c1#0
sip1.cube2.r0c1->sip1.cube2.r1c1
sip1.cube2.r1c1->sip1.cube2.r2c1
sip1.cube2.r2c1->sip1.cube5.r0c1#0
sip1.cube5.r0c1->sip1.cube5.r0c0 on 1
sip1.cube5.r0c0->sip1.cube5.pe0
`},
		{"over the dateline of a ring", shape(5, "ring_1d", 0, 0, 1, 1, "mesh", 3, 1),
			func(m *Machine) NodeID { return m.PE(3 * 4) }, func(m *Machine) NodeID { return m.PE(0) }, `
sip3.cube0.pe0->sip3.cube0.r0c0
sip3.cube0.r0c0->sip3.cube0.r0c1
sip3.cube0.r0c1->sip3.io#0
sip3.io->sip4.io
sip4.io->sip0.io on 1
sip0.io->sip0.cube0.r0c1#0
sip0.cube0.r0c1->sip0.cube0.r0c0 on 1
sip0.cube0.r0c0->sip0.cube0.pe0
`},
		{"transit beyond the dateline of a torus of cubes", shape(1, "switch", 0, 0, 5, 1, "torus", 2, 1),
			func(m *Machine) NodeID { return m.PE(4 * 4) }, func(m *Machine) NodeID { return m.PE(4) }, `
sip0.cube4.pe0->sip0.cube4.r0c0
sip0.cube4.r0c0->sip0.cube4.r0c1
sip0.cube4.r0c1->sip0.cube0.r0c0#0 on 1
sip0.cube0.r0c0->sip0.cube0.r0c1 on 1
sip0.cube0.r0c1->sip0.cube1.r0c0#0 on 1
sip0.cube1.r0c0->sip0.cube1.pe0
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := mustBuild(t, test.sets...)
			got := names(m, m.Route(nil, test.from(m), test.to(m)))
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); diff != "" {
				t.Errorf("route (-want +got):\n%s", diff)
			}
		})
	}
}

// TestConnections: seven of eight flows to the next cube share a connection, in both directions of
// a read and for writes.
func TestConnections(t *testing.T) {
	m := mustBuild(t)
	used := func(route []Hop) string {
		for _, h := range route {
			if name := m.LinkName(h.Link); strings.Contains(name, "#") {
				return name
			}
		}
		return ""
	}
	for pe := range 8 {
		want := "#0"
		if pe == 7 {
			want = "#1"
		}
		for name, route := range map[string][]Hop{
			"request":                           m.RouteRequest(nil, m.PE(pe), m.HBM(8+pe)),
			"data":                              m.Route(nil, m.HBM(8+pe), m.PE(pe)),
			"write":                             m.Route(nil, m.TCM(0), m.TCM(8+pe)),
			"of what is read, not of who reads": m.Route(nil, m.HBM(8+pe), m.PE(0)),
			"to the SRAM":                       m.Route(nil, m.PE(pe), m.SRAM(1)),
			"token":                             m.Route(nil, m.PE(0), m.PE(8+pe)),
		} {
			if got := used(route); !strings.HasSuffix(got, want) {
				t.Errorf("PE %d, %s: over %q, want connection %s", pe, name, got, want)
			}
		}
	}
}

func TestRouteRequestStopsBeforeThePort(t *testing.T) {
	m := mustBuild(t)
	if r := m.RouteRequest(nil, m.PE(0), m.HBM(0)); len(r) != 0 {
		t.Errorf("to the own slice: %s", names(m, r))
	}
	full := m.Route(nil, m.PE(0), m.HBM(9))
	if r := m.RouteRequest(nil, m.PE(0), m.HBM(9)); !slices.Equal(r, full[:len(full)-1]) {
		t.Errorf("to the next cube: %s", names(m, r))
	}
}

func TestRouteFromARouterPanics(t *testing.T) {
	m := mustBuild(t)
	defer func() {
		if msg, _ := recover().(string); !strings.Contains(msg, "sip0.cube0.r0c0") {
			t.Errorf("the panic says %q", msg)
		}
	}()
	m.Route(nil, 0, m.PE(1))
}

func TestLatency(t *testing.T) {
	m := mustBuild(t)
	if head, slowest := m.Latency(nil); head != 0 || slowest != 0 {
		t.Errorf("of no hops: %v, %v", head, slowest)
	}
	head, slowest := m.Latency(m.Route(nil, m.PE(0), m.PE(8)))
	// 5 + 1 routers to the east side, one crossing, one router back up to the corner; 3.03 ns each,
	// 16 ns.
	if want := 7*unit.Nanoseconds(3.03) + 16*unit.Nanosecond; head != want || slowest != unit.GBs(128) {
		t.Errorf("to the next cube: %v, %v; want %v, 128 GB/s", head, slowest, want)
	}
}

func TestRouteDoesNotAllocate(t *testing.T) {
	m := mustBuild(t, "sip.cube_mesh.network=torus")
	buf := make([]Hop, 0, 256)
	pe := 0
	if n := testing.AllocsPerRun(1000, func() {
		buf = m.Route(buf[:0], m.HBM(pe), m.TCM(255-pe))
		pe = (pe + 37) % 256
	}); n != 0 {
		t.Errorf("%v allocations per route", n)
	}
}

func BenchmarkRoute(b *testing.B) {
	m := mustBuild(b)
	for _, bm := range []struct {
		name     string
		from, to NodeID
	}{{"same cube", m.PE(0), m.TCM(1)}, {"next cube", m.PE(0), m.TCM(8)}, {"farthest", m.PE(0), m.TCM(255)}} {
		b.Run(bm.name, func(b *testing.B) {
			var buf []Hop
			for b.Loop() {
				buf = m.Route(buf[:0], bm.from, bm.to)
			}
		})
	}
}
