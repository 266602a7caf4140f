package topology

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kernbench/tl"
)

// show prints one rank's wiring as "E>1.0 W>3.1 | E<1 W<3".
func show(w tl.Wiring) string {
	var parts []string
	for _, o := range w.Out {
		parts = append(parts, fmt.Sprintf("%v>%d.%d", o.Dir, o.Peer, o.PeerIn))
	}
	parts = append(parts, "|")
	for _, i := range w.In {
		parts = append(parts, fmt.Sprintf("%v<%d.%d", i.Dir, i.Peer, i.PeerOut))
	}
	return strings.Join(parts, " ")
}

func TestWire(t *testing.T) {
	tests := []struct {
		topology string
		world    int
		grid     Grid
		override Override
		want     []string // by rank
	}{
		{topology: "ring_1d", world: 1, want: []string{"E>0.1 W>0.0 | E<0.1 W<0.0"}},
		{topology: "ring_1d", world: 2, want: []string{"E>1.1 W>1.0 | E<1.1 W<1.0", "E>0.1 W>0.0 | E<0.1 W<0.0"}},
		{topology: "ring_1d", world: 3, want: []string{"E>1.1 W>2.0 | E<1.1 W<2.0", "E>2.1 W>0.0 | E<2.1 W<0.0",
			"E>0.1 W>1.0 | E<0.1 W<1.0"}},
		{topology: "ring_1d_unidir", world: 1, want: []string{"E>0.0 | W<0.0"}},
		{topology: "ring_1d_unidir", world: 2, want: []string{"E>1.0 | W<1.0", "E>0.0 | W<0.0"}},
		{topology: "mesh_2d", world: 1, want: []string{"|"}},
		{topology: "mesh_2d", world: 4, want: []string{
			"E>1.0 S>2.1 | E<1.0 S<2.1", "W>0.0 S>3.1 | W<0.0 S<3.1",
			"E>3.0 N>0.1 | E<3.0 N<0.1", "W>2.0 N>1.1 | W<2.0 N<1.1"}},
		{topology: "mesh_2d", world: 3, grid: Grid{W: 3, H: 1}, want: []string{
			"E>1.1 | E<1.1", "E>2.0 W>0.0 | E<2.0 W<0.0", "W>1.0 | W<1.0"}},
		{topology: "torus_2d", world: 2, grid: Grid{W: 2}, want: []string{
			"E>1.1 W>1.0 N>0.3 S>0.2 | E<1.1 W<1.0 N<0.3 S<0.2",
			"E>0.1 W>0.0 N>1.3 S>1.2 | E<0.1 W<0.0 N<1.3 S<1.2"}},
		{topology: "tree_binary", world: 1, want: []string{"|"}},
		{topology: "tree_binary", world: 4, want: []string{
			"child0>1.0 child1>2.0 | child0<1.0 child1<2.0",
			"parent>0.0 child0>3.0 | parent<0.0 child0<3.0",
			"parent>0.1 | parent<0.1", "parent>1.1 | parent<1.1"}},
		{topology: "none", world: 2, want: []string{"|", "|"}},
		{topology: "hypercube", world: 1, want: []string{"|"}},
		{topology: "hypercube", world: 5, want: []string{
			"dim0>1.0 dim1>2.1 dim2>4.0 | dim0<1.0 dim1<2.1 dim2<4.0",
			"dim0>0.0 dim1>3.1 | dim0<0.0 dim1<3.1",
			"dim0>3.0 dim1>0.1 | dim0<3.0 dim1<0.1",
			"dim0>2.0 dim1>1.1 | dim0<2.0 dim1<1.1",
			"dim2>0.2 | dim2<0.2"}},
		{ // the guide's pattern A: odd ranks lack W
			topology: "ring_1d", world: 4, override: patternA, want: []string{
				"E>1.1 W>3.0 | W<3.0", "E>2.0 | E<2.1 W<0.0", "E>3.1 W>1.0 | W<1.0", "E>0.0 | E<0.1 W<2.0"},
		},
		{ // the guide's pattern B: a ring that skips one rank, without the opposite direction
			topology: "ring_1d", world: 4, override: patternB, want: []string{
				"E>2.0 | W<2.0", "E>3.0 | W<3.0", "E>0.0 | W<0.0", "E>1.0 | W<1.0"},
		},
		{topology: "ring_1d", world: 2, override: patternB, want: []string{"E>0.0 | W<0.0", "E>1.0 | W<1.0"}},
		{ // nil keeps the topology's map, whatever the override did to its copy
			topology: "ring_1d_unidir", world: 2,
			override: func(_, _ int, m map[tl.Dir]int) map[tl.Dir]int { clear(m); return nil },
			want:     []string{"E>1.0 | W<1.0", "E>0.0 | W<0.0"},
		},
		{ // a star: the centre has no name for its guests but child0 and child1
			topology: "none", world: 3,
			override: func(rank, _ int, m map[tl.Dir]int) map[tl.Dir]int {
				if rank > 0 {
					m[tl.Parent] = 0
				}
				return m
			},
			want: []string{"| child0<1.0 child1<2.0", "parent>0.0 |", "parent>0.1 |"},
		},
	}
	for _, tt := range tests {
		name := fmt.Sprintf("%s/%d", tt.topology, tt.world)
		t.Run(name, func(t *testing.T) {
			top, err := Lookup(tt.topology)
			if err != nil {
				t.Fatal(err)
			}
			ws, err := top.Wire(tt.world, tt.grid, tt.override)
			if err != nil {
				t.Fatal(err)
			}
			checkPaired(t, ws)
			var got []string
			for _, w := range ws {
				got = append(got, strings.TrimSpace(show(w)))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

func patternA(rank, _ int, m map[tl.Dir]int) map[tl.Dir]int {
	if rank%2 == 1 {
		delete(m, tl.West)
	}
	return m
}

func patternB(rank, world int, _ map[tl.Dir]int) map[tl.Dir]int {
	return map[tl.Dir]int{tl.East: (rank + 2) % world}
}

func TestConnectRules(t *testing.T) {
	e, w, n := tl.East, tl.West, tl.North
	tests := []struct {
		name string
		maps []map[tl.Dir]int
		want []string
	}{
		{"both call each other E", []map[tl.Dir]int{{e: 1}, {e: 0}}, []string{"E>1.0 | W<1.0", "E>0.0 | W<0.0"}},
		{"the opposite leads elsewhere, another name leads back",
			[]map[tl.Dir]int{{e: 1}, {w: 2, n: 0}, {}},
			[]string{"E>1.0 | S<1.1", "W>2.0 N>0.0 | N<0.0", "| E<1.0"}},
		{"the opposite leads elsewhere, nothing leads back",
			[]map[tl.Dir]int{{e: 1}, {w: 2}, {}},
			[]string{"E>1.0 |", "W>2.0 | W<0.0", "| E<1.0"}},
		{"a dimension faces itself", []map[tl.Dir]int{{tl.Dim(3): 1}, {tl.Dim(3): 0}},
			[]string{"dim3>1.0 | dim3<1.0", "dim3>0.0 | dim3<0.0"}},
		{"both children are the same rank",
			[]map[tl.Dir]int{{tl.Child0: 1, tl.Child1: 1}, {tl.Parent: 0, e: 0}},
			[]string{"child0>1.1 child1>1.0 | W<1.0 child0<1.1", "E>0.0 parent>0.1 | E<0.1 parent<0.0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, err := Connect(len(tt.maps), tt.maps)
			if err != nil {
				t.Fatal(err)
			}
			checkPaired(t, ws)
			var got []string
			for _, w := range ws {
				got = append(got, strings.TrimSpace(show(w)))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%q\nwant\n%q", got, tt.want)
			}
		})
	}
}

func TestWireErrors(t *testing.T) {
	to := func(d tl.Dir, peer int) Override {
		return func(int, int, map[tl.Dir]int) map[tl.Dir]int { return map[tl.Dir]int{d: peer} }
	}
	tests := []struct {
		name     string
		topology string
		world    int
		grid     Grid
		override Override
		want     string
	}{
		{"no ranks", "ring_1d", 0, Grid{}, nil, "at least one"},
		{"not a square", "mesh_2d", 6, Grid{}, nil, "6 is not a square, so w or h must be given, such as w=3 h=2"},
		{"a prime", "torus_2d", 7, Grid{}, nil, "such as w=7 h=1"},
		{"does not cover", "mesh_2d", 6, Grid{W: 2, H: 2}, nil, "w=2 h=2 does not cover them: w*h must be 6"},
		{"does not divide", "mesh_2d", 6, Grid{W: 4}, nil, "w=4 h=0 does not cover"},
		{"negative", "mesh_2d", 6, Grid{W: -2, H: -3}, nil, "negative"},
		{"too wide", "mesh_2d", 2, Grid{H: 5}, nil, "does not cover"},
		{"more than it has directions for", "hypercube", 1<<16 + 1, Grid{}, nil,
			"hypercube of 65537 ranks: at most 65536 have directions enough"},
		{"peer beyond the world", "ring_1d", 4, Grid{}, to(tl.East, 4), "rank 0, direction E: there is no rank 4 among 4"},
		{"negative peer", "ring_1d", 4, Grid{}, to(tl.North, -1), "rank 0, direction N: there is no rank -1"},
		{"self without wrap", "mesh_2d", 4, Grid{}, to(tl.East, 1), "rank 1, direction E: leads to itself"},
		{"no direction", "ring_1d", 4, Grid{}, to(tl.AnyDir, 1), "needs a direction"},
		{"all to one", "ring_1d", 4, Grid{}, to(tl.East, 0),
			"rank 1 sends E to rank 0, which has no direction left to receive it from: its W already receives from rank 0 (sent E)"},
		{"all to one, many", "ring_1d", 300, Grid{}, to(tl.East, 0), "300 ranks send to rank 0, which can tell 255"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top, err := Lookup(tt.topology)
			if err != nil {
				t.Fatal(err)
			}
			_, err = top.Wire(tt.world, tt.grid, tt.override)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want it to contain %q", err, tt.want)
			}
		})
	}
	if _, err := Lookup("ring"); err == nil || !strings.Contains(err.Error(), "mesh_2d, node_trees, none, ring_1d") {
		t.Errorf("Lookup of an unknown name: %v", err)
	}
	if _, err := Connect(2, nil); err == nil {
		t.Error("Connect of no maps for two ranks: no error")
	}
	if _, err := Connect(1, []map[tl.Dir]int{{tl.East: 1}}); err == nil {
		t.Error("Connect with a peer beyond the world: no error")
	}
}

// A row from elsewhere that returns links of its own, and not dst with them, cannot touch
// those of other ranks.
func TestLinksThatDoNotAppend(t *testing.T) {
	top := Topology{Name: "elsewhere", Wraps: true, Links: func(_ []Link, rank, world int, _ Grid) []Link {
		return []Link{{tl.East, int32((rank + 1) % world)}}
	}}
	got, err := top.Wire(3, Grid{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Ring1DUnidir.Wire(3, Grid{}, nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, want %v; %v", got, want, err)
	}
}

func TestRowsAreComplete(t *testing.T) {
	for _, row := range []Topology{{Name: "no links"}, {Links: None.Links}, *Ring1D} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was registered", row.Name)
				}
			}()
			Register(row)
		}()
	}
}

// checkPaired fails unless every Out has exactly one In at the peer, and every In one Out. Names
// are in order, and no name is used twice on a side.
func checkPaired(t interface {
	Helper()
	Fatalf(string, ...any)
}, ws []tl.Wiring) {
	t.Helper()
	outs, ins := 0, 0
	for r, w := range ws {
		outs += len(w.Out)
		ins += len(w.In)
		for i, o := range w.Out {
			if i > 0 && w.Out[i-1].Dir >= o.Dir {
				t.Fatalf("rank %d: Out is not in order of directions: %v", r, w.Out)
			}
			if in := ws[o.Peer].In[o.PeerIn]; int(in.Peer) != r || int(in.PeerOut) != i {
				t.Fatalf("rank %d Out[%d] = %+v, but that In is %+v", r, i, o, in)
			}
		}
		for i, in := range w.In {
			if i > 0 && w.In[i-1].Dir >= in.Dir {
				t.Fatalf("rank %d: In is not in order of directions: %v", r, w.In)
			}
			if o := ws[in.Peer].Out[in.PeerOut]; int(o.Peer) != r || int(o.PeerIn) != i {
				t.Fatalf("rank %d In[%d] = %+v, but that Out is %+v", r, i, in, o)
			}
		}
	}
	if outs != ins {
		t.Fatalf("%d outgoing and %d incoming rings", outs, ins)
	}
}

func TestEveryTopologyPairs(t *testing.T) {
	for _, top := range All() {
		for _, world := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 31} {
			w, h := widest(world)
			ws, err := top.Wire(world, Grid{W: w, H: h}, nil)
			if err != nil {
				t.Fatalf("%s of %d: %v", top.Name, world, err)
			}
			checkPaired(t, ws)
			ms, err := top.Maps(world, Grid{W: w, H: h})
			if err != nil {
				t.Fatalf("%s of %d: %v", top.Name, world, err)
			}
			again, err := Connect(world, ms)
			if err != nil {
				t.Fatalf("%s of %d: %v", top.Name, world, err)
			}
			for r := range ws {
				if show(ws[r]) != show(again[r]) {
					t.Fatalf("%s of %d, rank %d: Wire %s, Connect %s", top.Name, world, r, show(ws[r]), show(again[r]))
				}
				// Where a topology is its own reverse, what a rank receives from a
				// direction comes from whom it calls that.
				if top == Ring1DUnidir {
					continue
				}
				for _, in := range ws[r].In {
					if got, ok := ms[r][in.Dir]; !ok || got != int(in.Peer) {
						t.Fatalf("%s of %d: rank %d receives from rank %d by %v, but calls rank %d that", top.Name, world,
							r, in.Peer, in.Dir, got)
					}
				}
			}
		}
	}
}

func ExampleTopology_Wire() {
	ws, err := Ring1D.Wire(4, Grid{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range ws[0].Out {
		fmt.Printf("rank 0 sends %v to rank %d, which receives it from %v\n", o.Dir, o.Peer, ws[o.Peer].In[o.PeerIn].Dir)
	}
	// Output:
	// rank 0 sends E to rank 1, which receives it from W
	// rank 0 sends W to rank 3, which receives it from E
}

func BenchmarkWireRing65536(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Ring1D.Wire(65536, Grid{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWireHypercube65536(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Hypercube.Wire(65536, Grid{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWireOverride65536(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Ring1D.Wire(65536, Grid{}, patternA); err != nil {
			b.Fatal(err)
		}
	}
}
