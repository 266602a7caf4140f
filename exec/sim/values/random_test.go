package values_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/tl"
)

// directed is a random kernel. Every rank does the same, but where its accesses and operands
// begin; a few kernels have ranks that do more. Messages are received in the order in which they
// were sent, by all.
type directed struct {
	seed     uint64
	steps    int
	unlike   bool // ranks may differ in arithmetic
	anything bool // operations that no lockstep knows
}

// sent is a payload in flight.
type sent struct {
	n int
	t dtype.Type
}

type state struct {
	c    *tl.Context
	a    tl.Args
	all  *rand.Rand // the same on all ranks
	own  *rand.Rand
	live []tl.Tensor
	lent map[tl.Dir]tl.Tensor
	ways map[tl.Dir][]sent
}

var opposite = map[tl.Dir]tl.Dir{tl.East: tl.West, tl.West: tl.East}

func (k *directed) kernel(c *tl.Context, a tl.Args) {
	s := &state{
		c: c, a: a, all: rand.New(rand.NewPCG(k.seed, 1)), own: rand.New(rand.NewPCG(k.seed, uint64(10+c.Rank()))),
		lent: map[tl.Dir]tl.Tensor{}, ways: map[tl.Dir][]sent{},
	}
	for range k.steps {
		if k.step(s); k.unlike && s.own.IntN(8) == 0 {
			c.Store(s.place(4), c.Neg(c.Load(s.place(4))))
		}
	}
	for _, d := range []tl.Dir{tl.East, tl.West} {
		for len(s.ways[d]) > 0 {
			s.receive(d)
		}
	}
	for _, t := range s.live {
		c.Store(s.place(t.Len()), t)
	}
}

// place is n elements of the shard, from where the rank likes.
func (s *state) place(n int) tl.Ref { return mine(s.c, s.a).Slice(s.own.IntN(elems-n+1), n) }

// tensor is one that is alive, of at least 4 elements.
func (s *state) tensor() tl.Tensor {
	if len(s.live) == 0 {
		s.live = append(s.live, s.c.Load(s.place(12)))
	}
	return s.live[s.all.IntN(len(s.live))]
}

// part is n elements of a tensor: from the same one on, on all ranks, or from where each likes.
func (s *state) part(t tl.Tensor, n int) tl.Tensor {
	from := s.all.IntN(t.Len() - n + 1)
	if s.all.IntN(2) == 0 {
		from = s.own.IntN(t.Len() - n + 1)
	}
	return t.Slice(from, n)
}

func (s *state) some(t tl.Tensor) int { return 4 + s.all.IntN(t.Len()-3) }

func (s *state) receive(d tl.Dir) {
	p := s.ways[d][0]
	s.ways[d] = s.ways[d][1:]
	if t, ok := s.lent[d]; ok {
		s.live = slices.DeleteFunc(s.live, func(o tl.Tensor) bool { return o == t })
	}
	t := s.c.Recv(d, tl.Dims(p.n), p.t)
	delete(s.lent, d)
	if p.n*p.t.Size() <= 64 {
		s.lent[d] = t
	}
	if p.n >= 4 {
		s.live = append(s.live, t)
	}
}

func (k *directed) step(s *state) {
	c, kinds := s.c, 9
	if k.anything {
		kinds = 13
	}
	d := []tl.Dir{tl.East, tl.West}[s.all.IntN(2)]
	switch s.all.IntN(kinds) {
	case 0:
		s.live = append(s.live, c.Load(s.place(4+s.all.IntN(20))))
	case 1, 2:
		x, y := s.tensor(), s.tensor()
		n := min(s.some(x), y.Len())
		s.live = append(s.live, c.Combine([]tl.ReduceOp{tl.Sum, tl.Max, tl.Min}[s.all.IntN(3)], s.part(x, n), s.part(y, n)))
	case 3:
		x := s.tensor()
		s.live = append(s.live, c.Scale(dtype.Div, s.part(x, s.some(x)), float64(1+s.all.IntN(9))))
	case 4:
		x := s.tensor()
		n := s.some(x)
		c.Store(s.place(n), s.part(x, n))
	case 5, 6:
		if len(s.ways[opposite[d]]) >= 3 { // of two slots each
			return
		}
		x, n := s.tensor(), 0
		if s.all.IntN(3) > 0 {
			if n = s.some(x); s.all.IntN(9) == 0 {
				n = 0
			}
			c.Send(d, s.part(x, n))
		} else {
			n = s.all.IntN(30)
			c.SendRef(d, s.place(n))
		}
		s.ways[opposite[d]] = append(s.ways[opposite[d]], sent{n, s.a.DType})
	case 7, 8:
		if len(s.ways[d]) > 0 {
			s.receive(d)
		}
	case 9:
		x := s.tensor()
		s.live = append(s.live, c.FMA(s.part(x, 4), s.part(x, 4), s.part(x, 4)))
	case 10:
		s.live = append(s.live, c.Full(tl.Dims(5), s.a.DType, float64(s.all.IntN(5))))
	case 11:
		from, n := s.own.IntN(20), 4+s.all.IntN(24)
		c.Store(over(c, s.a, s.own.IntN(20), n), c.Load(over(c, s.a, from, n)))
	case 12:
		d := c.Desc(mine(c, s.a), 6, 8, 3, 4)
		s.live = append(s.live, c.Max(c.LoadTile(d, s.own.IntN(4), s.own.IntN(5)), 0))
	}
}

// TestRandomValues: random programs have the same data in lockstep, in turns and without a clock.
// This holds whatever part of its memory and its tensors each rank uses.
func TestRandomValues(t *testing.T) {
	for seed := range uint64(250) {
		d := rand.New(rand.NewPCG(seed, 2))
		k := &directed{seed: seed, steps: 5 + d.IntN(40), unlike: d.IntN(4) == 0, anything: d.IntN(4) == 0}
		worlds := [][]int{{8}, {11}, {9, 3, 8}, {5}}[d.IntN(4)]
		l := ring(k.kernel, []dtype.Type{dtype.F32, dtype.F16, dtype.I32}[d.IntN(3)], worlds...)
		if what := sameThreeWays(t, l); what != "" {
			t.Fatalf("%+v, worlds %v: %s", *k, worlds, what)
		}
	}
}
