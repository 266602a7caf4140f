package collective

import "kernbench/tl"

// Expectation returns the expected results of the ranks of one call. It keeps small buffers and
// must not be shared by goroutines.
type Expectation struct {
	Collective *Collective
	Call       Call

	hasher *Hasher
	parts  []Part
	from   Ranks // whose hash is known:
	hash   Hash
}

// Expect makes the Expectation of one call. It returns an error if the call is impossible.
func (co *Collective) Expect(h *Hasher, c Call) (*Expectation, error) {
	if err := co.Check(c); err != nil {
		return nil, err
	}
	if !co.Reduces {
		c.Op = tl.Sum // has no effect: nothing is combined, and nothing divided
	}
	return &Expectation{Collective: co, Call: c, hasher: h}, nil
}

// Parts lists the contributors of rank's output, by ranks of the call. The result is valid until
// the next call.
func (e *Expectation) Parts(rank int) []Part {
	e.parts = e.Collective.Parts(e.parts[:0], e.Call, rank)
	return e.parts
}

// Prov extends dst by the provenance of rank's output.
func (e *Expectation) Prov(dst Prov, rank int) Prov {
	for _, p := range e.Parts(rank) {
		r := Run{
			Kind:  Written,
			Count: int32(p.From.N),
			Base:  p.Base,
			Hash:  e.sum(e.Call.labels(p.From)),
			// Scaling by 1/1 is no operation, so no rank has to perform it.
			Scaled: e.Scaled(),
		}
		dst = fill(dst, r, p.N)
	}
	return dst
}

// Scaled reports whether results must have been divided by the world size.
func (e *Expectation) Scaled() bool {
	return averages(e.Call)
}

// sum returns the hash of one contribution by each rank. All parts of most collectives have
// the same, so the last one is kept.
func (e *Expectation) sum(from Ranks) Hash {
	if from.N == 1 {
		return e.hasher.one(int32(from.First))
	}
	if e.from != from {
		e.from, e.hash = from, Hash{}
		for i := range from.N {
			e.hash = e.hash.add(e.hasher.one(int32(from.At(i))))
		}
	}
	return e.hash
}

// Contributors lists the expected contributors of element i of rank's output, by label.
func (e *Expectation) Contributors(rank, i int) []Contributor {
	for _, p := range e.Parts(rank) {
		if i >= p.N {
			i -= p.N
			continue
		}
		from := e.Call.labels(p.From)
		cs := make([]Contributor, from.N)
		for k := range cs {
			cs[k] = Contributor{Rank: from.At(k), Index: p.Base + int64(i), Count: 1}
		}
		return cs
	}
	return nil
}
