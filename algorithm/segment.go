package algorithm

import (
	"iter"

	"kernbench/mem"
	"kernbench/tl"
)

// segmentBytes is the longest vector, or for some algorithms the longest chunk, that an all-reduce
// on rings takes at once. A few of that size fit in a PE's scratch memory.
const segmentBytes = 128 << 10

// segments cuts a rank's vector, and the place of the result with it, into parts that are reduced
// one after the other. Each has at most the bytes of some segments.
func segments(a *tl.Args, rank, most int) iter.Seq2[tl.Ref, tl.Ref] {
	mine, out := a.Shard(rank), a.Out(rank, a.NElem)
	per := segmentElems(a, most)
	return func(yield func(mine, out tl.Ref) bool) {
		for lo := 0; lo < a.NElem; lo += per {
			n := min(per, a.NElem-lo)
			if !yield(mine.Slice(lo, n), out.Slice(lo, n)) {
				return
			}
		}
	}
}

// segmentElems returns the number of elements that most segments hold.
func segmentElems(a *tl.Args, most int) int { return most * segmentBytes / a.DType.Size() }

// chunksInMemory returns what a rank brings to each of n chunks, when that lies in memory.
func chunksInMemory(c *tl.Context, v tl.Ref, n int) func(k int) tl.Tensor {
	return func(k int) tl.Tensor { return c.Load(v.Chunk(n, k)) }
}

// chunksInHand returns what a rank brings to each of n chunks, when it has that in hand.
func chunksInHand(t tl.Tensor, n int) func(k int) tl.Tensor {
	return func(k int) tl.Tensor {
		chunk := mem.ChunkOf(t.Len(), n, k)
		return t.Slice(chunk.Lo, chunk.N)
	}
}
