package tl

import (
	"slices"

	"kernbench/mem"
)

// Like tells whether two groups of a launch are told the same, rank by rank, but for the PEs that they are on: then they
// do the same where all ranks of a group do (Alike). Memory that each rank names lies in the same place of its own PE.
func (l *Launch) Like(g, o *Group) bool {
	a, b := &g.Args, &o.Args
	switch {
	case len(g.PEs) != len(o.PEs), g.PEsPerCube != o.PEsPerCube, !slices.Equal(g.Kinds, o.Kinds), !wiredLike(g.Wiring, o.Wiring),
		a.Op != b.Op, a.DType != b.DType, a.NElem != b.NElem, a.ChunkBytes != b.ChunkBytes, a.LatencyBytes != b.LatencyBytes,
		!slices.Equal(a.Tensors, b.Tensors), !slices.Equal(a.Ints, b.Ints), !slices.Equal(a.OutElems, b.OutElems), !slices.Equal(a.Levels, b.Levels),
		!slices.Equal(a.InBlocks, b.InBlocks), !slices.Equal(a.OutBlocks, b.OutBlocks),
		a.Windows != nil, b.Windows != nil, a.Uses != nil, b.Uses != nil, // of each group its own
		len(a.Shards) != len(b.Shards), len(a.Outs) != len(b.Outs):
		return false
	}
	for r := range a.Shards {
		if !l.placedLike(g, o, r, a.Shards[r], b.Shards[r]) {
			return false
		}
	}
	for r := range a.Outs {
		if r < len(a.Shards) && a.Outs[r]-a.Shards[r] != b.Outs[r]-b.Shards[r] || !l.placedLike(g, o, r, a.Outs[r], b.Outs[r]) {
			return false
		}
	}
	return true
}

// placedLike tells whether rank r of two groups has an address, each its own, in the same place of its PE.
func (l *Launch) placedLike(g, o *Group, r int, a, b mem.Addr) bool {
	if r >= len(g.PEs) {
		return a == b
	}
	p, q := int(g.PEs[r]), int(o.PEs[r])
	pa, n, _ := l.Addrs.Resolve(p, a) // where nothing is, it is not in HBM
	pb, k, _ := l.Addrs.Resolve(q, b)
	return pa.Space() == mem.HBM && pb.Space() == mem.HBM && pa.Unit() == p && pb.Unit() == q && pa.Offset() == pb.Offset() && n == k
}

// wiredLike tells whether the ranks of two groups have the same rings, to the same ranks of their own.
func wiredLike(a, b []Wiring) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return slices.EqualFunc(a, b, func(v, w Wiring) bool { return slices.Equal(v.Out, w.Out) && slices.Equal(v.In, w.In) })
}
