package bound

import (
	"math"

	"kernbench/unit"
)

// Pipeline is how an algorithm on rings brings a vector, in pieces, through the ranks one after
// the other: what a rank has of a piece it hands on when it has all of it.
type Pipeline struct {
	Ranks []int // that every piece passes
	Parts int   // of the vector, each with a way of its own; 0: one
	Piece int64 // bytes of a piece as they are set; 0: not known
}

// way is what limits a pipeline. Times are picoseconds, slopes picoseconds per byte.
type way struct {
	bytes float64
	ideal bool      // pieces do not share links
	delay float64   // of all hops together, and of the memories at both ends
	hop   unit.Time // the longest of those
	turn  float64   // that a rank in the middle has with each piece, at least
	all   float64   // slope of all hops together
	inner float64   // without the first and the last
	ends  float64   // the smaller of those two
	most  float64   // the largest
}

// pipeline: an algorithm that sends a vector along a chain, in pieces of any size. With the largest
// piece of c bytes, of M, there are M/c or more of them, and
//
//   - before that piece other ones leave the first rank, behind it other ones enter the last, and it
//     itself passes every hop: delays + c · slopes + (M-c) · a slope at the ends;
//   - ranks in the middle take a turn with each of the others, before it or behind it:
//     delays + c · slopes in the middle + (M/c-1) · turn;
//   - all bytes pass the slowest hop: delays + M · slope.
//
// The highest of the three is least for some c. That is the limit, whatever pieces are taken.
func (s *Solver) pipeline(d *demand, size int64, o *Options) Bound {
	b := Bound{Kind: Pipelined}
	if o.Pipeline == nil || len(o.Pipeline.Ranks) < 2 || d.form == nothing || d.form == meeting {
		return b
	}
	p := o.Pipeline
	bytes := int64(d.elems/max(1, p.Parts)) * size
	w, ok := s.way(p.Ranks, o)
	if !ok || bytes == 0 {
		return b
	}
	w.bytes = float64(bytes)
	c := w.best(float64(size))
	b.Time = whole(w.at(c))
	b.Witness = Witness{Bytes: bytes, Ranks: p.Ranks, Turn: unit.Time(w.turn), Hop: w.hop, Piece: int64(math.Round(c)), Taken: p.Piece}
	return b
}

// whole is a time in whole picoseconds that is no longer, whatever the last digits are.
func whole(t float64) unit.Time { return unit.Time(max(0, t*(1-1e-12)-1)) }

// way adds up the hops between ranks, false where a ring is missing.
func (s *Solver) way(ranks []int, o *Options) (way, bool) {
	w := way{ideal: o.Ideal}
	for i := range ranks[1:] {
		var ring *Channel
		for k := range o.Channels {
			if c := &o.Channels[k]; c.From == ranks[i] && c.To == ranks[i+1] && (ring == nil || c.Delay < ring.Delay) {
				ring = c
			}
		}
		if ring == nil || ring.Rate <= 0 {
			return w, false
		}
		hop := s.costs.hop(ring, 0)
		w.hop = max(w.hop, hop)
		w.hopOf(float64(hop), float64(unit.Second)/float64(ring.Rate), i == 0, i == len(ranks)-2)
	}
	if len(ranks) > 2 {
		w.turn = float64(2*s.costs.issue + s.costs.send + s.costs.recv)
	}
	first, last := s.g.access[ranks[0]], s.g.access[ranks[len(ranks)-1]]
	w.delay += float64(first + last)
	return w, true
}

// hopOf adds a hop.
func (w *way) hopOf(delay, slope float64, first, last bool) {
	w.delay, w.all, w.most = w.delay+delay, w.all+slope, max(w.most, slope)
	switch {
	case first:
		w.ends = slope
	case last:
		w.ends = min(w.ends, slope)
	default:
		w.inner += slope
	}
}

// at is the limit for a largest piece of c bytes.
func (w *way) at(c float64) float64 { return max(w.byLinks(c), w.byTurns(c)) }

func (w *way) byLinks(c float64) float64 {
	if w.ideal {
		return w.delay + c*w.all
	}
	return w.delay + max(c*w.all+(w.bytes-c)*w.ends, w.bytes*w.most)
}

func (w *way) byTurns(c float64) float64 {
	return w.delay + c*w.inner + (w.bytes/c-1)*w.turn
}

// best is the largest piece for which the limit is least: byLinks grows with it, and byTurns falls
// as far as the square root says.
func (w *way) best(least float64) float64 {
	low, high := min(least, w.bytes), w.bytes
	if w.inner > 0 {
		high = min(high, max(low, math.Sqrt(w.bytes*w.turn/w.inner)))
	}
	if w.byLinks(high) <= w.byTurns(high) {
		return high
	}
	for range 200 { // to where they cross
		if c := (low + high) / 2; w.byLinks(c) < w.byTurns(c) {
			low = c
		} else {
			high = c
		}
	}
	return high
}
