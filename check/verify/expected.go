package verify

import (
	"fmt"

	"kernbench/collective"
)

// Expected is the expected result of a reduction. It is computed while the contributions exist, so
// that no copy of them is needed later.
type Expected struct {
	ref collective.Reference // of all elements that a rank brings
}

// Expect computes the expected result of a call; in returns the contribution of a rank. It returns
// nil for collectives whose result elements do not each have a contribution of every rank.
func Expect(co *collective.Collective, call collective.Call, in func(rank int) []byte) (*Expected, error) {
	e, err := co.Expect(nil, call)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	if !co.Reduces {
		return nil, nil
	}
	n := co.In(call, 0)
	everyone := collective.Part{N: n, From: collective.Ranks{N: call.World, Stride: 1}}
	for rank := range call.World {
		if co.In(call, rank) != n {
			return nil, nil
		}
		for _, p := range e.Parts(rank) {
			if p.From != everyone.From || p.Base+int64(p.N) > int64(n) {
				return nil, nil
			}
		}
	}
	if got, want := len(in(0)), n*call.Type.Size(); got != want {
		return nil, fmt.Errorf("verify: contribution of rank 0 has %d bytes, not %d", got, want)
	}
	x := &Expected{ref: e.NewReference(n, call.World)}
	blocks := (n + blockElems - 1) / blockElems
	refs := make([]collective.Reference, workers(blocks))
	inParallel(len(refs), blocks, func(worker, i int) {
		lo, ref := i*blockElems, &refs[worker]
		e.Reference(ref, everyone, lo, min(blockElems, n-lo), in)
		x.ref.Put(lo, ref)
	})
	return x, nil
}

// refer computes the reference of n elements of a part, from lo on.
func (c *check) refer(ref *collective.Reference, p collective.Part, lo, n int) {
	if c.Expected != nil {
		*ref = c.Expected.ref.Slice(int(p.Base)+lo, n)
		return
	}
	c.expect.Reference(ref, p, lo, n, c.In)
}
