package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kernbench/conf"
	_ "kernbench/internal/fixedseed"
	"kernbench/unit"
)

// chips returns a machine of SIPs of one PE, with these levels.
func chips(levels ...string) []string {
	return append(shape(2, "switch", 0, 0, 1, 1, "mesh", 2, 1)[4:],
		"cube.pe_layout.corners=[NW]", "system.levels=["+strings.Join(levels, ", ")+"]")
}

// levelText returns a level as topology.yaml has it.
func levelText(network, size, join string) string {
	text := fmt.Sprintf("{network: %s, %s, join: %s, link: {bw_gbs: 10, latency_ns: 100}", network, size, join)
	switch network {
	case "fat_tree":
		text += ", fat_tree: {radix: 4}"
	case "dragonfly":
		text += ", dragonfly: {routers: 2, per_router: 1}"
	}
	return text + "}"
}

// between returns the network between the SIPs of a machine, with its edges.
func between(tb testing.TB, sets ...string) (*levels, []edge) {
	tb.Helper()
	l, err := newLevels(topology(tb, sets...), false)
	if err != nil {
		tb.Fatal(err)
	}
	return l, l.everyEdge()
}

// everyEdge lists the edges of all networks.
func (l *levels) everyEdge() []edge {
	var all []edge
	for i := range l.at {
		for copy := range l.at[i].copies {
			for _, e := range l.at[i].net.edges() {
				all = append(all, edge{from: int32(l.site(i, copy, int(e.from))), to: int32(l.site(i, copy, int(e.to)))})
			}
		}
	}
	return all
}

// follow returns the route from one SIP to another, or what is wrong with it.
func (l *levels) follow(all []edge, from, to int) ([]Hop, error) {
	route := l.route(nil, 0, from, to)
	at := from
	for i, h := range route {
		level := len(l.at) - 1
		for l.at[level].firstEdge > int(h.Link) {
			level--
		}
		switch {
		case int(all[h.Link].from) != at:
			return nil, fmt.Errorf("hop %d leaves site %d, the message is at %d", i, all[h.Link].from, at)
		case h.Channel >= l.at[level].net.channels():
			return nil, fmt.Errorf("hop %d is on channel %d in level %d", i, h.Channel, level)
		}
		at = int(all[h.Link].to)
	}
	if at != to {
		return nil, fmt.Errorf("it ends at site %d", at)
	}
	return route, nil
}

// compositions are small machines of several levels.
var compositions = []struct {
	name   string
	levels []string
}{
	{"torus of rings", []string{levelText("ring", "count: 5", "each"), levelText("ring", "count: 4", "each"),
		levelText("ring", "count: 3", "each")}},
	{"rails", []string{levelText("switch", "count: 4", "each"), levelText("fat_tree", "count: 6", "each")}},
	{"trays, racks, halls", []string{levelText("ring", "count: 4", "each"), levelText("switch", "count: 3", "group"),
		levelText("dragonfly", "count: 6", "group")}},
	{"gateways of trees", []string{levelText("fat_tree", "count: 9", "each"),
		levelText("fat_tree", "count: 5", "group"), levelText("ring", "count: 3", "group")}},
	{"gateways of dragonflies", []string{levelText("dragonfly", "count: 6", "each"), levelText("dragonfly", "count: 6", "group")}},
	{"planes over gateways", []string{levelText("torus", "dims: [3, 2]", "each"),
		levelText("ring", "count: 5", "group"), levelText("mesh", "dims: [2, 2]", "each")}},
	{"gateways over planes", []string{levelText("switch", "count: 3", "each"), levelText("ring", "count: 5", "each"),
		levelText("full", "count: 3", "group")}},
	{"both, twice", []string{levelText("full", "count: 2", "each"), levelText("mesh", "dims: [3]", "group"),
		levelText("ring", "count: 3", "each"), levelText("switch", "count: 3", "group"), levelText("ring", "count: 2", "each")}},
	{"dragonfly planes", []string{levelText("mesh", "dims: [3]", "each"), levelText("dragonfly", "count: 6", "each"),
		levelText("torus", "dims: [2, 3]", "group")}},
	{"one member", []string{levelText("switch", "count: 1", "each"), levelText("ring", "count: 5", "group"),
		levelText("fat_tree", "count: 1", "each"), levelText("full", "count: 3", "group")}},
}

