package collective

import "slices"

// Overwrite replaces the elements of p from off on by those of src and returns p. It changes p in
// place. The result has at most two runs more than src adds. Neighbours of equal structure are
// joined. The replaced range must lie within p, and src must not share memory with p.
func Overwrite(p Prov, off int, src Prov) Prov {
	n := src.Len()
	if n == 0 {
		return p
	}
	first, skip := p.find(off)
	if len(src) == 1 && p.overwriteRun(first, int32(skip), &src[0]) {
		return p
	}
	if skip == 0 && len(src) == 1 && p[first].N == int32(n) {
		p[first] = src[0]
		return joinAround(p, first, first)
	}
	last, rest := first, skip+n // the run in which the range ends, and where in it
	for rest > int(p[last].N) {
		rest -= int(p[last].N)
		last++
	}

	left, right := p[first].part(0, int32(skip)), p[last].part(int32(rest), p[last].N-int32(rest))
	lo, hi := first, last+1 // runs lo..hi-1 go; left, src and right come
	need := len(src)
	if left.N > 0 {
		need++
	}
	if right.N > 0 {
		need++
	}
	p = resize(p, lo, hi, need)
	at := lo
	if left.N > 0 {
		p[at] = left
		at++
	}
	from := at
	at += copy(p[at:], src)
	if right.N > 0 {
		p[at] = right
	}
	return joinAround(p, from, from+len(src)-1)
}

// overwriteRun does what Overwrite does for a part of run i, from its element skip on, if the part
// can join a neighbouring run. This happens in a vector that is filled chunk by chunk. It reports
// whether it could.
func (p Prov) overwriteRun(i int, skip int32, src *Run) bool {
	r := &p[i]
	if src.N >= r.N {
		return false
	}
	if next := i + 1; skip+src.N == r.N && next < len(p) && src.joins(&p[next]) {
		s := &p[next]
		r.N -= src.N
		s.N, s.Base, s.Depth = s.N+src.N, src.Base, max(s.Depth, src.Depth)
		return true
	}
	if skip == 0 && i > 0 && p[i-1].joins(src) {
		s := &p[i-1]
		*r = r.part(src.N, r.N-src.N)
		s.N, s.Depth = s.N+src.N, max(s.Depth, src.Depth)
		return true
	}
	return false
}

// resize replaces the runs lo to hi-1 by space for n runs and keeps the following ones.
func resize(p Prov, lo, hi, n int) Prov {
	switch d := n - (hi - lo); {
	case d < 0:
		p = slices.Delete(p, lo, lo-d)
	case d > 0:
		old := len(p)
		p = slices.Grow(p, d)[:old+d]
		copy(p[hi+d:], p[hi:old])
	}
	return p
}

// joinAround joins run last with its successor and run first with its predecessor.
func joinAround(p Prov, first, last int) Prov {
	p = joinAt(p, last)
	return joinAt(p, first-1)
}

func joinAt(p Prov, i int) Prov {
	if i < 0 || i+1 >= len(p) || !p[i].joins(&p[i+1]) {
		return p
	}
	p[i].N += p[i+1].N
	p[i].Depth = max(p[i].Depth, p[i+1].Depth)
	return slices.Delete(p, i+1, i+2)
}
