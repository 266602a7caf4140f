package bound

import (
	"math"

	"kernbench/unit"
)

// Pipeline describes an algorithm on rings that sends a vector, in pieces, from rank to rank. A
// rank sends a piece on when it has all of it.
type Pipeline struct {
	Ranks []int // ranks that every piece passes
	Parts int   // of the vector, each with its own path; 0: one
	Piece int64 // bytes of a piece as they are set; 0: not known
}

// stages holds what limits a pipeline. Times are picoseconds, slopes picoseconds per byte.
type stages struct {
	bytes float64
	ideal bool    // neither pieces nor the slots of one piece share links
	slot  float64 // bytes of the largest
	delay float64 // of all hops together, with a receive in each, and of the memories at both ends
	hop   float64 // the longest of those
	recv  float64 // of a receive, in which all but the first part of a piece can come
	turn  float64 // least time of a rank in the middle for each piece
	all   slopes  // of all hops
	inner slopes  // without the first and the last
	ends  float64 // the smaller of those two
	most  float64 // the largest
}

// slopes are the slopes of some hops, and the number of hops with each.
type slopes []struct {
	slope float64
	hops  int
}

func (s *slopes) add(slope float64) {
	for i := range *s {
		if (*s)[i].slope == slope {
			(*s)[i].hops++
			return
		}
	}
	*s = append(*s, struct {
		slope float64
		hops  int
	}{slope, 1})
}

// beyond returns the time by which bytes take longer than a receive, over all hops.
func (s slopes) beyond(bytes, recv float64) (sum float64) {
	for _, one := range s {
		sum += float64(one.hops) * max(0, bytes*one.slope-recv)
	}
	return sum
}

// pipeline: an algorithm that sends a vector along a chain, in pieces of any size. With the largest
// piece of c bytes, of M, there are M/c or more of them, and
//
//   - other pieces leave the first rank before that piece and enter the last rank after it, and the
//     piece itself passes every hop: delays + c · slopes + (M-c) · a slope at the ends;
//   - ranks in the middle take a turn with each of the other pieces, before or after it:
//     delays + c · slopes in the middle + (M/c-1) · turn;
//   - all bytes pass the slowest hop: delays + M · slope.
//
// A receive ends when it has taken its time and all has come, whichever is later. The highest of
// the three is least for some c. That is the limit for any pieces.
func (s *Solver) pipeline(d *demand, size int64, o *Options) Bound {
	b := Bound{Kind: Pipelined}
	if o.Pipeline == nil || len(o.Pipeline.Ranks) < 2 || d.pattern == nothing || d.pattern == meeting {
		return b
	}
	p := o.Pipeline
	bytes := int64(d.elems/max(1, p.Parts)) * size
	w, ok := s.stagesOf(p.Ranks, o)
	if !ok || bytes == 0 {
		return b
	}
	w.bytes = float64(bytes)
	c := w.best(float64(size))
	b.Time = whole(w.at(c))
	b.Witness = Witness{
		Bytes: bytes, Ranks: p.Ranks, Hop: unit.Time(w.hop), Turn: unit.Time(w.turn), Piece: int64(math.Round(c)), Taken: p.Piece,
	}
	return b
}

// whole rounds a time down to picoseconds, with a margin for the error of floating point.
func whole(t float64) unit.Time { return unit.Time(max(0, t*(1-1e-12)-1)) }

// stagesOf adds up the hops between ranks. It returns false if a ring is missing.
func (s *Solver) stagesOf(ranks []int, o *Options) (stages, bool) {
	w := stages{ideal: o.Ideal, recv: float64(s.costs.recv)}
	for i := range ranks[1:] {
		var ring *Ring
		for k := range o.Rings {
			if c := &o.Rings[k]; c.From == ranks[i] && c.To == ranks[i+1] && (ring == nil || c.Delay < ring.Delay) {
				ring = c
			}
		}
		if ring == nil || ring.Rate <= 0 {
			return w, false
		}
		w.slot = max(w.slot, float64(ring.SlotBytes))
		w.add(float64(s.costs.hop(ring, 0)), float64(unit.Second)/float64(ring.Rate), i == 0, i == len(ranks)-2)
	}
	if len(ranks) > 2 {
		w.turn = float64(2*s.costs.issue + s.costs.send + s.costs.recv)
	}
	first, last := s.g.access[ranks[0]], s.g.access[ranks[len(ranks)-1]]
	w.delay += float64(first + last)
	return w, true
}

// add counts a hop.
func (w *stages) add(delay, slope float64, first, last bool) {
	w.hop, w.delay, w.most = max(w.hop, delay), w.delay+delay, max(w.most, slope)
	w.all.add(slope)
	switch {
	case first:
		w.ends = slope
	case last:
		w.ends = min(w.ends, slope)
	default:
		w.inner.add(slope)
	}
}

// at returns the limit for a largest piece of c bytes.
func (w *stages) at(c float64) float64 {
	together := c // what of a piece comes one byte after the other
	if w.ideal {
		together = min(c, w.slot)
	}
	whole := w.delay + w.all.beyond(together, w.recv)
	turns := w.delay + w.inner.beyond(together, w.recv) + (w.bytes/c-1)*w.turn
	if w.ideal {
		return max(whole, turns)
	}
	return max(whole+(w.bytes-c)*w.ends, turns, w.delay-w.recv+w.bytes*w.most)
}

// best returns the largest piece with the least limit. The limit is convex, in ideal up to a slot;
// beyond that the fewest pieces are best.
func (w *stages) best(least float64) float64 {
	low, high := min(least, w.bytes), w.bytes
	if w.ideal {
		high = min(high, max(low, w.slot))
	}
	for range 200 {
		a, b := low+(high-low)/3, high-(high-low)/3
		if w.at(a) < w.at(b) {
			high = b
		} else {
			low = a
		}
	}
	if w.at(w.bytes) < w.at(high) {
		return w.bytes
	}
	return high
}
