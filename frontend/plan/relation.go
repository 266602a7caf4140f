package plan

// RelationOf returns the relation of a collective over world ranks. n is the number of cells of a
// rank's input or output, whichever is larger. The name is canonical. RelationOf returns nil if it
// does not know the collective.
//
// The list has the contributions of output cell c of rank r. A block has b = n/world cells.
//
//	all_reduce      cell c of every rank
//	all_gather      cell c mod b of rank c/b
//	reduce_scatter  cell r*b + c of every rank
//	all_to_all      cell r*b + (c mod b) of rank c/b
//	broadcast       cell c of the root
//	reduce          r is the root: cell c of every rank; any other r: anything
//	gather          r is the root: cell c mod b of rank c/b; any other r: anything
//	scatter         cell r*b + c of the root
func RelationOf(name string, world, n, root int) *Relation {
	block := max(n/max(world, 1), 1)
	all := func(dst []Contribution, cell int) []Contribution {
		for q := range world {
			dst = append(dst, Contribution{Rank: q, Cell: cell})
		}
		return dst
	}
	rel := &Relation{Root: None}
	switch name {
	case "all_reduce":
		rel.Want = func(dst []Contribution, _, _, cell int) ([]Contribution, bool) { return all(dst, cell), true }
	case "all_gather":
		rel.Want = func(dst []Contribution, _, _, cell int) ([]Contribution, bool) {
			return append(dst, Contribution{Rank: cell / block, Cell: cell % block}), true
		}
	case "reduce_scatter":
		rel.Want = func(dst []Contribution, _, rank, cell int) ([]Contribution, bool) {
			return all(dst, rank*block+cell), true
		}
	case "all_to_all":
		rel.Want = func(dst []Contribution, _, rank, cell int) ([]Contribution, bool) {
			return append(dst, Contribution{Rank: cell / block, Cell: rank*block + cell%block}), true
		}
	case "broadcast":
		rel.Rooted = true
		rel.Want = func(dst []Contribution, root, _, cell int) ([]Contribution, bool) {
			return append(dst, Contribution{Rank: root, Cell: cell}), true
		}
	case "reduce":
		rel.Rooted = true
		rel.Want = func(dst []Contribution, root, rank, cell int) ([]Contribution, bool) {
			return all(dst, cell), rank == root
		}
	case "gather":
		rel.Rooted = true
		rel.Want = func(dst []Contribution, root, rank, cell int) ([]Contribution, bool) {
			return append(dst, Contribution{Rank: cell / block, Cell: cell % block}), rank == root
		}
	case "scatter":
		rel.Rooted = true
		rel.Want = func(dst []Contribution, root, rank, cell int) ([]Contribution, bool) {
			return append(dst, Contribution{Rank: root, Cell: rank*block + cell}), true
		}
	default:
		return nil
	}
	if rel.Rooted {
		rel.Root = root
	}
	return rel
}
