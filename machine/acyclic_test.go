package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// allWaits returns the graph of every route that m has, nothing folded and nothing left out.
func allWaits(m *Machine) *waitGraph {
	g := newWaitGraph(m.NumLinks(), 5)
	var route []Hop
	ends := m.endpoints()
	for _, from := range ends {
		for _, to := range ends {
			route = m.Route(route[:0], from, to)
			route = slices.DeleteFunc(route, func(h Hop) bool { return m.Spec(h.Link).Port })
			g.add(route)
		}
	}
	return g
}

func TestNoMachineHasACircle(t *testing.T) {
	var shapes [][]string
	for _, network := range []string{"mesh", "torus", "ring", "full", "switch"} {
		for _, noc := range []int{2, 3, 6} {
			shapes = append(shapes, shape(2, "switch", 0, 0, 3, 3, network, noc, 1))
		}
		shapes = append(shapes, shape(1, "switch", 0, 0, 5, 4, network, 3, 1))
	}
	shapes = append(shapes, shape(2, "switch", 0, 0, 5, 5, "torus", 2, 1), shape(2, "full", 0, 0, 7, 1, "ring", 2, 1))
	for _, network := range []string{"switch", "ring_1d", "torus_2d", "mesh_2d_no_wrap", "full"} {
		shapes = append(shapes,
			shape(10, network, 5, 2, 1, 1, "mesh", 2, 1),
			shape(6, network, 3, 2, 2, 2, "torus", 2, 1))
	}
	for _, sets := range shapes {
		var name []string
		for _, set := range sets {
			name = append(name, set[strings.IndexByte(set, '=')+1:])
		}
		t.Run(strings.Join(name, ","), func(t *testing.T) {
			m := mustBuild(t, append(sets, "cube.pe_layout.corners=[NW,SE]")...)
			if circle := allWaits(m).cycle(); circle != nil {
				t.Errorf("%s", m.circleText(circle))
			}
		})
	}
}

// TestFoldedWaitsMissNothing compares the waits that Build checks with every route of the same
// machine. Each pair of links that can wait for one another must be in both.
func TestFoldedWaitsMissNothing(t *testing.T) {
	for _, network := range []string{"mesh", "torus", "ring", "full", "switch"} {
		for _, noc := range []int{2, 4} {
			t.Run(fmt.Sprintf("%s/%d", network, noc), func(t *testing.T) {
				m := mustBuild(t, shape(1, "switch", 0, 0, 3, 3, network, noc, 1)...)
				folded, all := m.foldedWaits(), allWaits(m)
				for v, next := range all.next {
					link, channel := v/all.channels, v%all.channels
					for _, n := range next {
						a := int32(link*folded.channels + channel)
						b := n/int32(all.channels)*int32(folded.channels) + n%int32(all.channels)
						if !slices.Contains(folded.next[a], b) {
							t.Fatalf("%s waits for %s, which the check does not see",
								m.LinkName(LinkID(link)), m.LinkName(LinkID(n/int32(all.channels))))
						}
					}
				}
			})
		}
	}
}

func TestHandMadeCircleIsFound(t *testing.T) {
	g := newWaitGraph(6, 2)
	g.add([]Hop{{0, 0}, {1, 0}, {2, 0}})
	g.add([]Hop{{2, 0}, {3, 0}, {4, 0}})
	g.add([]Hop{{4, 0}, {5, 0}})
	if c := g.cycle(); c != nil {
		t.Fatalf("a line has the circle %v", c)
	}
	g.add([]Hop{{3, 0}, {1, 1}, {2, 1}})
	if c := g.cycle(); c != nil {
		t.Fatalf("with another channel there is the circle %v", c)
	}
	g.add([]Hop{{3, 0}, {1, 0}})
	if got, want := g.cycle(), []Hop{{1, 0}, {2, 0}, {3, 0}}; !slices.Equal(got, want) {
		t.Fatalf("the circle is %v, want %v", got, want)
	}
}

// oneChannel is a network whose messages forget the dateline.
type oneChannel struct{ network }

func (o oneChannel) next(from, at, to int) step {
	s := o.network.next(from, at, to)
	s.channel = 0
	return s
}

// networkWaits returns the graph of the edges of a network that joins n sites.
func networkWaits(net network, n int) *waitGraph {
	g := newWaitGraph(len(net.edges()), int(net.channels()))
	for from := range n {
		for to := range n {
			g.addSegment(net, 0, from, to, -1, -1)
		}
	}
	return g
}

func TestRingWithoutDatelineIsRefused(t *testing.T) {
	for _, name := range []string{"ring", "torus"} {
		k, _ := findKind(name, ofCubes)
		for _, net := range []network{
			k.build(size{n: 25, w: 5, h: 5}),
			k.join(plan{n: 25, dims: []int{5, 5}}),
		} {
			if c := networkWaits(net, 25).cycle(); c != nil {
				t.Errorf("%s: circle %v", name, c)
			}
			if networkWaits(oneChannel{net}, 25).cycle() == nil {
				t.Errorf("%s: without a dateline there is no circle", name)
			}
		}
	}
}

// TestEmbeddedSIPsHaveNoCircle examines what Build takes as known: the window as well as the whole
// machine, with one SIP and with two. Two SIPs have other PEs and another fabric.
func TestEmbeddedSIPsHaveNoCircle(t *testing.T) {
	for _, sips := range []int{1, 2} {
		sets := []string{fmt.Sprintf("system.sips.count=%d", sips)}
		if sips == 2 {
			sets = append(sets, "pe.link_bw_gbs=1", "pe.tcm.access_ns=0", "fabric.message_bytes=512", "fabric.buffer_bytes=512")
		}
		m := mustBuild(t, sets...)
		if !m.topology.EmbeddedRoutes() {
			t.Errorf("%d SIPs: Build does not take the machine for the embedded one", sips)
		}
		if err := checkSIP(m.topology); err != nil {
			t.Errorf("%d SIPs: %v", sips, err)
		}
		if circle := allWaits(m).cycle(); circle != nil {
			t.Errorf("%d SIPs: %s", sips, m.circleText(circle))
		}
	}
}

// TestEveryChannelIsNeeded takes the channels inside cubes away, one reason at a time.
func TestEveryChannelIsNeeded(t *testing.T) {
	tests := []struct {
		name  string
		sets  []string
		spoil func(*Machine)
	}{
		{"of the last cube", shape(1, "switch", 0, 0, 2, 2, "mesh", 6, 2), func(m *Machine) { m.final = 0 }},
		{"of columns where connections are on corners", shape(1, "switch", 0, 0, 3, 3, "mesh", 2, 1), func(m *Machine) { m.turned = 0 }},
		{"of the dateline", shape(1, "switch", 0, 0, 5, 5, "torus", 6, 2), func(m *Machine) { m.inSIP = oneChannel{m.inSIP} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := mustBuild(t, test.sets...)
			if c := m.foldedWaits().cycle(); c != nil {
				t.Fatalf("as built it has a circle: %s", m.circleText(c))
			}
			channels := m.final
			test.spoil(m)
			g := newWaitGraph(m.NumLinks(), int(channels)+1)
			ends := m.endpoints()
			for _, from := range ends {
				for _, to := range ends {
					g.add(slices.DeleteFunc(m.Route(nil, from, to), func(h Hop) bool { return m.Spec(h.Link).Port }))
				}
			}
			if g.cycle() == nil {
				t.Error("without it there is no circle: the check sees nothing, or the channel can go")
			}
		})
	}
}
