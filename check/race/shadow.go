package race

import (
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// Memory is kept by pages, as stretches with the same accesses.
const (
	pageBits = 14
	pageSize = 1 << pageBits
)

// page is the stretches of one page that were accessed, by address.
type page struct {
	segs   []seg
	sheets *pageSheets // nil: none
}

// smallPage is a page with two stretches at most, and no sheet. Of another page, the first stretch
// has the event isFull, and the number of the page in its field rest. Two fit a line of a cache.
type smallPage [2]seg

const isFull = ^eventID(0)

// pages are those of a larger stretch of memory: most agents touch many in a row.
type pages [1 << (pagesBits - pageBits)]smallPage

const pagesBits = 19

// smallAt returns the small page of an address.
func (s *shadow) smallAt(a mem.Addr) *smallPage {
	return &s.pages.at(a >> pagesBits)[a>>pageBits&(1<<(pagesBits-pageBits)-1)]
}

// fullOf returns the page that a small page refers to, or nil if the stretches are its own.
func (s *shadow) fullOf(p *smallPage) *page {
	if p[0].one != isFull {
		return nil
	}
	return s.full[p[0].rest]
}

// pageAt returns the page of an address, which is not small from now on.
func (s *shadow) pageAt(a mem.Addr) *page {
	small := s.smallAt(a)
	if p := s.fullOf(small); p != nil {
		return p
	}
	return s.grow(small, slices.Clone(small.segs()))
}

// grow makes a page with these stretches of a small one.
func (s *shadow) grow(small *smallPage, segs []seg) *page {
	p := &page{segs: segs}
	*small = smallPage{{one: isFull, rest: nodeID(len(s.full))}}
	s.full = append(s.full, p)
	return p
}

// segs returns the stretches of a small page.
func (p *smallPage) segs() []seg {
	n := 0
	for n < len(p) && p[n].one != 0 {
		n++
	}
	return p[:n]
}

// touchSmall enters an event into bytes [lo, hi) of a small page.
func (d *Detector) touchSmall(small *smallPage, base mem.Addr, lo, hi uint16, e *event) {
	switch s := &small[0]; {
	case s.one == 0:
		e.hold()
		*s = seg{lo: lo, hi: hi, one: e.id, readers: e.stamp()}
		return
	case s.lo == lo && s.hi == hi: // the usual case
		d.update(s, base, e)
		return
	}
	d.view.segs = small.segs()
	d.touch(&d.view, base, lo, hi, e)
	if now := d.view.segs; len(now) > len(small) { // they have moved
		d.grow(small, now)
	}
}

// seg is bytes [lo, hi) of a page, with the accesses that a later one may have to be ordered after.
// There may be millions, so it holds no pointer.
type seg struct {
	lo, hi  uint16
	one     eventID
	rest    nodeID    // of more than one: the list of the others; 0: none
	readers readersID // index of rest, if many agents read; without rest see source.go and received.go; 0: none
}

// node is an entry of a list of events. It copies the fields that are used most, so that the event
// need not be read.
type node struct {
	event eventID
	next  nodeID
	agent history.Agent
	write bool
}

// nodeID is the number of a node; number 0 is none.
type nodeID uint32

// nodeAt returns the node with a number.
func (s *shadow) nodeAt(i nodeID) *node { return &s.nodes[i>>slabBits][i&(slabSize-1)] }

// shadow is the memory that agents have accessed.
type shadow struct {
	pages table[pages]
	full  []*page // those that are not small
	view  page    // scratch: the stretches of a small page
	sheetPool
	sourcing
	nodes    [][]node // in slabs
	numNodes nodeID
	freeNode nodeID
	shared   bool // several agents have touched it

	// Scratch of an access.
	out    []seg
	kept   []*event
	paired []*event // reported
	apart  []*event // of sections that exclude that of the access
	memo   struct {
		f       *event
		ordered bool
	}
}

// mostUnordered bounds the accesses that a stretch keeps after a later, unordered write. They have
// been reported.
const mostUnordered = 8

// access enters an event into the memory that it touches, and reports those that it is not
// ordered after.
func (d *Detector) access(e *event, r *history.Range) {
	e.addr, e.v, e.rows = r.Addr, r.Bytes, r.Rows
	d.paired, d.apart = d.paired[:0], d.apart[:0]
	d.memo.f = nil
	rows := max(1, int64(r.Rows))
	if rows > 1 && r.Pitch == r.Bytes {
		d.stretch(e, r.Addr, rows*r.Bytes)
		return
	}
	if rows > 1 && d.tile(e, r) {
		return
	}
	for i := range rows {
		d.stretch(e, r.Addr+mem.Addr(i*r.Pitch), r.Bytes)
	}
}

func (d *Detector) stretch(e *event, a mem.Addr, n int64) {
	for end := a + mem.Addr(n); a < end && !d.misfit; {
		base := a &^ (pageSize - 1)
		small, hi := d.smallAt(a), min(end, base+pageSize)
		p := d.fullOf(small)
		if p == nil {
			d.touchSmall(small, base, uint16(a-base), uint16(hi-base), e)
			a = hi
			continue
		}
		if p.sheets != nil && *p.sheets != (pageSheets{}) {
			free, next := d.acrossSheet(e, a, end)
			if next != a {
				a = next
				continue
			}
			hi = min(hi, free)
		}
		d.touch(p, base, uint16(a-base), uint16(hi-base), e)
		a = hi
	}
}

// touch enters an event into bytes [lo, hi) of a page.
func (d *Detector) touch(p *page, base mem.Addr, lo, hi uint16, e *event) {
	i := firstAfter(p.segs, lo)
	if i == len(p.segs) {
		d.extend(p, lo, hi, e)
		return
	}
	if j := p.contiguous(i, lo, hi); j > i {
		for k := i; k < j; k++ {
			d.update(&p.segs[k], base, e)
		}
		d.merge(p, max(0, i-1), j)
		return
	}
	out := d.out[:0]
	add := func(s seg) {
		if n := len(out); n > 0 && out[n-1].continues(&s) {
			out[n-1].hi = s.hi
			d.release(d.event(s.one))
			return
		}
		out = append(out, s)
	}
	j, at := i, lo
	if i > 0 && p.segs[i-1].hi == lo { // may extend it
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
			e.hold()
			add(seg{lo: at, hi: s.lo, one: e.id, readers: e.stamp()})
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
		if right.one != 0 {
			add(right)
		}
	}
	if at < hi {
		e.hold()
		add(seg{lo: at, hi: hi, one: e.id, readers: e.stamp()})
	}
	p.segs = slices.Replace(p.segs, i, j, out...)
	d.out = out
}

// extend enters an event into bytes [lo, hi) after the last stretch of a page.
func (d *Detector) extend(p *page, lo, hi uint16, e *event) {
	if n := len(p.segs); n > 0 {
		if s := &p.segs[n-1]; s.hi == lo && s.one == e.id && s.rest == 0 && s.readers == e.stamp() {
			s.hi = hi
			return
		}
	}
	e.hold()
	p.segs = append(p.segs, seg{lo: lo, hi: hi, one: e.id, readers: e.stamp()})
}

// contiguous returns the number after the last stretch, if those from number i on are [lo, hi)
// without gaps, else i.
func (p *page) contiguous(i int, lo, hi uint16) int {
	j := i
	for ; j < len(p.segs) && p.segs[j].lo == lo && lo < hi; j++ {
		lo = p.segs[j].hi
	}
	if lo != hi {
		return i
	}
	return j
}

// merge makes one of neighbours with the same only access, among the stretches from number i up to
// j.
func (d *Detector) merge(p *page, i, j int) {
	last := i
	for k := i + 1; k < j; k++ {
		s, t := &p.segs[last], &p.segs[k]
		if s.continues(t) {
			s.hi = t.hi
			d.release(d.event(t.one))
			continue
		}
		last++
		p.segs[last] = *t
	}
	if last+1 < j {
		p.segs = slices.Delete(p.segs, last+1, j)
	}
}

// continues reports whether t follows s with the same only access.
func (s *seg) continues(t *seg) bool {
	return s.hi == t.lo && s.rest == 0 && t.rest == 0 && s.one == t.one && s.readers == t.readers
}

// guess returns where a place is among stretches of the same length.
func guess(segs []seg, lo uint16) int { return int(lo) * len(segs) >> pageBits }

// firstAfter returns the first stretch that ends after lo.
func firstAfter(segs []seg, lo uint16) int {
	a, b := 0, len(segs)
	if b == 0 || segs[0].hi > lo {
		return 0
	}
	if g := guess(segs, lo); segs[g].hi > lo && (g == 0 || segs[g-1].hi <= lo) {
		return g
	}
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
	if s.rest != 0 {
		c.readers = 0
	}
	d.event(c.one).hold()
	last := nodeID(0)
	for i := s.rest; i != 0; i = d.nodeAt(i).next {
		f := d.event(d.nodeAt(i).event)
		f.hold()
		n := d.newNode(f)
		if last == 0 {
			c.rest = n
		} else {
			d.nodeAt(last).next = n
		}
		last = n
	}
	return c
}

// newNode returns the number of a node for an event, which has no next one.
func (d *Detector) newNode(e *event) nodeID {
	i := d.freeNode
	if i == 0 {
		d.numNodes++
		if i = d.numNodes; int(i>>slabBits) >= len(d.nodes) {
			d.nodes = append(d.nodes, make([]node, slabSize))
		}
	} else {
		d.freeNode = d.nodeAt(i).next
	}
	*d.nodeAt(i) = node{event: e.id, agent: e.agent, write: e.write}
	return i
}

// dropRest gives back the list of a stretch, and the events that it holds.
func (d *Detector) dropRest(s *seg) {
	if s.rest == 0 {
		return
	}
	for i := s.rest; i != 0; {
		d.release(d.event(d.nodeAt(i).event))
		i, d.nodeAt(i).next, d.freeNode = d.nodeAt(i).next, d.freeNode, i
	}
	s.rest = 0
	d.dropReaders(s)
}

// releaseSegs gives back what stretches hold.
func (d *Detector) releaseSegs(segs []seg) {
	for i := range segs {
		s := &segs[i]
		d.release(d.event(s.one))
		d.dropRest(s)
	}
}

// update adds an event to those of a stretch.
func (d *Detector) update(s *seg, base mem.Addr, e *event) {
	if s.rest == 0 { // the usual case
		if s.one == e.id {
			s.readers = e.stamp()
			d.twice(e)
			return
		}
		f := d.event(s.one)
		if f.class == received {
			if d.overReceived(s, e, f) {
				return
			}
			d.update(s, base, e) // now with events of its own
			return
		}
		if s.readers != 0 {
			f.done = uint32(s.readers)
		}
		if !d.sourceFits(e, f) {
			d.misfit = true
			return
		}
		if keep, _ := d.judgePair(f, e, base+mem.Addr(s.lo), int64(s.hi-s.lo)); !keep {
			s.one, s.readers = e.id, e.stamp()
			e.hold()
			d.release(f)
			return
		}
		if e.class == stamped {
			d.misfit = true
			return
		}
		if s.readers != 0 {
			d.ownSource(s, f)
		}
		s.rest = d.newNode(e)
		e.hold()
		return
	}
	if e.class == stamped {
		d.misfit = true
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
			d.twice(e)
			return // it is entered below
		}
		keep, ordered := d.judgePair(f, e, base+mem.Addr(s.lo), int64(s.hi-s.lo))
		if keep && !ordered && e.write && !e.atomic {
			unordered++
			keep = unordered <= mostUnordered
		}
		if keep {
			f.hold()
			kept = append(kept, f)
		}
	}
	one(d.event(s.one))
	for i := s.rest; i != 0; i = d.nodeAt(i).next {
		one(d.event(d.nodeAt(i).event))
	}
	e.hold()
	kept = append(kept, e)
	old := d.event(s.one)
	s.one = kept[0].id
	d.release(old)
	d.dropRest(s)
	for i := len(kept) - 1; i > 0; i-- {
		n := d.newNode(kept[i])
		d.nodeAt(n).next, s.rest = s.rest, n
	}
	d.kept = kept
}

