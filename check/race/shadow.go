package race

import (
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// Memory is kept by pages of so many bytes, as the stretches that were accessed alike.
const (
	pageBits = 14
	pageSize = 1 << pageBits
)

// page is the stretches of one page that anybody has accessed, by address.
type page struct{ segs []seg }

// seg is bytes [lo, hi) of a page and the accesses of them that a later one may have to be
// ordered after.
type seg struct {
	lo, hi int32
	one    *event
	rest   *rest // of more than one
}

// rest is pooled.
type rest struct{ events []*event }

// mostUnordered bounds the accesses that a stretch keeps though a later write should have
// replaced them: they have been reported.
const mostUnordered = 8

// access enters an event into the memory that it touches, and reports those that it is not
// ordered after.
func (d *Detector) access(e *event) {
	r := &e.rng
	d.paired, d.apart = d.paired[:0], d.apart[:0]
	d.memo.f = nil
	rows := max(1, int64(r.Rows))
	if rows > 1 && r.Pitch == r.Bytes {
		d.stretch(e, r.Addr, rows*r.Bytes)
		return
	}
	for i := range rows {
		d.stretch(e, r.Addr+mem.Addr(i*r.Pitch), r.Bytes)
	}
}

func (d *Detector) stretch(e *event, a mem.Addr, n int64) {
	for end := a + mem.Addr(n); a < end; {
		key := a >> pageBits
		base := key << pageBits
		hi := min(end, base+pageSize)
		if d.lastKey != key || d.lastPage == nil {
			p := d.pages[key]
			if p == nil {
				p = &page{}
				d.pages[key] = p
			}
			d.lastKey, d.lastPage = key, p
		}
		d.touch(d.lastPage, base, int32(a-base), int32(hi-base), e)
		a = hi
	}
}

// touch enters an event into bytes [lo, hi) of a page.
func (d *Detector) touch(p *page, base mem.Addr, lo, hi int32, e *event) {
	i := firstAfter(p.segs, lo)
	if i < len(p.segs) && p.segs[i].lo == lo && p.segs[i].hi == hi {
		d.update(&p.segs[i], base, e)
		return
	}
	out := d.out[:0]
	add := func(s seg) {
		if n := len(out); n > 0 && out[n-1].hi == s.lo && out[n-1].rest == nil && s.rest == nil && out[n-1].one == s.one {
			out[n-1].hi = s.hi
			d.release(s.one)
			return
		}
		out = append(out, s)
	}
	j, at := i, lo
	if i > 0 && p.segs[i-1].hi == lo { // may join it
		i--
		out = append(out, p.segs[i])
	}
	for ; j < len(p.segs) && p.segs[j].lo < hi; j++ {
		s := p.segs[j]
		if s.lo < lo {
			left := d.clone(&s)
			left.hi = lo
			add(left)
			s.lo = lo
		}
		if at < s.lo {
			e.refs++
			add(seg{lo: at, hi: s.lo, one: e})
		}
		var right seg
		if s.hi > hi {
			right = d.clone(&s)
			right.lo = hi
			s.hi = hi
		}
		d.update(&s, base, e)
		at = s.hi
		add(s)
		if right.one != nil {
			add(right)
		}
	}
	if at < hi {
		e.refs++
		add(seg{lo: at, hi: hi, one: e})
	}
	p.segs = slices.Replace(p.segs, i, j, out...)
	d.out = out
}

// firstAfter is the first stretch that ends after lo.
func firstAfter(segs []seg, lo int32) int {
	a, b := 0, len(segs)
	for a < b {
		m := int(uint(a+b) >> 1)
		if segs[m].hi > lo {
			b = m
		} else {
			a = m + 1
		}
	}
	return a
}

func (d *Detector) clone(s *seg) seg {
	c := *s
	c.one.refs++
	if s.rest != nil {
		c.rest = d.newRest()
		for _, f := range s.rest.events {
			f.refs++
			c.rest.events = append(c.rest.events, f)
		}
	}
	return c
}

func (d *Detector) newRest() *rest {
	if n := len(d.rests); n > 0 {
		r := d.rests[n-1]
		d.rests = d.rests[:n-1]
		r.events = r.events[:0]
		return r
	}
	return &rest{}
}

// update lets an event follow those of a stretch.
func (d *Detector) update(s *seg, base mem.Addr, e *event) {
	if s.rest == nil { // the usual case
		if f := s.one; f == e {
			return
		} else if keep, _ := d.follow(f, e, base+mem.Addr(s.lo), int64(s.hi-s.lo)); !keep {
			s.one = e
			e.refs++
			d.release(f)
			return
		}
		s.rest = d.newRest()
		s.rest.events = append(s.rest.events, e)
		e.refs++
		return
	}
	if !e.write {
		d.updateReads(s, base, e)
		return
	}
	kept := d.kept[:0]
	unordered := 0
	one := func(f *event) {
		if f == e {
			return // it is entered below
		}
		keep, ordered := d.follow(f, e, base+mem.Addr(s.lo), int64(s.hi-s.lo))
		if keep && !ordered && e.write && !e.atomic {
			unordered++
			keep = unordered <= mostUnordered
		}
		if keep {
			f.refs++
			kept = append(kept, f)
		}
	}
	one(s.one)
	for _, f := range s.rest.events {
		one(f)
	}
	e.refs++
	kept = append(kept, e)
	old := s.one
	s.one = kept[0]
	d.release(old)
	for _, f := range s.rest.events {
		d.release(f)
	}
	s.rest.events = append(s.rest.events[:0], kept[1:]...)
	if len(s.rest.events) == 0 {
		d.rests = append(d.rests, s.rest)
		s.rest = nil
	}
	d.kept = kept
}

// updateReads lets a read follow those of a stretch. It takes the place of an earlier one of
// its agent; those of others stay until a write comes.
func (d *Detector) updateReads(s *seg, base mem.Addr, e *event) {
	free := -1 // a place in rest; len(rest) stands for one
	events := s.rest.events
	for i := range len(events) + 1 {
		f := s.one
		if i < len(events) {
			f = events[i]
		}
		if f == e {
			return
		}
		if !f.write && f.agent != e.agent {
			continue
		}
		if keep, _ := d.follow(f, e, base+mem.Addr(s.lo), int64(s.hi-s.lo)); !keep {
			free = i
		}
	}
	e.refs++
	switch {
	case free < 0:
		s.rest.events = append(events, e)
	case free < len(events):
		d.release(events[free])
		events[free] = e
	default:
		d.release(s.one)
		s.one = e
	}
}

// follow judges e after f, and tells whether f must be kept: because not everything that is
// ordered after e and conflicts with f is then known to be ordered after f.
func (d *Detector) follow(f, e *event, a mem.Addr, n int64) (keep, settled bool) {
	if f.op == e.op && f.agent == e.agent && e.op != 0 {
		return true, true // pieces of one operation
	}
	if d.memo.f != f {
		m := &d.memo
		m.f, m.ordered = f, d.before(f, e, &d.agents[e.agent].clk)
	}
	ordered := d.memo.ordered
	apart := !ordered && (f.write || e.write) && f.held != nil && e.held != nil && d.excluded(f, e, a)
	if f.agent == e.agent && f.plain() && f.done == 0 && (e.plain() || e.local) {
		d.waitFor(f, e)
	}
	if f.write || e.write {
		d.conflict(f, e, ordered || apart, a, n)
	}
	switch {
	case apart || ordered && !d.replaces(e, f):
		return true, true
	case !ordered:
		return true, false
	case e.write && !e.atomic:
		return false, true
	case !e.write:
		return f.write, true
	}
	return !f.atomic, true
}

// conflict is two accesses of the same bytes of which at least one is a write.
func (d *Detector) conflict(f, e *event, ordered bool, a mem.Addr, n int64) {
	if !d.shared && f.agent != e.agent && f.agent != history.Host && e.agent != history.Host {
		d.shared = !d.knows(&d.agents[history.Host].clk, f) // else it was in an earlier launch
	}
	if ordered {
		return
	}
	if f.atomic && e.atomic {
		if f.float || e.float {
			d.depend("put_combine", "rounds in the order of arrival", e.call, e.line)
		}
		return
	}
	for _, g := range d.paired {
		if g == f {
			return
		}
	}
	d.paired = append(d.paired, f)
	d.race(f, e, a, n)
}
