package algorithm

import (
	"encoding/binary"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// This file sorts ranks into kinds, where a vector does not fall into equal chunks: what a rank does
// depends on its place only where it has more or less than its neighbours. Of 65,536 ranks that share
// 8,192 elements, level by level, most levels make no difference.

// sortRanks gives ranks of which the same is to be said the same kind; nil where most have one of their own.
func sortRanks(ranks int, say func(said []byte, rank int) []byte) []int32 {
	known := map[string]int32{}
	kinds := make([]int32, ranks)
	var said []byte
	for r := range kinds {
		said = say(said[:0], r)
		k, ok := known[string(said)]
		if !ok {
			k = int32(len(known))
			known[string(said)] = k
			if len(known) > ranks/2 {
				return nil
			}
		}
		kinds[r] = k
	}
	return kinds
}

// halfKept says which half of its part a rank keeps in a dimension, of so many.
type halfKept func(rank, k, dims int) int

// kindsOfHalves sorts ranks that give away one half after the other, of a part of the vector for each way of doing so,
// by the halves that they keep of what does not fall into equal ones, which is less and less; nil where somebody folds.
func kindsOfHalves(g *tl.Group, ways ...halfKept) []int32 {
	if !pairsAlike(g) {
		return nil
	}
	per, all := segmentElems(&g.Args, 1), g.Args.NElem
	_, dims := topology.Fold(len(g.PEs))
	return sortRanks(len(g.PEs), func(said []byte, rank int) []byte {
		for lo := 0; lo < all; lo += per {
			n := min(per, all-lo)
			if lo > 0 && n == per {
				continue // like the first
			}
			for i, half := range ways {
				said = keptHalves(said, mem.ChunkOf(n, len(ways), i).N, rank, dims, half)
			}
		}
		return said
	})
}

// keptHalves says which halves a rank keeps of n elements, where they are not equal.
func keptHalves(said []byte, n, rank, dims int, half halfKept) []byte {
	for k := range dims {
		kept := half(rank, k, dims)
		if n%2 > 0 {
			said = append(said, byte(kept))
		}
		n = (n + 1 - kept) / 2
	}
	return said
}

// partsByLevel are the parts of a vector that go through the rings of all levels.
type partsByLevel func(a *tl.Args, dims []levelCircle) []*bucketPart

// ringsOf are the rings of all levels; ok is false where those of one level are not equally long.
func ringsOf(g *tl.Group) (dims []levelCircle, ok bool) {
	ranks := 1
	for k, n := range topology.LevelsOf(len(g.PEs), g.Args.Levels) {
		dims = append(dims, levelCircle{level: k, n: n})
		ranks *= n
	}
	return dims, ranks == len(g.PEs)
}

// evenLevels tells whether all rings of a level are equally long, and all parts fall into equal chunks on each.
func evenLevels(g *tl.Group, parts partsByLevel) bool {
	dims, ok := ringsOf(g)
	return ok && (len(dims) == 0 || evenParts(g, len(parts(&g.Args, dims))))
}

// kindsByLevels sorts ranks by their places in those rings on which what there is does not fall into equal chunks.
func kindsByLevels(g *tl.Group, parts partsByLevel) []int32 {
	dims, ok := ringsOf(g)
	if !ok || len(dims) == 0 {
		return nil
	}
	all := parts(&g.Args, dims)
	return sortRanks(len(g.PEs), func(said []byte, rank int) []byte {
		stand(dims, rank)
		for i, p := range all {
			n := mem.ChunkOf(g.Args.NElem, len(all), i).N
			for k := range dims {
				d := p.circle(k)
				if n%d.n > 0 {
					said = binary.AppendUvarint(said, uint64(d.me))
				}
				n = mem.ChunkOf(n, d.n, (d.me+1)%d.n).N
			}
		}
		return said
	})
}
