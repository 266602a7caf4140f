package bound

import (
	"math"
	"slices"

	"kernbench/unit"
)

// The largest concurrent flow gives the least time in which the data of all pairs of ranks can pass
// the links, over any routes. Any lengths of links give a limit, the dual of that flow. A byte from
// a rank to another travels their distance d, and a link of capacity c carries c times its length
// in a second. So
//
//	time >= sum over pairs of bytes · d / sum over links of c · length.
//
// Good lengths are large on full links. Each round sends everything over shortest paths and
// lengthens the links by what they carried (Garg, Koenemann; Fleischer). Every round gives a valid
// limit, and the best is kept. The flow of all rounds bounds how much better a limit can be.

const (
	firstGrowth = 0.5       // of a link that is as full as the best lengths say
	stageRounds = 8         // over growth, in a stage
	closeEnough = 0.005     // between what is proven and what the flow reaches
	flowWork    = 5_000_000 // links looked at, in all rounds
)

// trading is a graph of places with what they have for each other.
type trading struct {
	count int
	arcs  []tradingArc
	out   [][]int32 // arcs by the place that they leave
	from  []int32   // places that have something for others
	goods [][]good  // by place
}

// tradingArc is all links from one place to another.
type tradingArc struct {
	from, to int32
	rate     float64
	links    []int32
}

type good struct {
	to    int32
	elems float64
}

// trades makes the graph for a demand, with cubes as places if it is large. It returns false if the
// graph is too large even so.
func (s *Solver) trades(d *demand) (*trading, bool) {
	g := s.g
	each := make([]int32, g.nodes)
	for n := range each {
		each[n] = int32(n)
	}
	const rounds = 60 // are worth it
	for _, where := range [][]int32{each, g.cube} {
		t := s.trading(d, where)
		if len(t.from) > 0 && len(t.from)*len(t.arcs) <= flowWork/rounds {
			return t, true
		}
	}
	return nil, false
}

func (s *Solver) trading(d *demand, where []int32) *trading {
	g := s.g
	t := &trading{count: int(slices.Max(where)) + 1}
	t.out, t.goods = make([][]int32, t.count), make([][]good, t.count)
	known := map[[2]int32]int32{}
	for i := range g.edges {
		e := &g.edges[i]
		pair := [2]int32{where[e.from], where[e.to]}
		if pair[0] == pair[1] || e.rate <= 0 {
			continue
		}
		a, ok := known[pair]
		if !ok {
			a = int32(len(t.arcs))
			known[pair] = a
			t.arcs = append(t.arcs, tradingArc{from: pair[0], to: pair[1]})
			t.out[pair[0]] = append(t.out[pair[0]], a)
		}
		t.arcs[a].rate += float64(e.rate)
		t.arcs[a].links = append(t.arcs[a].links, int32(i))
	}
	ranks := make([]float64, t.count)
	for _, n := range g.rank {
		ranks[where[n]]++
	}
	flows := make([]map[int32]float64, t.count)
	for _, f := range d.flows {
		from, to := where[g.rank[f.from]], where[g.rank[f.to]]
		if flows[from] == nil {
			flows[from] = map[int32]float64{}
		}
		flows[from][to] += float64(f.elems)
	}
	for from := range t.goods {
		for to := range ranks {
			n := ranks[from] * ranks[to] * float64(d.block)
			if flows[from] != nil {
				n += flows[from][int32(to)]
			}
			if n > 0 && to != from {
				t.goods[from] = append(t.goods[from], good{int32(to), n})
			}
		}
		if len(t.goods[from]) > 0 {
			t.from = append(t.from, int32(from))
		}
	}
	return t
}

// priced are lengths of arcs with the limit that they prove.
type priced struct {
	lengths []float64
	passes  float64 // element × length of all that moves
	takes   float64 // length × bytes per second
}

// flow searches for good lengths until they, or a known limit, are near the best. above is an upper
// bound of passes/takes of the best lengths, given by a flow.
//
// Rounds form stages. In each stage lengths grow by less than in the one before. A stage starts
// from the best lengths that are known, and its flow is that of its own rounds.
func (t *trading) flow(known float64) (best priced, above float64) {
	n := len(t.arcs)
	p := &paths{t: t, far: make([]float64, t.count), via: make([]int32, t.count), load: make([]float64, t.count),
		carried: make([]float64, n)}
	lengths, sum := make([]float64, n), make([]float64, n)
	for i := range lengths {
		lengths[i] = 1 / t.arcs[i].rate
	}
	best = t.price(p, lengths)
	above = math.Inf(1)
	rounds := flowWork / (len(t.from) * n)
	far := func() bool { return above > (1+closeEnough)*max(known, best.passes/best.takes) }
	for growth := firstGrowth; rounds > 0 && far(); growth /= 2 {
		copy(lengths, best.lengths)
		clear(p.carried)
		clear(sum)
		stage := min(rounds, int(stageRounds/growth))
		rounds -= stage
		for round := range stage {
			now := priced{lengths: lengths}
			step := growth * best.takes / best.passes
			for _, from := range t.from {
				p.from(from, lengths)
				now.passes += p.send(from, lengths, step)
			}
			busiest := 0.0
			for i := range lengths {
				now.takes += t.arcs[i].rate * lengths[i]
				busiest = max(busiest, p.carried[i]/t.arcs[i].rate)
			}
			best.improve(now)
			for i := range lengths {
				lengths[i] /= now.takes
				sum[i] += lengths[i]
			}
			above = min(above, busiest/float64(round+1))
			if !far() {
				break
			}
		}
		best.improve(t.price(p, sum))
	}
	return best, above
}