// updateReads adds a read to those of a stretch. It replaces an earlier read of its agent. Those of
// others stay until a write comes.
func (d *Detector) updateReads(s *seg, base mem.Addr, e *event) {
	first := d.event(s.one)
	if first == e {
		d.readAgain(s, base, e)
		return
	}
	follows := func(f *event) bool {
		keep, _ := d.judgePair(f, e, base+mem.Addr(s.lo), int64(s.hi-s.lo))
		return !keep
	}
	own, place, last := nodeID(0), nodeID(0), nodeID(0)
	if s.readers != 0 {
		own, last = d.readerIndexes[s.readers].find(e.agent)
		if own != 0 && d.nodeAt(own).event == e.id {
			return
		}
		if own != 0 && follows(d.event(d.nodeAt(own).event)) {
			place = own
		}
	} else {
		n, writes := 0, false
		for i := s.rest; i != 0; i = d.nodeAt(i).next {
			last = i
			n++
			x := d.nodeAt(i)
			if x.event == e.id {
				d.readAgain(s, base, e)
				return
			}
			writes = writes || x.write
			if (x.write || x.agent == e.agent) && follows(d.event(x.event)) {
				place = i
			}
		}
		if !d.plain && !writes && n >= max(manyReaders, len(d.agents)/manyReaders) {
			d.indexReaders(s)
		}
	}
	inOne := (first.write || first.agent == e.agent) && follows(first)
	e.hold()
	switch {
	case inOne:
		d.release(first)
		s.one = e.id
	case place != 0:
		x := d.nodeAt(place)
		old := d.event(x.event)
		if x.agent != e.agent {
			d.dropReaders(s)
		}
		x.event, x.agent, x.write = e.id, e.agent, e.write
		d.release(old)
	default:
		i := d.newNode(e)
		d.nodeAt(last).next = i
		if s.readers != 0 && !d.readerIndexes[s.readers].add(e.agent, i) {
			d.dropReaders(s)
		}
	}
}

