package topology

import (
	"testing"

	_ "kernbench/internal/fixedseed"
	"kernbench/tl"
	"pgregory.net/rapid"
)

// Random neighbour maps either connect with all ends paired, or fail with an error. They fail only
// where some rank would need one name for two rings.
func TestConnectRandomMaps(t *testing.T) {
	dirs := []tl.Dir{tl.East, tl.West, tl.North, tl.South, tl.Parent, tl.Child0, tl.Child1, tl.Dim(0), tl.Dim(5)}
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.IntRange(1, 6).Draw(t, "world")
		ms := make([]map[tl.Dir]int, world)
		for r := range ms {
			ms[r] = rapid.MapOfN(rapid.SampledFrom(dirs), rapid.IntRange(0, world-1), 0, 4).Draw(t, "map")
		}
		ws, err := Connect(world, ms)
		if err != nil {
			return
		}
		checkPaired(t, ws)
		for r, w := range ws {
			if len(w.Out) != len(ms[r]) {
				t.Fatalf("rank %d has %d neighbours but %d rings", r, len(ms[r]), len(w.Out))
			}
			for _, o := range w.Out {
				if ms[r][o.Dir] != int(o.Peer) {
					t.Fatalf("rank %d: %v leads to %d, want %d", r, o.Dir, o.Peer, ms[r][o.Dir])
				}
			}
		}
	})
}

// Where every link has its reverse under the opposite name, a rank receives from a direction from
// the rank that it sends to there. This holds in every such graph.
func TestConnectSymmetricMaps(t *testing.T) {
	axes := [][2]tl.Dir{{tl.East, tl.West}, {tl.South, tl.North}, {tl.Child0, tl.Parent}, {tl.Dim(1), tl.Dim(1)}}
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.IntRange(1, 8).Draw(t, "world")
		ms := make([]map[tl.Dir]int, world)
		for r := range ms {
			ms[r] = map[tl.Dir]int{}
		}
		for range rapid.IntRange(0, 2*world).Draw(t, "links") {
			a := rapid.IntRange(0, world-1).Draw(t, "a")
			b := rapid.IntRange(0, world-1).Draw(t, "b")
			ax := rapid.SampledFrom(axes).Draw(t, "axis")
			_, usedA := ms[a][ax[0]]
			_, usedB := ms[b][ax[1]]
			if usedA || usedB || a == b && ax[0] == ax[1] {
				continue
			}
			ms[a][ax[0]], ms[b][ax[1]] = b, a
		}
		ws, err := Connect(world, ms)
		if err != nil {
			t.Fatal(err)
		}
		checkPaired(t, ws)
		for r, w := range ws {
			for _, in := range w.In {
				if ms[r][in.Dir] != int(in.Peer) {
					t.Fatalf("rank %d receives from %d from %v, but calls %d that", r, in.Peer, in.Dir, ms[r][in.Dir])
				}
			}
		}
	})
}

// FuzzFit: any world and grid give a grid that covers the world, or an error.
func FuzzFit(f *testing.F) {
	f.Add(16, 0, 0)
	f.Add(6, 3, 0)
	f.Add(7, 0, -1)
	f.Add(1<<31, 1<<30, 1<<33)
	f.Fuzz(func(t *testing.T, world, w, h int) {
		g, err := Mesh2D.Fit(world, Grid{W: w, H: h})
		if err == nil && (g.W < 1 || g.H < 1 || g.W*g.H != world || g.W > world || g.H > world) {
			t.Errorf("Fit(%d, %dx%d) = %+v", world, w, h, g)
		}
	})
}
