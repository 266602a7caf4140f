package algorithm

import "kernbench/tl"

// This file is shared by rings and trees that run on several channels side by side. Each channel
// has a share of the vector, and an order of ranks of its own: see tl.Rails. Without rails one
// channel has the whole vector, in the order of ranks.

// channel is the one that a kernel runs.
type channel struct {
	rails  tl.Rails
	number int
	me, n  int // this rank's place in the order of the channel, of n places
}

func channelOf(c *tl.Context, a *tl.Args) channel {
	h := channel{rails: a.Rails, number: c.Channel(), n: c.WorldSize()}
	h.me = h.rails.Place(c.Rank(), h.number)
	return h
}

// rank returns the rank at a place.
func (h *channel) rank(place int) int { return h.rails.Rank(place, h.number) }

// share returns the channel's part of a vector.
func (h *channel) share(v tl.Ref) tl.Ref {
	if h.rails.Count <= 1 {
		return v
	}
	return v.Chunk(h.rails.Count, h.number)
}

// largest returns the number of elements in the largest share of n elements.
func (h *channel) largest(n int) int { return tl.CDiv(n, max(1, h.rails.Count)) }

// blocks returns the channel's part of each of n equal blocks of a vector, one for each rank, by
// place.
func (h *channel) blocks(v tl.Ref) func(place int) tl.Ref {
	of := v.Split(h.n)
	return func(place int) tl.Ref { return h.share(of.Chunk(h.rank(place))) }
}
