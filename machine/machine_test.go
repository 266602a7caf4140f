package machine

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/unit"
)

func TestDefaultMachine(t *testing.T) {
	m := mustBuild(t)
	if m.NumPEs() != 256 || m.SIPs() != 2 || m.CubesPerSIP() != 16 || m.PEsPerCube() != 8 || m.NumCubes() != 32 {
		t.Fatalf("%d PEs, %d SIPs × %d cubes × %d", m.NumPEs(), m.SIPs(), m.CubesPerSIP(), m.PEsPerCube())
	}
	// Of a cube: 120 between routers, 8 × (inject, eject, HBM, TCM read, TCM write), 3 of the SRAM.
	// Of a SIP: 48 between cubes and 8 to and from the IO chiplet, 4 connections each. Between the
	// SIPs: 2 to and 2 from the switch.
	if want := 32*(120+8*5+3) + 2*(48+8)*4 + 4; m.NumLinks() != want {
		t.Errorf("%d links, want %d", m.NumLinks(), want)
	}
	if c := m.Capacity(m.HBM(3)); c != 4*unit.GiB {
		t.Errorf("an HBM slice has %v", c)
	}
	if c := m.Capacity(m.TCM(3)); c != 16*unit.MiB {
		t.Errorf("a TCM has %v", c)
	}
	if c := m.Capacity(m.SRAM(3)); c != 16*unit.MiB {
		t.Errorf("an SRAM has %v", c)
	}
	if c := m.Capacity(m.PE(3)); c != 0 {
		t.Errorf("a PE has %v", c)
	}
	for _, l := range m.allLinks() {
		if c := m.Capacity(l.From); l.Port != (l.From == l.To) || l.Port && c == 0 {
			t.Fatalf("%s -> %s: port %t, capacity %v", m.NodeName(l.From), m.NodeName(l.To), l.Port, c)
		}
	}
}

func TestCoordAndIndexAreInverse(t *testing.T) {
	m := mustBuild(t, shape(3, "ring_1d", 0, 0, 2, 3, "mesh", 6, 2)...)
	pe := 0
	for sip := range 3 {
		for cube := range 6 {
			for i := range 8 {
				c := Coord{sip, cube, i}
				if got := m.Coord(pe); got != c {
					t.Fatalf("PE %d is at %v, want %v", pe, got, c)
				}
				if got, ok := m.Index(c); !ok || got != pe {
					t.Fatalf("%v is PE %d, %t, want %d", c, got, ok, pe)
				}
				pe++
			}
		}
	}
	for _, c := range []Coord{{3, 0, 0}, {0, 6, 0}, {0, 0, 8}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}} {
		if got, ok := m.Index(c); ok {
			t.Errorf("%v, which does not exist, is PE %d", c, got)
		}
	}
}

func TestNamesAreDistinct(t *testing.T) {
	for _, network := range []string{"mesh", "torus", "ring", "full", "switch"} {
		m := mustBuild(t, shape(3, "switch", 0, 0, 3, 3, network, 3, 1)...)
		nodes := make(map[string]NodeID)
		links := make(map[string]bool)
		for id, l := range m.allLinks() {
			for _, n := range []NodeID{l.From, l.To} {
				name := m.NodeName(n)
				if other, ok := nodes[name]; ok && other != n {
					t.Fatalf("%s: nodes %d and %d are both %s", network, n, other, name)
				}
				nodes[name] = n
			}
			name := m.LinkName(LinkID(id))
			if links[name] {
				t.Fatalf("%s: two links are %s", network, name)
			}
			links[name] = true
		}
	}
}

func TestNames(t *testing.T) {
	m := mustBuild(t, "sip.cube_mesh.network=switch")
	for want, n := range map[string]NodeID{
		"sip0.cube0.pe0":      m.PE(0),
		"sip1.cube2.pe3":      m.PE(128 + 2*8 + 3),
		"sip1.cube15.pe7.hbm": m.HBM(255),
		"sip0.cube1.pe2.tcm":  m.TCM(10),
		"sip1.cube0.sram":     m.SRAM(16),
		"sip0.cube0.r0c0":     0,
		"sip0.cube1.r2c3":     NodeID(m.cube.nodes + 15),
		"sip1.io":             m.outerNode(1),
		"sip1.switch":         m.siteNode(1, 17, east, 0),
		"switch":              m.outerNode(2),
	} {
		if got := m.NodeName(n); got != want {
			t.Errorf("node %d is %s, want %s", n, got, want)
		}
	}
	if got := m.PEName(128 + 2*8 + 3); got != "sip1.cube2.pe3" {
		t.Errorf("PEName is %s", got)
	}
}

func TestPlacesOnTheRouters(t *testing.T) {
	m := mustBuild(t)
	want := []point{{0, 0}, {1, 0}, {5, 0}, {4, 0}, {0, 5}, {1, 5}, {5, 5}, {4, 5}}
	for pe, p := range m.cube.pe {
		if p != want[pe] {
			t.Errorf("PE %d is at %v, want %v", pe, p, want[pe])
		}
	}
	many := mustBuild(t, shape(1, "switch", 0, 0, 1, 1, "mesh", 3, 5)...)
	// The quarter of a 3 × 3 grid has four routers: the fifth PE is on the corner again.
	for k, p := range []point{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 0}} {
		if got := many.cube.pe[k]; got != p {
			t.Errorf("PE %d of a full corner is at %v, want %v", k, got, p)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, bm := range []struct {
		name string
		sips string
	}{{"256", "2"}, {"4096", "32"}, {"102400", "800"}} {
		b.Run(bm.name, func(b *testing.B) {
			t := topology(b, "system.sips.count="+bm.sips)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Build(t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Home agrees with the names of nodes, which begin with where they stand.
func TestHome(t *testing.T) {
	m := mustBuild(t, "system.sips.count=3", "sip.cube_mesh.network=switch")
	for i := range LinkID(m.NumLinks()) {
		for _, n := range []NodeID{m.Link(i).From, m.Link(i).To} {
			sip, cube := m.Home(n)
			prefix := "switch"
			if sip >= 0 {
				prefix = fmt.Sprintf("sip%d.", sip)
			}
			if cube >= 0 {
				prefix += fmt.Sprintf("cube%d.", cube-sip*m.CubesPerSIP())
			}
			name := m.NodeName(n)
			if !strings.HasPrefix(name, prefix) || (cube < 0) == strings.Contains(name, ".cube") {
				t.Fatalf("%s stands in SIP %d, cube %d", name, sip, cube)
			}
		}
	}
}
