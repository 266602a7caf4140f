package mscclpp

import (
	"math"
	"math/rand"
	"slices"
)

// floats executes a plan on numbers, in a random order of the operations that need not wait. It
// shares only the parsed plan with the lowering and the judge. Each unit of 16 bytes is a number. A
// packet is one number in two units with a flag. Chunks have equally many units.
type floats struct {
	plan     *Plan
	rng      *rand.Rand
	units    int // of a chunk
	launches int
	ranks    []*floatRank
	signals  map[[4]int]int // of rank, type, channel of the GPU
}

// floatRank is the state of a rank.
type floatRank struct {
	in, out []float64 // the same in place
	scratch [2][]float64
	flags   [2][]int
	sems    []int
	blocks  []*floatBlock
	proxies map[int]*floatProxy // of port channels
	arrived map[int]int         // thread blocks at a barrier
	passed  map[int]int         // times that a barrier was passed
	launch  int
	wrong   bool
}

// floatBlock is the state of a thread block.
type floatBlock struct {
	ops  []floatOp
	at   int
	met  int // 1 + the turn of a barrier at which it is
	owed map[int]int
}

// floatOp is an operation of an iteration that begins at an offset in units.
type floatOp struct {
	op           *Op
	offset, unit int
}

// floatProxy does copies in order.
type floatProxy struct {
	queue []func()
}

const unitBytes = 16

func newFloats(p *Plan, units, launches int, seed int64) *floats {
	f := &floats{plan: p, rng: rand.New(rand.NewSource(seed)), units: units, launches: launches, signals: map[[4]int]int{}}
	for i := range p.GPUs {
		g := &p.GPUs[i]
		r := &floatRank{in: make([]float64, g.InputChunks*units), proxies: map[int]*floatProxy{},
			arrived: map[int]int{}, passed: map[int]int{},
			sems: slices.Clone(g.Semaphores)}
		r.out = r.in
		if !p.InPlace {
			r.out = make([]float64, g.OutputChunks*units)
		}
		for h := range r.scratch {
			n := g.ScratchChunks * units * 2
			r.scratch[h], r.flags[h] = slices.Repeat([]float64{math.NaN()}, n), make([]int, n)
			if !p.DoubleScratch {
				r.scratch[1], r.flags[1] = r.scratch[0], r.flags[0]
			}
		}
		for b := range g.Blocks {
			fb := &floatBlock{owed: map[int]int{}}
			for k := range g.Blocks[b].Ops {
				op := &g.Blocks[b].Ops[k]
				if op.Name != "pipeline" {
					fb.ops = append(fb.ops, floatOp{op, 0, 1 << 30})
					continue
				}
				unit := int(op.UnitSize) / unitBytes
				for at := 0; at < op.NumChunks*units; at += unit {
					for m := range op.Ops {
						fb.ops = append(fb.ops, floatOp{&op.Ops[m], at, unit})
					}
				}
			}
			r.blocks = append(r.blocks, fb)
		}
		f.ranks = append(f.ranks, r)
	}
	for rank := range f.ranks {
		f.fill(rank)
	}
	return f
}

