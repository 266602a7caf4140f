package plan

import (
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
)

// A relation means what the row of its collective does: it is written twice, by cells here, and by
// parts of outputs there.
func TestRelationsMeanWhatRowsDo(t *testing.T) {
	seen := 0
	for _, co := range collective.All() {
		if RelationOf(co.Name, 2, 2, 0) == nil {
			continue
		}
		seen++
		for world := 1; world <= 5; world++ {
			for root := range world {
				n := 3 * world // cells of the larger buffer
				c := collective.Call{World: world, Elems: n, Type: dtype.F32, Root: root}
				if co.Out(c, root) > n {
					c.Elems = n / world
				}
				if err := co.Check(c); err != nil {
					t.Fatal(err)
				}
				r := RelationOf(co.Name, world, n, root)
				if r.Rooted != co.Rooted {
					t.Fatalf("%s: rooted: %v, in the row %v", co.Name, r.Rooted, co.Rooted)
				}
				for rank := range world {
					compare(t, co, c, r, rank)
				}
			}
		}
	}
	if seen != 8 {
		t.Errorf("%d relations were compared, want 8", seen)
	}
}

// compare compares what a rank ends with.
func compare(t *testing.T, co *collective.Collective, c collective.Call, r *Relation, rank int) {
	t.Helper()
	cell := 0
	for _, p := range co.Parts(nil, c, rank) {
		for j := range p.N {
			var want []Contribution
			for i := range p.From.N {
				want = append(want, Contribution{Rank: p.From.At(i), Cell: int(p.Base) + j})
			}
			got, known := r.Want(nil, c.Root, rank, cell)
			slices.SortFunc(want, Contribution.Compare)
			slices.SortFunc(got, Contribution.Compare)
			if !known || !slices.Equal(got, want) {
				t.Fatalf("%s of %d ranks, root %d: cell %d of rank %d collects %v (known: %v), in the row %v",
					co.Name, c.World, c.Root, cell, rank, got, known, want)
			}
			cell++
		}
	}
	if cell != co.Out(c, rank) {
		t.Fatalf("%s: rank %d has %d cells in parts, and %d in all", co.Name, rank, cell, co.Out(c, rank))
	}
	if _, known := r.Want(nil, c.Root, rank, 0); known != (cell > 0) {
		t.Errorf("%s: rank %d holds something known: %v, and ends with %d cells", co.Name, rank, known, cell)
	}
}
