package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// gridDistance returns the number of edges of a shortest route on a grid with or without wraps.
func gridDistance(a, b, w, h int, wrap bool) int {
	line := func(a, b, n int) int {
		d := max(a-b, b-a)
		if wrap {
			return min(d, n-d)
		}
		return d
	}
	return line(a%w, b%w, w) + line(a/w, b/w, h)
}

func TestNetworksTakeShortestWays(t *testing.T) {
	sizes := [][2]int{{1, 1}, {2, 1}, {3, 1}, {1, 4}, {2, 2}, {3, 2}, {5, 4}, {4, 6}, {7, 3}}
	type kindTest struct {
		name     string
		distance func(a, b, w, h int) int
	}
	tests := []kindTest{
		{"mesh", func(a, b, w, h int) int { return gridDistance(a, b, w, h, false) }},
		{"torus", func(a, b, w, h int) int { return gridDistance(a, b, w, h, true) }},
		{"ring", func(a, b, w, h int) int { return gridDistance(a, b, w*h, 1, true) }},
		{"full", func(a, b, w, h int) int { return min(1, max(a-b, b-a)) }},
		{"switch", func(a, b, w, h int) int { return 2 * min(1, max(a-b, b-a)) }},
	}
	for i := range kinds {
		if k := &kinds[i]; k.build != nil && !slices.ContainsFunc(tests, func(test kindTest) bool { return test.name == k.Name }) {
			t.Errorf("%s is not tested", k.Name)
		}
	}
	for _, test := range tests {
		k, err := findKind(test.name, ofCubes)
		if err != nil {
			t.Fatal(err)
		}
		for _, wh := range sizes {
			for _, exit := range []bool{false, true} {
				s := size{n: wh[0] * wh[1], w: wh[0], h: wh[1], exit: exit}
				t.Run(fmt.Sprintf("%s/%dx%d/%t", test.name, s.w, s.h, exit), func(t *testing.T) {
					net := k.build(s)
					for a := range s.n {
						for b := range s.n {
							if got, want := walkNetwork(t, net, a, b), test.distance(a, b, s.w, s.h); got != want {
								t.Errorf("from %d to %d in %d steps, want %d", a, b, got, want)
							}
						}
						if exit {
							walkNetwork(t, net, a, s.n)
							walkNetwork(t, net, s.n, a)
						}
					}
				})
			}
		}
	}
}

// walkNetwork counts the steps between two sites, and fails where they do not hang together.
func walkNetwork(t *testing.T, net network, from, to int) int {
	t.Helper()
	edges := net.edges()
	steps := 0
	for at := from; at != to; steps++ {
		s := net.next(from, at, to)
		if e := edges[s.edge]; int(e.from) != at || e.to != s.site || s.channel >= net.channels() || steps > len(edges) {
			t.Fatalf("from %d to %d: step %d out of %d is %+v over %+v", from, to, steps, at, s, e)
		}
		at = int(s.site)
	}
	return steps
}

func TestDateline(t *testing.T) {
	k, _ := findKind("ring", ofCubes)
	net := k.build(size{n: 7})
	for _, test := range []struct {
		from, to int
		want     string
	}{
		{0, 3, "1:0 2:0 3:0"},
		{5, 1, "6:0 0:1 1:1"}, // over the wrap link eastward
		{4, 0, "5:0 6:0 0:1"},
		{1, 5, "0:0 6:1 5:1"}, // and westward
		{0, 6, "6:1"},
		{3, 0, "2:0 1:0 0:0"},
	} {
		var got []string
		for at := test.from; at != test.to; {
			s := net.next(test.from, at, test.to)
			got = append(got, fmt.Sprintf("%d:%d", s.site, s.channel))
			at = int(s.site)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("from %d to %d over site:channel %s, want %s", test.from, test.to, text, test.want)
		}
	}
}

func TestEqualWaysRoundGoUp(t *testing.T) {
	k, _ := findKind("ring", ofCubes)
	net := k.build(size{n: 4})
	for from := range 4 {
		if s := net.next(from, from, (from+2)%4); int(s.site) != (from+1)%4 {
			t.Errorf("from %d half way round first to %d", from, s.site)
		}
	}
}

func TestUnknownNetwork(t *testing.T) {
	for _, test := range []struct {
		usable func(*kind) bool
		want   string
	}{
		{ofCubes, `there is no network "hypercube"; there are full, mesh, ring, switch, torus`},
		{ofSIPs, `there is no network "hypercube"; there are dragonfly, fat_tree, full, mesh, ring, square, switch, torus`},
	} {
		if _, err := findKind("hypercube", test.usable); err == nil || err.Error() != test.want {
			t.Errorf("error %q, want %q", err, test.want)
		}
	}
}
