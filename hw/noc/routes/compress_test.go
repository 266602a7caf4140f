package routes

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCompress: random walks of a tree and back read the same however they are stored, and take
// less together.
func TestCompress(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const leaves = 256 // a binary tree: link k leads from node k to its parent, link 512+k back
	type route struct {
		source uint32
		path   []Hop
	}
	var all []route
	for range 2000 {
		from, to := leaves+r.Uint32N(leaves), leaves+r.Uint32N(leaves)
		up, down := []Hop(nil), []Hop(nil)
		for a, b := from, to; a != b; a, b = a/2, b/2 {
			up, down = append(up, MakeHop(a, 1)), append(down, MakeHop(2*leaves+b, uint8((b+from)%2)))
		}
		slices.Reverse(down)
		all = append(all, route{from, slices.Concat(up, down)})
	}
	apart, shared := New(), New()
	kept := shared.Add([]Hop{MakeHop(7, 3), MakeHop(8, 0)})
	got, whole := make([]Route, len(all)), 0
	shared.Compress(Paths{
		Count: len(all), Links: 4 * leaves,
		Source: func(i int) uint32 { return all[i].source },
		Path:   func(i int) []Hop { return all[i].path },
		Put:    func(i int, r Route) { got[i] = r },
	})
	for i, a := range all {
		whole += len(a.path)
		plain := apart.Add(a.path)
		for name, p := range map[string][]Hop{"by itself": apart.Path(plain), "shared": shared.Path(got[i])} {
			if !slices.Equal(p, a.path) {
				t.Fatalf("route %d stored %s: %v, want %v", i, name, p, a.path)
			}
		}
		at := got[i]
		for k, h := range a.path {
			if shared.Hop(at) != h || shared.Last(at) != (k == len(a.path)-1) {
				t.Fatalf("route %d, link %d: %v, last %v", i, k, shared.Hop(at), shared.Last(at))
			}
			at = shared.Onward(at)
		}
		if !at.Empty() || got[i].Empty() != (len(a.path) == 0) {
			t.Fatalf("route %d does not end", i)
		}
	}
	if len(shared.Hops) > whole*3/4 {
		t.Errorf("%d hops are stored as %d", whole, len(shared.Hops))
	}
	if p := shared.Path(kept); len(p) != 2 || p[0].Number() != 7 || p[0].Channel() != 3 {
		t.Errorf("the route before: %v", p)
	}
}