// TestCompositions walks every route of small machines: each reaches its end, and all together have
// no circle.
func TestCompositions(t *testing.T) {
	for _, test := range compositions {
		t.Run(test.name, func(t *testing.T) {
			l, all := between(t, chips(test.levels...)...)
			if len(all) != l.edges() {
				t.Fatalf("%d edges, counted as %d", len(all), l.edges())
			}
			g := newWaitGraph(len(all), 2)
			for from := range l.sips {
				for to := range l.sips {
					route, err := l.follow(all, from, to)
					if err != nil {
						t.Fatalf("from %d to %d: %v", from, to, err)
					}
					g.add(route)
				}
			}
			if c := g.cycle(); c != nil {
				t.Errorf("circle of %d links: %v", len(c), c)
			}
			if _, err := Build(topology(t, chips(test.levels...)...)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFoldedLevelsMissNothing compares the waits that Build checks with every route of the same
// levels. Each pair of links that can wait for one another must be in it, at once or over places
// without links.
func TestFoldedLevelsMissNothing(t *testing.T) {
	for _, test := range compositions {
		t.Run(test.name, func(t *testing.T) {
			l, all := between(t, chips(test.levels...)...)
			folded := l.foldedWaits()
			first := make([]int, len(l.at)+1)
			for i := range l.at {
				first[i+1] = first[i] + l.at[i].count
			}
			fold := func(h Hop) int32 {
				level := len(l.at) - 1
				for l.at[level].firstEdge > int(h.Link) {
					level--
				}
				return folded.vertex(Hop{LinkID(first[level] + (int(h.Link)-l.at[level].firstEdge)%l.at[level].count), h.Channel})
			}
			links := int32(folded.vertex(Hop{Link: LinkID(first[len(l.at)])}))
			var leads func(a, b int32) bool
			leads = func(a, b int32) bool {
				for _, n := range folded.next[a] {
					if n == b || n >= links && leads(n, b) {
						return true
					}
				}
				return false
			}
			for from := range l.sips {
				for to := range l.sips {
					route, err := l.follow(all, from, to)
					if err != nil {
						t.Fatal(err)
					}
					for i := 1; i < len(route); i++ {
						if a, b := fold(route[i-1]), fold(route[i]); a != b && !leads(a, b) {
							t.Fatalf("from %d to %d: hop %d waits for the next, which the check does not see", from, to, i-1)
						}
					}
				}
			}
		})
	}
}

// TestRandomCompositions: levels of any kind in any order, to any depth, are built, and random
// routes arrive.
func TestRandomCompositions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var list []string
		for i := range rapid.IntRange(1, 5).Draw(rt, "levels") {
			n := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(rt, name) }
			network := rapid.SampledFrom([]string{"ring", "mesh", "torus", "full", "switch", "fat_tree", "dragonfly"}).Draw(rt, "network")
			size := fmt.Sprintf("count: %d", n("count", 1, 9))
			switch network {
			case "mesh", "torus":
				size = fmt.Sprintf("dims: %v",
					strings.ReplaceAll(fmt.Sprint(rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(rt, "dims")), " ", ", "))
			case "dragonfly":
				size = fmt.Sprintf("count: %d", 2*n("groups", 1, 4))
			}
			join := "each"
			if i > 0 {
				join = rapid.SampledFrom([]string{"each", "group"}).Draw(rt, "join")
			}
			list = append(list, levelText(network, size, join))
		}
		sets := chips(list...)
		top, err := conf.LoadTopology(nil, sets)
		if err != nil {
			rt.Fatal(err)
		}
		if top.System().SIPs.Count > 20000 {
			rt.Skip("too large for a quick test")
		}
		m, err := Build(top)
		if err != nil {
			rt.Fatal(err)
		}
		for range 20 {
			pe := rapid.IntRange(0, m.NumPEs()-1)
			from, to := m.PE(pe.Draw(rt, "from")), m.HBM(pe.Draw(rt, "to"))
			if err := m.checkRoute(from, to, m.Route(nil, from, to)); err != nil {
				rt.Fatalf("%v\nfrom %s to %s: %v", list, m.NodeName(from), m.NodeName(to), err)
			}
		}
	})
}

// TestLevelRoutes names every link of some routes.
func TestLevelRoutes(t *testing.T) {
	level := func(name, network, size, join string) string {
		return "{name: " + name + ", " + strings.TrimPrefix(levelText(network, size, join), "{")
	}
	hosts := chips(level("host", "switch", "count: 4", "each"), level("rail", "fat_tree", "count: 9", "each"))
	racks := chips(level("tray", "ring", "count: 4", "each"), level("rack", "switch", "count: 3", "group"),
		level("hall", "dragonfly", "count: 6", "group"))
	tests := []struct {
		name     string
		sets     []string
		from, to int
		want     string
	}{
		{"to another rail: inside the host first", hosts, 1, 5*4 + 2,
			"sip1.io host0.switch sip2.io rail2.leaf0 rail2.spine1 rail2.core2 rail2.spine3 rail2.leaf2 sip22.io"},
		{"along a rail", hosts, 1, 4 + 1, "sip1.io rail1.leaf0 sip5.io"},
		{"within a tray", racks, 0, 2, "sip0.io sip1.io sip2.io"},
		{"to the next tray", racks, 1, 4 + 2, "sip1.io rack.gateway0 rack0.switch rack.gateway1 sip6.io"},
		{"to another rack", racks, 1, 12*2 + 3,
			"sip1.io rack.gateway0 rack0.switch hall.gateway0 hall.router0 hall.router3 hall.router2 hall.gateway2 rack2.switch rack.gateway6 sip27.io"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := mustBuild(t, test.sets...)
			var got []string
			for _, h := range m.Route(nil, m.PE(test.from), m.PE(test.to)) {
				if name := m.NodeName(m.Link(h.Link).To); strings.HasSuffix(name, ".io") || !strings.HasPrefix(name, "sip") {
					got = append(got, name)
				}
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s\nwant %s", text, test.want)
			}
		})
	}
}