// input returns a rank's contribution to a launch: whole numbers, so that sums are exact.
func input(rank, launch, unit int) float64 {
	x := uint64(rank*1000003+launch*7919+unit+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return float64(x >> 24)
}

func (f *floats) fill(rank int) {
	r := f.ranks[rank]
	for u := range r.in {
		r.in[u] = input(rank, r.launch, u)
	}
}

// run reports whether all launches end, and whether all results are right.
func (f *floats) run() (ends, right bool) {
	for {
		type actor struct{ rank, block, proxy int }
		var actors []actor
		busy := false
		for i, r := range f.ranks {
			for b, fb := range r.blocks {
				if fb.at < len(fb.ops) {
					busy = true
					actors = append(actors, actor{i, b, -1})
				}
			}
			for c, p := range r.proxies {
				if len(p.queue) > 0 {
					actors = append(actors, actor{i, -1, c})
				}
			}
		}
		slices.SortFunc(actors, func(x, y actor) int { return (x.rank-y.rank)*1000000 + (x.block-y.block)*1000 + x.proxy - y.proxy })
		f.rng.Shuffle(len(actors), func(i, j int) { actors[i], actors[j] = actors[j], actors[i] })
		moved := false
		for _, a := range actors {
			r := f.ranks[a.rank]
			if a.proxy >= 0 {
				p := r.proxies[a.proxy]
				p.queue[0]()
				p.queue = p.queue[1:]
				moved = true
				break
			}
			if fb := r.blocks[a.block]; f.step(a.rank, a.block, fb.ops[fb.at]) {
				fb.at++
				moved = true
				break
			}
		}
		if f.turn() {
			continue
		}
		if !moved {
			right = true
			for _, r := range f.ranks {
				right = right && !r.wrong
			}
			return !busy, right
		}
	}
}

// turn ends the launch of a rank whose thread blocks and copies are done, and starts the next.
func (f *floats) turn() bool {
	for rank, r := range f.ranks {
		done := r.launch < f.launches
		for _, fb := range r.blocks {
			done = done && fb.at == len(fb.ops)
		}
		for _, p := range r.proxies {
			done = done && len(p.queue) == 0
		}
		if !done {
			continue
		}
		for u, v := range r.out {
			sum := 0.0
			for q := range f.ranks {
				sum += input(q, r.launch, u)
			}
			if v != sum {
				r.wrong = true
			}
		}
		if r.launch++; r.launch < f.launches {
			f.fill(rank)
			for _, fb := range r.blocks {
				fb.at, fb.owed = 0, map[int]int{}
			}
		}
		return true
	}
	return false
}

// place is a number of a buffer: where it is, and its flag if it is in scratch.
type place struct {
	value *float64
	flag  *int
}

// places returns the numbers that a reference names, and nil beyond the end of a buffer.
func (f *floats) places(rank, block int, o floatOp, r Ref, packet bool, size int) [][]place {
	ranks, buffer := []int{rank}, r.Local
	g := &f.plan.GPUs[rank]
	b := &g.Blocks[block]
	switch {
	case r.Remote >= 0:
		list := b.MemoryRefs
		if o.op.Type == PortChannel {
			list = b.PortRefs
		}
		to := g.Remote[list[r.Remote]]
		ranks, buffer = []int{to.Rank}, to.Buffer
	case r.Switch >= 0:
		c := g.Switch[b.Switch[r.Switch]]
		ranks, buffer = c.Ranks, c.Buffer
	}
	first := r.Index*f.units + f.part(r, o.op) + o.offset
	half := f.ranks[rank].launch % 2
	var out [][]place
	for _, q := range ranks {
		var list []place
		x := f.ranks[q]
		for u := first; u < first+size; u++ {
			at := u
			if packet {
				at *= 2
			}
			switch {
			case buffer == Scratch && at < len(x.scratch[half]):
				list = append(list, place{&x.scratch[half][at], &x.flags[half][at]})
			case buffer == Input && at < len(x.in):
				list = append(list, place{&x.in[at], nil})
			case buffer == Output && at < len(x.out):
				list = append(list, place{&x.out[at], nil})
			default:
				return nil
			}
		}
		out = append(out, list)
	}
	return out
}

// part returns where this thread block's share of a reference begins, in units.
func (f *floats) part(r Ref, op *Op) int {
	whole := r.Size * f.units
	return op.Part*(whole/op.Parts) + min(op.Part, whole%op.Parts)
}

// size returns the units of a reference that this thread block moves now.
func (f *floats) size(r Ref, o floatOp) int {
	next := *o.op
	next.Part++
	n := f.part(r, &next) - f.part(r, o.op) - o.offset
	return max(min(n, o.unit), 0)
}
