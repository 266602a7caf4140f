package collective

import "kernbench/unit"

// AllToAllV is AllToAll with blocks of different sizes: Call.Counts[r][d] elements go from rank r
// to rank d. A rank's contribution is ordered by receiver, and its result by sender. Without counts
// all blocks are of Elems/World elements.
var AllToAllV = register(Collective{
	Name:    "all_to_all_v",
	Summary: "rank r ends with every rank's block for it, in rank order; the sizes of blocks differ from pair to pair",
	Blocks:  true,
	Counted: true,
	Apart:   true,
	In: func(c Call, rank int) int {
		n := 0
		for d := range c.World {
			n += c.count(rank, d)
		}
		return n
	},
	Out: func(c Call, rank int) int {
		n := 0
		for r := range c.World {
			n += c.count(r, rank)
		}
		return n
	},
	Parts: func(dst []Part, c Call, rank int) []Part {
		for r := range c.World {
			base := 0
			for d := range rank {
				base += c.count(r, d)
			}
			dst = append(dst, Part{N: c.count(r, rank), From: onlyRank(r), Base: int64(base)})
		}
		return dst
	},
	Demand: func(c Call) unit.Bytes {
		n := 0
		for r := range c.World {
			for d := range c.World {
				if d != r {
					n += c.count(r, d)
				}
			}
		}
		return c.bytes(n)
	},
	BusFactor: func(n int) float64 { return float64(n-1) / float64(n) },

	NCCL: "alltoallv",
	Task: "AlltoAllV",
})

// count returns the number of elements that go from rank r to rank d.
func (c Call) count(r, d int) int {
	if c.Counts == nil {
		return c.Elems / c.World
	}
	return c.Counts[r][d]
}
