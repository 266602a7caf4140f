package plan

// RelationOf returns the relation of a collective over world ranks whose buffers have n cells in
// all: n is the larger of input and output. The name is canonical. It returns nil if there is no
// such collective here.
//
//	all_reduce      every rank's cell c: cell c of all inputs
//	all_gather      cell c: cell c mod n/world of rank c / (n/world)
//	reduce_scatter  cell c of rank r: cell r*n/world + c of all inputs
//	all_to_all      cell c of rank r: cell r*n/world + c mod n/world of rank c / (n/world)
//	broadcast       cell c: cell c of the root
//	reduce          cell c of the root: cell c of all inputs; other ranks hold anything
//	gather          cell c of the root: as all_gather; other ranks hold anything
//	scatter         cell c of rank r: cell r*n/world + c of the root
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
