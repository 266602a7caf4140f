package collective

import "iter"

// Difference is a range of elements with wrong contributors. Both runs have its length.
type Difference struct {
	Want, Got Run
}

// Differences lists the ranges in which two vectors of equal length differ, by first element.
func Differences(want, got Prov) iter.Seq2[int, Difference] {
	return func(yield func(int, Difference) bool) {
		var i, j, at int
		var doneW, doneG int32
		for i < len(want) && j < len(got) {
			n := min(want[i].N-doneW, got[j].N-doneG)
			w, g := want[i].part(doneW, n), got[j].part(doneG, n)
			if !w.Same(&g) && !yield(at, Difference{w, g}) {
				return
			}
			at += int(n)
			if doneW += n; doneW == want[i].N {
				i, doneW = i+1, 0
			}
			if doneG += n; doneG == got[j].N {
				j, doneG = j+1, 0
			}
		}
	}
}

// MaxDepth returns the largest Depth of p.
func (p Prov) MaxDepth() uint16 {
	var d uint16
	for i := range p {
		d = max(d, p[i].Depth)
	}
	return d
}

// Round counts one more rounding on every contribution in p, in place: a conversion to a
// narrower type keeps contributors but not their last bits.
func Round(p Prov) {
	for i := range p {
		if p[i].Count != 0 && p[i].Depth != DepthMany {
			p[i].Depth++
		}
	}
}

// Single finds the one label by which the elements of d differ. Its contribution is missing or,
// with over, present once too often. It needs no explicit sets.
func (h *Hasher) Single(d Difference, labels Ranks) (rank int, over, ok bool) {
	if d.Want.Kind != Written || d.Got.Kind != Written || d.Want.Base != d.Got.Base {
		return 0, false, false
	}
	less, more := d.Got, d.Want
	if over = d.Got.Count > d.Want.Count; over {
		less, more = more, less
	}
	if more.Count-less.Count != 1 {
		return 0, false, false
	}
	for i := range labels.N {
		if less.Hash.add(h.one(int32(labels.At(i)))) == more.Hash {
			return labels.At(i), over, true
		}
	}
	return 0, false, false
}
