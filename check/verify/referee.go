package verify

import (
	"math"

	"kernbench/collective"
	"kernbench/dtype"
)

// patch is a range of a rank's output, within one part, that is judged at a time.
type patch struct {
	rank, at int
	part     collective.Part
	lo, n    int
}

// patches divides the output of a reduction. If all ranks should hold the same, the output of rank
// 0 is used for all.
func (c *check) patches() []patch {
	last := c.Call.World
	if c.Collective.SameOutput {
		last = 1
	}
	var all []patch
	for rank := range last {
		at := 0
		for _, p := range c.expect.Parts(rank) {
			for lo := 0; lo < p.N; lo += blockElems {
				all = append(all, patch{rank, at + lo, p, lo, min(blockElems, p.N-lo)})
			}
			at += p.N
		}
	}
	return all
}

// reductions judges a collective that combines, patch by patch, on all processors. If all ranks
// should hold the same, the reference of a patch is computed once and compared with all ranks.
func (c *check) reductions(b *bound) {
	patches := c.patches()
	referees := make([]*referee, workers(len(patches)))
	for i := range referees {
		referees[i] = newReferee(c, b)
	}
	inParallel(len(referees), len(patches), func(worker, i int) { referees[worker].patch(&patches[i]) })
	for _, r := range referees {
		r.report()
	}
	c.share()
}

// referee is one of the workers that judge patches in parallel.
type referee struct {
	*check
	bound    *bound
	ref      collective.Reference
	tol      []float64 // the bound of each element of ref
	dec      collective.Decoder
	wrong    []damage // by rank
	overflow []damage
	inRange  []int
}

func newReferee(c *check, b *bound) *referee {
	world := c.Call.World
	return &referee{check: c, bound: b, wrong: make([]damage, world), overflow: make([]damage, world), inRange: make([]int, world)}
}

func (r *referee) patch(p *patch) {
	r.refer(&r.ref, p.part, p.lo, p.n)
	r.tol = r.bound.all(r.tol[:0], &r.ref)
	if !r.Collective.SameOutput {
		r.block(p.rank, p.at, p.n)
		return
	}
	for rank := range r.Call.World {
		if rank == 0 || !r.same[rank] {
			r.block(rank, p.at, p.n)
		}
	}
}

// report adds the findings of a referee to those of others.
func (r *referee) report() {
	for rank := range r.wrong {
		r.valueBad[rank].join(r.wrong[rank])
		r.check.overflow[rank].join(r.overflow[rank])
		r.check.inRange[rank] += r.inRange[rank]
	}
}

// block compares n elements of rank's output, from at on, with the reference.
func (r *referee) block(rank, at, n int) {
	t := r.Call.Type
	size := t.Size()
	out := r.Out(rank)[at*size:][:n*size]
	if t.IsInt() {
		for i, want := range r.ref.Int {
			if dtype.AtInt(t, out, i) != want {
				r.wrong[rank].add(at+i, 1)
			}
		}
		return
	}
	limit := overflows(t)
	for i, got := range r.dec.Floats(t, out) {
		want, tol := r.ref.Value[i], r.tol[i]
		if fits := math.Abs(want) < limit; fits && isFinite(got) {
			if got != want && !(math.Abs(got-want) <= tol) {
				r.wrong[rank].add(at+i, 1)
			}
			continue
		} else if !fits && !isFinite(want) && !r.ref.Beyond[i] { // as contributions are
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				r.wrong[rank].add(at+i, 1)
			}
			continue
		} else if fits {
			r.inRange[rank]++
		}
		r.overflow[rank].add(at+i, 1)
		r.wrong[rank].add(at+i, 1)
	}
}

func isFinite(x float64) bool { return x-x == 0 }
