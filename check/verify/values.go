package verify

import (
	"bytes"
	"fmt"

	"kernbench/collective"
	"kernbench/dtype"
)

// blockElems is the number of elements compared at a time. The reference stays in the cache while
// all ranks are compared with it.
const blockElems = 4096

// weak is the relative bound above which values prove little: the loss of a contribution may go
// unnoticed.
const weak = 0.05

func (c *check) values() {
	if c.Out == nil {
		c.verdict.Values = Question{NotChecked, c.NotChecked}
		return
	}
	text := "every element is the bits that were sent"
	if c.Collective.Reduces {
		b := newBound(c.Call, c.Call.World, c.depth)
		text = "against float64, allowed error " + b.formula
		if b.formula == "exact" {
			text = "every element is exact"
		}
		if b.relative > weak {
			text += ", too wide to detect a lost contribution: rely on provenance"
		}
		c.reductions(&b)
	} else {
		c.copies()
	}
	c.verdict.Overflow.Step = c.Overflow
	overflow := c.verdict.Overflow.text(c.Call.Type, dtype.MaxFinite(c.Call.Type))
	ranks, elements := failing(c.valueBad)
	switch {
	case ranks > 0:
		text = fmt.Sprintf("%d of %d ranks have wrong values, %d elements in all (%s)", ranks, c.Call.World, elements, text)
		c.verdict.Values = Question{Fail, join(text, overflow)}
	default:
		c.verdict.Values = Question{OK, join(text, overflow)}
	}
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// copies judges a collective that moves elements without changing them: bit by bit.
func (c *check) copies() {
	size := c.Call.Type.Size()
	for rank := range c.Call.World {
		if c.sameAsFirst(rank) {
			continue
		}
		out, at := c.Out(rank), 0
		for _, p := range c.expect.Parts(rank) {
			want := c.In(p.From.At(0))[int(p.Base)*size:][:p.N*size]
			got := out[at*size:][:p.N*size]
			for i := 0; i < p.N && !bytes.Equal(want, got); i++ {
				if !bytes.Equal(want[i*size:][:size], got[i*size:][:size]) {
					c.valueBad[rank].add(at+i, 1)
				}
			}
			at += p.N
		}
	}
}

// sameAsFirst reports whether rank shares rank 0's judgement, and passes it on.
func (c *check) sameAsFirst(rank int) bool {
	if rank == 0 || c.same == nil || !c.same[rank] {
		return false
	}
	c.valueBad[rank] = c.valueBad[0]
	return true
}

// share copies the judgement of rank 0 to ranks with the same bits, and counts overflows.
func (c *check) share() {
	o := &c.verdict.Overflow
	for rank := range c.overflow {
		if c.sameAsFirst(rank) {
			c.overflow[rank], c.inRange[rank] = c.overflow[0], c.inRange[0]
		}
		d := c.overflow[rank]
		if d.elements == 0 {
			continue
		}
		if o.Ranks == 0 {
			o.Rank, o.Element = rank, d.first
		}
		o.Ranks++
		o.Elements += d.elements
		o.InRange += c.inRange[rank]
	}
}

// wanted describes the expected value of an element of rank's output, with the bound.
func (c *check) wanted(rank, element int) string {
	p, i := c.part(rank, element)
	if !c.Collective.Reduces {
		return show(c.Call.Type, c.In(p.From.At(0)), int(p.Base)+i)
	}
	ref := c.reference(rank, element)
	if c.Call.Type.IsInt() {
		return fmt.Sprint(ref.Int[0])
	}
	b := newBound(c.Call, p.From.N, c.depth)
	if tol := b.at(&ref, 0); tol > 0 && isFinite(ref.Value[0]) {
		return fmt.Sprintf("%.9g ± %.3g", ref.Value[0], tol)
	}
	return fmt.Sprintf("%.9g", ref.Value[0])
}

// reference returns the reference of element i of rank's output.
func (c *check) reference(rank, i int) (ref collective.Reference) {
	p, i := c.part(rank, i)
	c.refer(&ref, p, i, 1)
	return ref
}

// part returns the part of rank's output that element i is in, and its place there.
func (c *check) part(rank, i int) (collective.Part, int) {
	parts := c.expect.Parts(rank)
	for len(parts) > 1 && i >= parts[0].N {
		i -= parts[0].N
		parts = parts[1:]
	}
	return parts[0], i
}

// show is element i of b.
func show(t dtype.Type, b []byte, i int) string {
	if t.IsInt() {
		return fmt.Sprint(dtype.AtInt(t, b, i))
	}
	return fmt.Sprintf("%.9g", dtype.At(t, b, i))
}
