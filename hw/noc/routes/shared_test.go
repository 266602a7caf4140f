package routes

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShared: routes that share what they can read the same as by themselves, wherever their fronts
// end. A path that is added again takes nothing. Routes of all pairs take as much as ways to each
// destination, or as ways to a place that all pass and from there.
func TestShared(t *testing.T) {
	const nodes = 64 // of a ring: link k leads from node k to the next
	r := rand.New(rand.NewPCG(5, 8))
	type pair struct{ from, to uint32 }
	var pairs []pair
	for from := range uint32(nodes) {
		for to := range uint32(nodes) {
			pairs = append(pairs, pair{from, to})
		}
	}
	r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	for _, at := range []int{-1, 0} {
		path := func(p pair) (hops []Hop) {
			for k := p.from; k != p.to; k = (k + 1) % nodes {
				hops = append(hops, MakeHop(k, uint8(p.to%2)))
			}
			return hops
		}
		front := func(path []Hop) int { // up to a link, if it is passed; else the first hop
			for k := range path[:max(0, len(path)-1)] {
				if int(path[k].Number()) == at {
					return k + 1
				}
			}
			return min(1, len(path))
		}
		table, shared := New(), Shared{}
		kept := table.Add([]Hop{MakeHop(7, 3), MakeHop(8, 0)})
		routes := make([]Route, len(pairs))
		for i, p := range pairs {
			routes[i] = table.AddShared(&shared, path(p), front(path(p)))
		}
		stored := len(table.Hops)
		for i, p := range pairs {
			want := path(p)
			if again := table.AddShared(&shared, want, front(want)); again != routes[i] {
				t.Fatalf("%v is stored twice", p)
			}
			if got := table.Path(routes[i]); !slices.Equal(got, want) || routes[i].Empty() != (p.from == p.to) {
				t.Fatalf("%v reads %v, want %v", p, got, want)
			}
			at := routes[i]
			for k := range want {
				if table.Hop(at) != want[k] || table.Last(at) != (k == len(want)-1) {
					t.Fatalf("%v, hop %d: %v, last %v", p, k, table.Hop(at), table.Last(at))
				}
				at = table.Onward(at)
			}
		}
		most := 2*nodes*nodes + 2*nodes // of hops, each with what follows it
		if at == 0 {                    // half of the pairs do not pass it; fronts are of two channels
			most = nodes*nodes + 6*nodes
		}
		if len(table.Hops) != stored || stored > most {
			t.Errorf("%d hops, then %d: want at most %d", stored, len(table.Hops), most)
		}
		if p := table.Path(kept); len(p) != 2 || p[0].Number() != 7 || p[1].Number() != 8 {
			t.Errorf("the route before: %v", p)
		}
	}
}
