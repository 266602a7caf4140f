package collective

import (
	"fmt"
	"math"

	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

// Call is one call of a collective, with its parameters.
type Call struct {
	World int         // ranks that take part
	Elems int         // elements that each rank brings (broadcast, scatter: that the root brings)
	Type  dtype.Type  // of an element
	Op    tl.ReduceOp // for collectives that reduce
	Root  int         // for collectives that have one

	// Counts are the elements that go from each rank, its row, to each, for collectives whose
	// blocks differ. Nil: they are equal, Elems/World.
	Counts [][]int

	// Labels names the ranks in provenance: rank r's contributions carry the label
	// Labels.At(r). The zero value means that ranks carry their own number. Groups that
	// run side by side (one per shard) get disjoint labels, so that data of one group in
	// another is found.
	Labels Ranks
}

// Ranks is an arithmetic sequence of N ranks: First, First+Stride, ... A Stride of 0
// counts as 1.
type Ranks struct {
	First, N, Stride int
}

// At returns the i-th rank of the sequence.
func (r Ranks) At(i int) int { return r.First + i*max(r.Stride, 1) }

// Part is a range of a rank's output whose elements have contributors of one form. Element j
// collects (rank, Base+j) for each rank of From, once each.
type Part struct {
	N    int
	From Ranks
	Base int64
}

// Check returns an error if co cannot be called with these parameters.
func (co *Collective) Check(c Call) error {
	switch {
	case c.World < 1:
		return fmt.Errorf("%s of %d ranks: at least one must take part", co.Name, c.World)
	case c.Elems < 0:
		return fmt.Errorf("%s of %d elements: the number cannot be negative", co.Name, c.Elems)
	case c.Type.Size() == 0:
		return fmt.Errorf("%s: no element type given", co.Name)
	case !co.Counted && c.Counts != nil:
		return fmt.Errorf("%s with counts for each pair of ranks: its blocks are equal", co.Name)
	case co.Blocks && c.Counts == nil && c.Elems%c.World != 0:
		return fmt.Errorf("%s of %d elements among %d ranks: each rank gets a block of the same size, so the number must be a multiple of the ranks",
			co.Name, c.Elems, c.World)
	case co.Rooted && (c.Root < 0 || c.Root >= c.World):
		return fmt.Errorf("%s with root %d: the ranks are 0 to %d", co.Name, c.Root, c.World-1)
	case co.Reduces && int(c.Op) >= len(tl.ReduceOps()):
		return fmt.Errorf("%s: unknown reduction %v", co.Name, c.Op)
	}
	return co.checkCounts(c)
}

// checkCounts reports whether there is a count for each pair of ranks.
func (co *Collective) checkCounts(c Call) error {
	if c.Counts == nil {
		return nil
	}
	if len(c.Counts) != c.World {
		return fmt.Errorf("%s of %d ranks with %d rows of counts: each rank has one", co.Name, c.World, len(c.Counts))
	}
	left := math.MaxInt
	for r, row := range c.Counts {
		if len(row) != c.World {
			return fmt.Errorf("%s of %d ranks: rank %d has %d counts: one for each rank", co.Name, c.World, r, len(row))
		}
		for d, n := range row {
			if n < 0 {
				return fmt.Errorf("%s: rank %d sends %d elements to rank %d: the number cannot be negative", co.Name, r, n, d)
			}
			if n > left {
				return fmt.Errorf("%s: rank %d sends %d elements to rank %d: that is more elements than a call can have", co.Name, r, n, d)
			}
			left -= n
		}
	}
	return nil
}

// label returns the rank that provenance has for contributions of r.
func (c Call) label(r int) int {
	return c.Labels.At(r)
}

// labels returns the labels of some ranks.
func (c Call) labels(r Ranks) Ranks {
	return Ranks{First: c.label(r.First), N: r.N, Stride: max(r.Stride, 1) * max(c.Labels.Stride, 1)}
}

// bytes returns the size of n elements.
func (c Call) bytes(n int) unit.Bytes { return unit.Bytes(n) * unit.Bytes(c.Type.Size()) }

// Bytes returns the size of a call as nccl-tests defines it, the numerator of algbw. It is the
// larger of a rank's contribution and result, over all ranks. A row may define it otherwise.
func (co *Collective) Bytes(c Call) unit.Bytes {
	if co.Size != nil {
		return co.Size(c)
	}
	most := max(co.In(c, c.Root), co.Out(c, c.Root))
	if c.Counts != nil {
		for r := range c.World {
			most = max(most, co.In(c, r), co.Out(c, r))
		}
	}
	return c.bytes(most)
}

// Own appends the provenance of rank's own input to dst.
func (co *Collective) Own(h *Hasher, dst Prov, c Call, rank int) Prov {
	return h.Own(dst, c.label(rank), 0, co.In(c, rank))
}
