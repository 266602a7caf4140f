package algorithm

import (
	"kernbench/mem"
	"kernbench/tl"
)

// This file is what it takes for all ranks of a group to do the same. On rings nobody is first: each
// rank takes as many steps as the others, and what it does in one depends on others by lengths alone.

// IsAlike tells whether its kernel does the same on all ranks of each group, or of each of the kinds into which it
// sorts them.
func (a *Algorithm) IsAlike(groups []tl.Group) bool {
	for i := range groups {
		g := &groups[i]
		if a.Alike == nil || !evenly(&g.Args) {
			return false
		}
		if a.Alike(g) {
			continue
		}
		if a.Kinds != nil {
			g.Kinds = a.Kinds(g)
		}
		if g.Kinds == nil {
			return false
		}
	}
	return true
}

// evenly tells whether all ranks bring and get equally much, in one piece.
func evenly(a *tl.Args) bool {
	if a.InBlocks != nil || a.OutBlocks != nil {
		return false
	}
	for _, n := range a.OutElems {
		if n != a.OutElems[0] {
			return false
		}
	}
	return true
}

// wholeVectors is for ranks that all handle whole vectors, of any length.
func wholeVectors(*tl.Group) bool { return true }

// evenChunks tells whether a vector falls into a chunk for each rank, all of equal length.
func evenChunks(g *tl.Group) bool { return evenParts(g, 1) }

// evenHalves tells whether both halves of a vector do so.
func evenHalves(g *tl.Group) bool { return evenParts(g, 2) }

// evenParts tells it of so many parts: one more element in some of them is too much for their chunks.
func evenParts(g *tl.Group, parts int) bool { return g.Args.NElem%(parts*len(g.PEs)) == 0 }

// gathersAlike tells whether what a rank brings lies where its result has it, on all or on none.
func gathersAlike(g *tl.Group) bool {
	a := &g.Args
	outs := a.Outs
	if outs == nil {
		outs = a.Shards
	}
	bytes := mem.Addr(a.NElem * a.DType.Size())
	for r := range outs {
		if (outs[r]+mem.Addr(r)*bytes == a.Shards[r]) != (outs[0] == a.Shards[0]) {
			return false
		}
	}
	return true
}

// pairsAlike tells whether all have a partner in each dimension, with whom they exchange whole vectors.
func pairsAlike(g *tl.Group) bool { return nobodyFolds(len(g.PEs)) }

// halvesAlike tells whether they can give away one half after the other, of each of so many parts,
// until each has a chunk of its own.
func halvesAlike(g *tl.Group, parts int) bool {
	return pairsAlike(g) && evenSegments(&g.Args, 1, parts*len(g.PEs))
}

// evenSegments tells whether each of the parts that segments makes falls into so many equal chunks.
func evenSegments(a *tl.Args, most, chunks int) bool {
	per := segmentElems(a, most)
	return a.NElem%per%chunks == 0 && (a.NElem < per || per%chunks == 0)
}

// torusAlike tells whether all ranks find themselves in the same torus, and its extent.
func torusAlike(g *tl.Group) (w, h int, ok bool) {
	n := len(g.PEs)
	for r := range g.Wiring {
		south := r
		if i := g.Wiring[r].OutIndex(tl.South); i >= 0 {
			south = int(g.Wiring[r].Out[i].Peer)
		}
		if width := rowLength(r, south, n); r == 0 {
			w = width
		} else if width != w {
			return 0, 0, false
		}
	}
	if w == 0 || n%w != 0 {
		return 0, 0, false
	}
	return w, n / w, true
}

// gathersOnTorus is gathersAlike in a torus.
func gathersOnTorus(g *tl.Group) bool {
	_, _, ok := torusAlike(g)
	return ok && gathersAlike(g)
}