// TestLevelDelays adds up a route over three levels by hand.
func TestLevelDelays(t *testing.T) {
	m := mustBuild(t, append(chips(
		"{name: tray, network: ring, count: 4, link: {bw_gbs: 40, latency_ns: 7}}",
		"{name: rack, network: switch, count: 3, join: group, link: {bw_gbs: 30, latency_ns: 50}, switch: {overhead_ns: 200}, gateway: {overhead_ns: 90}}",
		"{name: hall, network: ring, count: 3, join: each, link: {bw_gbs: 20, latency_ns: 1000}}",
	), "sip.io.bw_gbs=35", "sip.io.overhead_ns=3", "sip.io.pcie_ep_ns=0.5")...)
	edges := m.Route(nil, m.PE(1), m.PE(12*2+4+2))
	io := unit.Nanoseconds(3.5)
	// Up to the gateway, to the switch, to the other gateway, down, along the plane.
	want := (io + 7*unit.Nanosecond) + (90+50)*unit.Nanosecond + (200+50)*unit.Nanosecond +
		(90+7)*unit.Nanosecond + (io + 1000*unit.Nanosecond)
	got := unit.Time(0)
	var rates []unit.Rate
	for _, h := range edges {
		if l := m.Link(h.Link); int(h.Link) >= m.outerLink(0) {
			got += l.Router + l.Wire
			rates = append(rates, l.Rate)
		}
	}
	if got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if want := []unit.Rate{unit.GBs(35), unit.GBs(30), unit.GBs(30), unit.GBs(35), unit.GBs(20)}; !slices.Equal(rates, want) {
		t.Errorf("rates %v, want %v", rates, want)
	}
}

