package bound

import (
	"math"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// chain returns how long some pieces of equal length take through hops, each with a delay and a
// slope. A rank takes a turn with a piece, and a link carries one piece after the other. A receive
// starts with the first byte.
func chain(delays, slopes []float64, recv, turn float64, pieces []float64) float64 {
	hops := len(delays)
	cpu, link := make([]float64, hops+1), make([]float64, hops)
	end := 0.0
	for _, bytes := range pieces {
		at := 0.0 // when a rank has the piece
		for h := range hops {
			start := at
			if h > 0 {
				start = max(at, cpu[h])
				cpu[h] = start + turn
			}
			start = max(start, link[h])
			link[h] = start + bytes*slopes[h]
			at = max(link[h]+delays[h]-recv, start+delays[h])
		}
		end = max(end, at)
	}
	return end
}

// No choice of pieces, of one size or of many, is faster than the limit; and some is near it.
func TestNoPipelineIsFaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hops := rapid.IntRange(1, 9).Draw(t, "hops")
		recv := rapid.Float64Range(0, 300).Draw(t, "receive")
		turn := recv + rapid.Float64Range(0, 50).Draw(t, "turn")
		bytes := float64(rapid.IntRange(1, 2000).Draw(t, "bytes"))
		var w stages
		w.bytes = bytes
		w.turn, w.recv = turn, recv
		if hops < 2 {
			w.turn = 0
		}
		var delays, slopes []float64
		for h := range hops {
			delays = append(delays, turn+rapid.Float64Range(0, 200).Draw(t, "delay")) // a turn is part of the delay
			slopes = append(slopes, rapid.Float64Range(0.01, 3).Draw(t, "slope"))
			w.add(delays[h], slopes[h], h == 0, h == hops-1)
		}
		c := w.best(1e-3)
		limit := w.at(c)
		fastest := math.Inf(1)
		for k := 1; k <= int(bytes) && k <= 400; k++ {
			pieces := make([]float64, k)
			for i := range pieces {
				pieces[i] = bytes / float64(k)
			}
			fastest = min(fastest, chain(delays, slopes, recv, w.turn, pieces))
		}
		cuts := rapid.SliceOfN(rapid.Float64Range(0.01, 1), 1, 12).Draw(t, "pieces")
		sum := 0.0
		for _, x := range cuts {
			sum += x
		}
		for i := range cuts {
			cuts[i] *= bytes / sum
		}
		fastest = min(fastest, chain(delays, slopes, recv, w.turn, cuts))
		if limit > fastest*(1+1e-9) {
			t.Fatalf("%v is faster than the limit of %v with pieces of %v", fastest, limit, c)
		}
		if limit < fastest/3 {
			t.Fatalf("the limit of %v is far from %v", limit, fastest)
		}
	})
}

// With turns as long as delays and all hops equal, the limit is below that of the textbook. There,
// a rank does not take its turn with a piece while another is in flight: (sqrt((h-1) a) +
// sqrt(M/B))^2.
func TestPipelineAndTheTextbook(t *testing.T) {
	const a, slope, hops, bytes = 1000, 4, 16, 1 << 16
	w := stages{bytes: bytes, turn: a}
	for h := range hops {
		w.add(a, slope, h == 0, h == hops-1)
	}
	textbook := math.Pow(math.Sqrt((hops-1)*a)+math.Sqrt(bytes*slope), 2)
	if got := w.at(w.best(1)); got > textbook || got < 0.7*textbook {
		t.Errorf("%v, the textbook has %v", got, textbook)
	}
}

func TestPipelineOfRings(t *testing.T) {
	g := star(5)
	s := newSolver(g, 1, 1)
	s.costs = costs{issue: 100, send: 50, recv: 25}
	var rings []Ring
	for r := range 5 {
		rings = append(rings, Ring{From: r, To: (r + 1) % 5, Rate: unit.TBPerSecond, Delay: 1825, Slots: 4, SlotBytes: 64})
	}
	c := collective.Call{World: 5, Elems: 1 << 16, Type: dtype.U8}
	limit := func(p *Pipeline, o Options) Bound {
		o.Rings, o.Pipeline = rings, p
		r, err := s.Limits(collective.Broadcast, c, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Bounds {
			if b.Kind == Pipelined {
				return b
			}
		}
		return Bound{}
	}
	path := []int{0, 1, 2, 3, 4}
	whole := limit(&Pipeline{Ranks: path, Piece: 512}, Options{})
	// 4 hops of 2 ns and 64 KiB at 1 B/ps, with a piece of some hundred bytes on top for each hop.
	if least := unit.Time(4*2000 + 1<<16); whole.Time < least || whole.Time > least+3000 {
		t.Errorf("%v, want a little more than %v: %+v", whole.Time, least, whole.Witness)
	}
	if w := whole.Witness; w.Taken != 512 || w.Piece < 100 || w.Piece > 1000 || w.Turn != 275 || w.Hop != 2000 || len(w.Ranks) != 5 {
		t.Errorf("%+v", w)
	}
	if half := limit(&Pipeline{Ranks: path, Parts: 2}, Options{}); half.Time > 8000+1<<15+3000 || half.Time < 8000+1<<15 {
		t.Errorf("half of it on each of two paths: %v", half.Time)
	}
	// As many slots at once as it takes: the first byte of each hop, and the last of a slot.
	if ideal := limit(&Pipeline{Ranks: path}, Options{Ideal: true}); ideal.Time < 8000 || ideal.Time > 4*(2000+64) {
		t.Errorf("%v where links are not shared, %v where they are", ideal.Time, whole.Time)
	}
	if far := limit(&Pipeline{Ranks: []int{0, 2}}, Options{}); far.Time != 0 {
		t.Errorf("there is no ring from 0 to 2: %+v", far)
	}
	if one := limit(&Pipeline{Ranks: []int{0}}, Options{}); one.Time != 0 {
		t.Errorf("one rank is no path: %+v", one)
	}
}