// price computes the limit that lengths prove.
func (t *trading) price(p *paths, lengths []float64) priced {
	now := priced{lengths: lengths}
	for _, from := range t.from {
		p.from(from, lengths)
		for _, g := range t.goods[from] {
			now.passes += g.elems * p.far[g.to]
		}
	}
	for i := range lengths {
		now.takes += t.arcs[i].rate * lengths[i]
	}
	return now
}

// improve takes other lengths if they prove a higher limit.
func (best *priced) improve(now priced) {
	if now.passes*best.takes > best.passes*now.takes {
		*best = priced{slices.Clone(now.lengths), now.passes, now.takes}
	}
}

// prune drops links of small weight, so that the full ones remain.
func (t *trading) prune(best priced) priced {
	const little, loss = 1e-3, 1e-3
	most := 0.0
	for i, length := range best.lengths {
		most = max(most, length*t.arcs[i].rate)
	}
	few := slices.Clone(best.lengths)
	for i := range few {
		if few[i]*t.arcs[i].rate < little*most {
			few[i] = 0
		}
	}
	p := &paths{t: t, far: make([]float64, t.count), via: make([]int32, t.count)}
	if now := t.price(p, few); now.passes*best.takes >= best.passes*now.takes*(1-loss) {
		return now
	}
	return best
}

// knownFlow holds what is known of the largest concurrent flow of a demand.
type knownFlow struct {
	block int64
	flows []flow
	t     *trading
	best  priced
	above float64
}

// trade returns the largest concurrent flow, or one near it, for demands of these proportions, and
// the multiple of it that a call has. found.t is nil if the search would take too long. known is a
// limit for d, in elements over bytes per second. It is proportional to d, so a flow that was found
// does not depend on earlier calls.
func (s *Solver) trade(d *demand, known float64) (found *knownFlow, times int64) {
	one := *d
	times = one.reduced()
	for i := range s.flowsFound {
		if f := &s.flowsFound[i]; f.block == one.block && slices.Equal(f.flows, one.flows) {
			return f, times
		}
	}
	f := knownFlow{block: one.block, flows: one.flows}
	if t, ok := s.trades(&one); ok {
		f.t = t
		f.best, f.above = t.flow(known / float64(times))
		f.best = t.prune(f.best)
	}
	s.flowsFound = append(s.flowsFound, f)
	return &s.flowsFound[len(s.flowsFound)-1], times
}

// reduced divides the elements of all pairs by their greatest common divisor, and returns it.
func (d *demand) reduced() int64 {
	by := d.block
	for _, f := range d.flows {
		by = gcd(f.elems, by)
	}
	d.block /= by
	d.flows = slices.Clone(d.flows)
	for i := range d.flows {
		d.flows[i].elems /= by
	}
	return by
}

// exceed makes the largest concurrent flow the bound, where it is higher.
func (s *Solver) exceed(b *Bound, d *demand, size int64, known float64) {
	f, times := s.trade(d, known)
	if f.t == nil || f.best.passes <= 0 {
		return
	}
	bytes := f.best.passes * float64(times) * float64(size)
	at := bytes / f.best.takes * float64(unit.Second)
	if at >= float64(unit.MaxTime) || whole(at) <= b.Time {
		return
	}
	longest := slices.Max(f.best.lengths)
	*b = Bound{Flow, whole(at), Witness{
		Bytes: int64(bytes / longest), Rate: unit.Rate(math.Ceil(f.best.takes / longest)),
		Within: max(0, f.above*f.best.takes/f.best.passes-1),
	}}
	for i, length := range f.best.lengths {
		if length == 0 {
			continue
		}
		for _, e := range f.t.arcs[i].links {
			b.Witness.Links = append(b.Witness.Links, s.g.edgeStr(e))
			b.Witness.Weights = append(b.Witness.Weights, length/longest)
		}
	}
}