// readAgain handles a stretch that an event has read before. A joint event may have to come after
// writes since then. These are later in the list, and there are none if readers have an index.
func (d *Detector) readAgain(s *seg, base mem.Addr, e *event) {
	if !e.joint || s.readers != 0 {
		return
	}
	for i := s.rest; i != 0; i = d.nodeAt(i).next {
		if x := d.nodeAt(i); x.write {
			d.judgePair(d.event(x.event), e, base+mem.Addr(s.lo), int64(s.hi-s.lo))
		}
	}
}

// judgePair judges e after f, and reports whether f must be kept. It must if a later access can be
// ordered after e, conflict with f, and not be known to be ordered after f.
func (d *Detector) judgePair(f, e *event, a mem.Addr, n int64) (keep, settled bool) {
	if f.agent == e.agent && f.op == e.op && e.op != 0 {
		return true, true // pieces of one operation
	}
	m := &d.memo
	switch {
	case f.joint || e.joint:
		m.f, m.ordered = nil, d.beforeAt(f, e, pe(a))
	case m.f != f:
		m.f, m.ordered = f, d.before(f, e, &d.agents[e.agent].clk)
	}
	ordered := m.ordered || f.carrier != 0 && d.knowsLines(&d.agents[e.agent].clk, f, a, n)
	apart := !ordered && (f.write || e.write) && d.heldAt(f) != nil && d.heldAt(e) != nil && d.excluded(f, e, a)
	if f.agent == e.agent && f.plain() && d.doneAt(f) == 0 && (e.plain() || e.local) && !f.joint {
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

// conflict handles two accesses of the same bytes of which at least one is a write.
func (d *Detector) conflict(f, e *event, ordered bool, a mem.Addr, n int64) {
	if !d.shared && f.agent != e.agent && f.agent != history.Host && e.agent != history.Host {
		d.shared = !d.knowsAt(&d.agents[history.Host].clk, f, pe(a)) // else it was in an earlier launch
	}
	if ordered {
		return
	}
	if f.atomic && e.atomic {
		if f.float() || e.float() {
			d.depend("put_combine", "rounds in the order of arrival", d.call(e), d.line(e))
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
