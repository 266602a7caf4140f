package algorithm

import (
	"kernbench/tl"
)

// torusAllToAll passes blocks along one dimension of a torus after the other, from neighbour to
// neighbour, the short way around. If both ways are equally long, half of a block goes in each
// direction. Each block has a part for each dimension, which begins with that dimension. So all
// links are equally busy at the same time.
//
// The slot of a block in the result is a place of the torus. Along dimension k a rank gives the
// block with place x to the rank with that place. It gets the block that takes its slot from the
// same rank. So the result is its own buffer. Both directions of a dimension have equally many
// tiles, and take turns. A rank receives tile i after it has sent tile i both ways. So it has sent
// what it replaces.
//
// A rank sends while it holds slots that it received into, so n_slots must be at least 2.
func torusAllToAll(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	dims := levelCircles(c, &a)
	keep(c, a.OutBlock(me, a.NElem, n, me), a.InBlock(me, n, me))
	for phase := range dims {
		var all []*torusSwap
		for part := range dims {
			for _, west := range []bool{false, true} {
				all = append(all, newTorusSwap(c, a, dims, part, phase, west))
			}
		}
		for left := len(all); left > 0; {
			left = 0
			for _, s := range all {
				if s.step() {
					left++
				}
			}
		}
	}
}

// torusSwap exchanges one part of all blocks along a dimension in one direction.
type torusSwap struct {
	c        *tl.Context
	a        tl.Args
	dims     []levelCircle
	part, k  int // the part, and the dimension
	west     bool
	to, from tl.Dir
	done     []int // dimensions that the part has passed

	flight, per    int         // tiles that are in flight, and elements of one
	others         int         // blocks with one place along the dimension
	sent, received tileCourse  // how far it has come
	ahead          int         // tiles that are sent and not received
	hands          []tl.Tensor // tiles that are to be sent on
	own            []tl.Tensor // the next tile of this rank, if it is loaded
}

func newTorusSwap(c *tl.Context, a tl.Args, dims []levelCircle, part, phase int, west bool) *torusSwap {
	s := &torusSwap{c: c, a: a, dims: dims, part: part, k: (part + phase) % len(dims), west: west}
	for p := range phase {
		s.done = append(s.done, (part+p)%len(dims))
	}
	d := dims[s.k]
	s.to, s.from = eastOrWest(d, west), eastOrWest(d, !west)
	s.others = c.WorldSize() / d.n
	slots, slot := c.Slots()
	s.flight = max(1, slots/2)
	bytes := a.ChunkBytes
	if bytes == 0 {
		bytes = max(32<<10, 2*a.LatencyBytes/int64(s.flight))
	}
	bytes = min(bytes, slot, c.ScratchBytes()/int64(8*s.flight*len(dims)))
	s.per = max(1, int(bytes)/a.DType.Size())
	s.sent, s.received = tileCourse{s: s}, tileCourse{s: s}
	s.sent.next()
	s.received.next()
	return s
}

// most returns the distance of the farthest rank.
func (s *torusSwap) most() int { return s.dims[s.k].n / 2 }

// half reports whether ranks at a distance are as far in the opposite direction.
func (s *torusSwap) half(distance int) bool { return 2*distance == s.dims[s.k].n }

// tiles returns the number of tiles of each block for a distance: those of the longest one.
func (s *torusSwap) tiles(distance int) int {
	elems := tl.CDiv(tl.CDiv(s.a.NElem, s.c.WorldSize()), len(s.dims))
	if s.half(distance) {
		elems = tl.CDiv(elems, 2)
	}
	return tl.CDiv(elems, s.per)
}

// tileCourse lists the tiles of a direction as they pass a link. Tiles of ranks at one distance go
// in groups, which take all their hops together before the next group begins.
type tileCourse struct {
	s                        *torusSwap
	distance, hop            int // hop counts from 1
	first, place, group, all int // first tile and place in a group, tiles of the group and of all
}

// next moves to the next tile and reports whether there is one.
func (t *tileCourse) next() {
	if t.place++; t.place < t.group {
		return
	}
	t.place = 0
	if t.hop++; t.hop <= t.distance && t.group > 0 {
		return
	}
	t.hop = 1
	for t.first += t.group; t.first >= t.all && !t.end(); {
		t.distance++
		t.first, t.all = 0, 0
		if !t.end() {
			t.all = t.s.others * t.s.tiles(t.distance)
		}
	}
	t.group = min(t.s.flight, t.all-t.first)
}