func TestImpossibleLevels(t *testing.T) {
	tests := []struct {
		name, level, want string
	}{
		{"small switches", "{network: fat_tree, count: 9, link: {bw_gbs: 1}, fat_tree: {radix: 3}}",
			"system.levels.0.fat_tree.radix: a tree of switches with 3 ports cannot join 9 members; at least 4 ports are needed"},
		{"parts of groups", "{network: dragonfly, count: 9, link: {bw_gbs: 1}, dragonfly: {routers: 2, per_router: 2}}",
			"system.levels.0.count: 9 members do not divide into groups of 2 routers with 2 members each"},
		{"too many in full", "{network: full, count: 1025, link: {bw_gbs: 1}}",
			`system.levels.0.network: "full" joins at most 1024 members; there are 1025`},
		{"a link for each pair of very many groups",
			"{network: dragonfly, count: 32768, link: {bw_gbs: 1}, dragonfly: {routers: 1, per_router: 1}}",
			"system.levels.0.dragonfly: 32768 groups of 1 routers have more than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Build(topology(t, chips(test.level)...)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestNested: the parts of a machine, and the groups that nodes stand in, agree with the names of
// nodes.
func TestNested(t *testing.T) {
	m := mustBuild(t, chips(
		"{name: tray, network: torus, dims: [2, 3], link: {bw_gbs: 40, line_bw_gbs: 50}}",
		"{name: rack, network: switch, count: 3, join: group, link: {bw_gbs: 30}}",
		"{name: rail, network: switch, count: 2, join: each, link: {bw_gbs: 20}}",
	)...)
	if got, want := m.Nested(), []int{1, 2, 6, 18, 36}; !slices.Equal(got, want) {
		t.Errorf("nested parts of %v PEs, want %v", got, want)
	}
	if got, want := mustBuild(t).Nested(), []int{8, 32, 128, 256}; !slices.Equal(got, want) {
		t.Errorf("the default machine has parts of %v PEs, want %v", got, want)
	}
	levels := m.Levels()
	if l := levels[0]; len(levels) != 3 || l.Name != "tray" || l.Members != 6 || l.Rate != unit.GBs(40) ||
		l.Line != unit.GBs(50) || !l.Planes || levels[1].Planes {
		t.Errorf("levels %+v", levels)
	}
	nodes := make(map[string]NodeID)
	for i := range LinkID(m.NumLinks()) {
		nodes[m.NodeName(m.Link(i).From)] = m.Link(i).From
	}
	for name, want := range map[string][3]int{
		"sip20.io":       {3, 1, 0},
		"sip7.cube0.pe0": {1, 0, 0},
		"rack.gateway4":  {4, 1, 0},
		"rack1.switch":   {-1, 1, 0},
		"rail5.switch":   {-1, -1, 0},
	} {
		n, ok := nodes[name]
		if !ok {
			t.Errorf("there is no %s", name)
			continue
		}
		for level, group := range want {
			if got := m.Group(level, n); got != group {
				t.Errorf("%s stands in group %d of level %d, want %d", name, got, level, group)
			}
		}
	}
}

// TestManySIPs: a machine of a hundred thousand SIPs is built, and routed by arithmetic.
func TestManySIPs(t *testing.T) {
	if testing.Short() {
		t.Skip("its links take half a GiB")
	}
	m := mustBuild(t, manySIPs...)
	if m.SIPs() != 102400 {
		t.Fatalf("%d SIPs", m.SIPs())
	}
	buf := make([]Hop, 0, 64)
	pe := 0
	for range 2000 {
		from, to := m.PE(pe), m.PE(m.NumPEs()-1-pe)
		buf = m.Route(buf[:0], from, to)
		if err := m.checkRoute(from, to, buf); err != nil {
			t.Fatalf("from %s to %s: %v", m.NodeName(from), m.NodeName(to), err)
		}
		pe = (pe + 7919) % m.NumPEs()
	}
	if n := testing.AllocsPerRun(1000, func() {
		buf = m.Route(buf[:0], m.PE(pe), m.PE(m.NumPEs()-1-pe))
		pe = (pe + 7919) % m.NumPEs()
	}); n != 0 {
		t.Errorf("%v allocations per route", n)
	}
}

// TestDeepLevels: the check of the routing does not grow with the size of a machine.
func TestDeepLevels(t *testing.T) {
	for _, level := range []string{
		"{network: torus, dims: [5, 5, 1, 5, 5, 5], link: {bw_gbs: 1}}",
		"{network: mesh, dims: [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2], link: {bw_gbs: 1}}",
		"{network: fat_tree, count: 5000, fat_tree: {radix: 4}, link: {bw_gbs: 1}}",
	} {
		m := mustBuild(t, chips(level)...)
		from, to := m.PE(3), m.PE(m.NumPEs()-2)
		if err := m.checkRoute(from, to, m.Route(nil, from, to)); err != nil {
			t.Errorf("%s: %v", level, err)
		}
		small, err := newLevels(topology(t, chips(level)...), true)
		if err != nil || small.sips > 125 {
			t.Errorf("%s: the check looks at %d SIPs: %v", level, small.sips, err)
		}
	}
}

// manySIPs are hosts of 8 on rails of fat trees, in 16 halls.
var manySIPs = chips(
	"{network: switch, count: 8, link: {bw_gbs: 370}}",
	"{network: fat_tree, count: 800, join: each, link: {bw_gbs: 48}, fat_tree: {radix: 64}}",
	"{network: dragonfly, count: 16, join: group, link: {bw_gbs: 400}, dragonfly: {routers: 4, per_router: 1}}",
)

func BenchmarkLevels(b *testing.B) {
	chip := func(level string) []string { return chips("{link: {bw_gbs: 100}, " + level + "}") }
	for _, bm := range []struct {
		name string
		sets []string
	}{
		{"64 in a torus", chip("network: torus, dims: [4, 4, 4]")},
		{"4096 in a torus", chip("network: torus, dims: [16, 16, 16]")},
		{"102400 in a torus", chip("network: torus, dims: [32, 32, 100]")},
		{"102400 in a mesh", chip("network: mesh, dims: [320, 320]")},
		{"102400 in a ring", chip("network: ring, count: 102400")},
		{"102400 on a switch", chip("network: switch, count: 102400")},
		{"102400 on a fat tree", chip("network: fat_tree, count: 102400, fat_tree: {radix: 64}")},
		{"102400 in a dragonfly", chip("network: dragonfly, count: 102400, dragonfly: {routers: 32, per_router: 16}")},
		{"102400 on three levels", manySIPs},
		{"SIPs of 128 PEs, 102400 on a torus", []string{"system.levels=[{network: torus, dims: [20, 40], link: {bw_gbs: 256}}]"}},
		{"SIPs of 128 PEs, 25600 joined to each", []string{"system.levels=[{network: full, count: 200, link: {bw_gbs: 256}}]"}},
	} {
		b.Run("build "+bm.name, func(b *testing.B) {
			t := topology(b, bm.sets...)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Build(t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("route", func(b *testing.B) {
		m := mustBuild(b, manySIPs...)
		var buf []Hop
		for b.Loop() {
			buf = m.Route(buf[:0], m.PE(3), m.PE(m.NumPEs()-1))
		}
		b.ReportMetric(float64(len(buf)), "hops")
	})
}