// end reports whether there are no more tiles.
func (t *tileCourse) end() bool { return t.distance > t.s.most() }

// tile returns the current tile of the block that is hops places ahead along the dimension.
func (t *tileCourse) tile(hops int, in func(rank int) tl.Ref) tl.Ref {
	s := t.s
	per := s.tiles(t.distance)
	i, rank, stride := (t.first+t.place)/per, 0, 1
	for k, d := range s.dims {
		at := (d.me + hops + 2*d.n) % d.n
		if k != s.k {
			at = i % d.n
			i /= d.n
		}
		rank += at * stride
		stride *= d.n
	}
	block := in(rank).Chunk(len(s.dims), s.part)
	if s.half(t.distance) {
		half := 0
		if s.west {
			half = 1
		}
		block = block.Chunk(2, half)
	}
	lo := min((t.first+t.place)%per*s.per, block.Len())
	return block.Slice(lo, min(s.per, block.Len()-lo))
}

// forward returns a number of hops in the direction of the exchange.
func (s *torusSwap) forward(hops int) int {
	if s.west {
		return -hops
	}
	return hops
}

// held returns where this rank has a block: in the result, once it has come along a dimension.
func (s *torusSwap) held(rank int) tl.Ref {
	me, n := s.c.Rank(), s.c.WorldSize()
	stride := 1
	for k, d := range s.dims {
		for _, done := range s.done {
			if done == k && rank/stride%d.n != d.me {
				return s.a.OutBlock(me, s.a.NElem, n, rank)
			}
		}
		stride *= d.n
	}
	return s.a.InBlock(me, n, rank)
}

func (s *torusSwap) kept(rank int) tl.Ref {
	return s.a.OutBlock(s.c.Rank(), s.a.NElem, s.c.WorldSize(), rank)
}

// step sends a tile, after it has received what that takes. It reports whether more is left.
func (s *torusSwap) step() bool {
	if s.sent.end() {
		if s.ahead > 0 {
			s.receive()
		}
		return s.ahead > 0
	}
	for s.ahead == s.flight || s.sent.hop > 1 && len(s.hands) == 0 {
		s.receive()
	}
	var v tl.Tensor
	if s.sent.hop > 1 {
		v, s.hands = s.hands[0], s.hands[1:]
	} else {
		s.load()
		v, s.own = s.own[0], nil
	}
	s.c.Send(s.to, v)
	s.c.Free(v)
	s.ahead++
	s.sent.next()
	if !s.sent.end() && s.sent.hop == 1 {
		s.load()
	}
	return true
}

// load starts to load the tile that is sent next.
func (s *torusSwap) load() {
	if s.own == nil {
		s.own = []tl.Tensor{s.c.Load(s.sent.tile(s.forward(s.sent.distance), s.held))}
	}
}

// receive stores a tile that is for this rank, and holds any other until it is sent on.
func (s *torusSwap) receive() {
	t := &s.received
	to := t.tile(-s.forward(t.distance), s.kept)
	v := s.c.Recv(s.from, to.Shape, to.DType)
	if t.hop == t.distance {
		s.c.Store(to, v)
		s.c.Free(v)
	} else {
		s.hands = append(s.hands, v)
	}
	s.ahead--
	t.next()
}

// TorusAllToAll uses all links of a torus of any number of dimensions.
var TorusAllToAll = Register(Algorithm{
	Name:       "torus_all_to_all",
	Summary:    "each block has a part for each level of the machine, which goes along that level's rings first, in both directions, and then along the others: all links of a torus are busy",
	Collective: "all_to_all",
	Topology:   "hierarchical",
	Kernel:     torusAllToAll,
	Check:      equalBlocks,
	Constraint: "elements a multiple of N",
	MinSlots:   2,
	Pipelined:  true,
	Steps:      "sum(n_k / 2) over the levels, in tiles",
	Cost:       "sum(n_k / 2) alpha + beta M max(n_k)/8 for even n_k, on a torus of D dimensions: M sum(n_k)/4 bytes per rank",
	Source:     "by dimension and from neighbour to neighbour: Suh, Shin, All-to-all personalized communication in multidimensional torus and mesh networks, IEEE Trans. Parallel Distrib. Syst. 12(1), 2001",
})
