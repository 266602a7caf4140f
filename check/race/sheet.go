package race

import (
	"kernbench/mem"
	"kernbench/record/history"
)

// This file keeps the memory of tiles by columns. A tile is some columns of a block of rows.
// Without sheets, each row of each tile has a stretch.
// Invariant: each access to the memory of a sheet covers the same columns in all its rows. So all
// rows have the same accesses, and one row stands for all. Any other access splits the sheet into
// rows. A put does too, because it may be a packet.

// sheet is a sequence of rows of memory that are kept as one row.
type sheet struct {
	page  // stretches of columns, with the addresses of the first row
	base  mem.Addr
	pitch int64
	rows  int32
}

// sheetID is the number of a sheet; 0: none.
type sheetID uint32

// leastRows is the number of rows from which on tiles are kept by columns.
const leastRows = 4

// sheetPool holds the sheets, by number.
type sheetPool struct {
	sheets     []*sheet
	freeSheets []sheetID
}

func (s *sheet) end() mem.Addr { return s.base + mem.Addr(int64(s.rows)*s.pitch) }

// holds reports whether a page has stretches in [lo, hi).
func (p *page) holds(lo, hi uint16) bool {
	i := firstAfter(p.segs, lo)
	return i < len(p.segs) && p.segs[i].lo < hi
}

// sheetsAt returns the sheets of the page of an address.
func (s *shadow) sheetsAt(a mem.Addr) *pageSheets {
	p := s.pageAt(a)
	if p.sheets == nil {
		p.sheets = new(pageSheets)
	}
	return p.sheets
}

// sheetAfter returns the first sheet of the page of an address that ends after it; nil: none.
func (d *Detector) sheetAfter(a mem.Addr) *sheet {
	of := d.pageAt(a).sheets
	if of == nil {
		return nil
	}
	var first *sheet
	for _, i := range of {
		if i == 0 {
			continue
		}
		if s := d.sheets[i]; s.end() > a && (first == nil || s.base < first.base) {
			first = s
		}
	}
	return first
}

// tile enters an access of several rows into a sheet. It returns false if there is none that fits.
func (d *Detector) tile(e *event, r *history.Range) bool {
	if d.plain || r.Rows < leastRows || r.Bytes <= 0 || r.Pitch <= r.Bytes || r.Pitch > pageSize || int64(r.Rows)*r.Pitch < pageSize {
		return false
	}
	s := d.sheetAfter(r.Addr)
	if s == nil || s.base > r.Addr {
		s = d.newSheet(r)
	}
	if s == nil || s.pitch != r.Pitch || s.rows != r.Rows {
		return false
	}
	column := int64(r.Addr - s.base)
	if column+r.Bytes > s.pitch {
		return false
	}
	d.touch(&s.page, s.base, uint16(column), uint16(column+r.Bytes), e)
	return true
}

// newSheet makes a sheet for a tile. It returns nil if the rows do not have the same accesses so
// far: none, or one of all of them.
func (d *Detector) newSheet(r *history.Range) *sheet {
	p, in := d.pageAt(r.Addr), r.Addr&(pageSize-1)
	// Guess where the first column is. A wrong guess costs time: tiles do not fit the sheet.
	column := r.Addr % mem.Addr(r.Pitch)
	if i := firstAfter(p.segs, uint16(in)); i < len(p.segs) && mem.Addr(p.segs[i].lo) <= in {
		column = (r.Addr - d.event(p.segs[i].one).addr) % mem.Addr(r.Pitch) // the access of the whole matrix
	} else if column%mem.Addr(r.Bytes) != 0 {
		column = 0
	}
	s := &sheet{base: r.Addr - column, pitch: r.Pitch, rows: r.Rows}
	if int64(column)+r.Bytes > r.Pitch {
		return nil
	}
	one, first := eventID(0), true
	for a := s.base; a < s.end(); {
		p, lo, hi := d.pagePart(a, s.end())
		if x := d.sheetAfter(a); x != nil && x.base < s.end() {
			return nil
		}
		var now eventID
		if p.holds(lo, hi) {
			at := &p.segs[firstAfter(p.segs, lo)]
			if f := d.event(at.one); f.class == received {
				d.expand(at, f, &d.agents[f.agent])
			}
			g := *at
			if g.lo > lo || g.hi < hi || g.rest != 0 || g.readers != 0 {
				return nil
			}
			now = g.one
		}
		if !first && now != one {
			return nil
		}
		one, first = now, false
		a += mem.Addr(hi - lo)
	}
	if one != 0 && d.event(one).carrier != 0 {
		return nil // it may be a packet, of which each row has lines of its own
	}
	d.enterSheet(s, one)
	return s
}

// pagePart returns the page of an address, and what of [a, end) it has.
func (d *Detector) pagePart(a, end mem.Addr) (p *page, lo, hi uint16) {
	base := a &^ (pageSize - 1)
	return d.pageAt(a), uint16(a - base), uint16(min(end, base+pageSize) - base)
}

// enterSheet puts a sheet in place of what its memory has: one access, or none.
func (d *Detector) enterSheet(s *sheet, one eventID) {
	id := sheetID(len(d.sheets))
	if n := len(d.freeSheets); n > 0 {
		id, d.freeSheets = d.freeSheets[n-1], d.freeSheets[:n-1]
	} else {
		if id == 0 { // no sheet has this number
			id, d.sheets = 1, append(d.sheets, nil)
		}
		d.sheets = append(d.sheets, nil)
	}
	d.sheets[id] = s
	if one != 0 {
		d.event(one).hold()
		s.segs = append(s.segs, seg{hi: uint16(s.pitch), one: one})
	}
	for a := s.base; a < s.end(); {
		p, lo, hi := d.pagePart(a, s.end())
		p.cutOut(d, lo, hi)
		d.sheetsAt(a).set(0, id)
		a += mem.Addr(hi - lo)
	}
}

// cutOut removes [lo, hi) from a page, where it has one stretch or none.
func (p *page) cutOut(d *Detector, lo, hi uint16) {
	if !p.holds(lo, hi) {
		return
	}
	i := firstAfter(p.segs, lo)
	g := p.segs[i]
	var left []seg
	if g.lo < lo {
		left = append(left, seg{lo: g.lo, hi: lo, one: g.one})
		d.event(g.one).hold()
	}
	if g.hi > hi {
		left = append(left, seg{lo: hi, hi: g.hi, one: g.one})
		d.event(g.one).hold()
	}
	d.release(d.event(g.one))
	p.segs = append(p.segs[:i:i], append(left, p.segs[i+1:]...)...)
}

// pageSheets are the sheets of a page: sheets are no shorter than a page, so these are two at most.
type pageSheets [2]sheetID

// set puts a number in place of another one.
func (x *pageSheets) set(old, new sheetID) {
	for i := range x {
		if x[i] == old {
			x[i] = new
			return
		}
	}
	panic("race: a page with three sheets")
}

// dissolve gives each row of a sheet stretches of its own.
func (d *Detector) dissolve(s *sheet) {
	id := d.numberOf(s)
	for a := s.base; a < s.end(); {
		_, lo, hi := d.pagePart(a, s.end())
		d.sheetsAt(a).set(id, 0)
		a += mem.Addr(hi - lo)
	}
	for row := range mem.Addr(s.rows) {
		at := s.base + row*mem.Addr(s.pitch)
		for i := range s.segs {
			g := &s.segs[i]
			for a, end := at+mem.Addr(g.lo), at+mem.Addr(g.hi); a < end; {
				p, lo, hi := d.pagePart(a, end)
				c := d.clone(g)
				c.lo, c.hi = lo, hi
				k := firstAfter(p.segs, lo)
				p.segs = append(p.segs, seg{})
				copy(p.segs[k+1:], p.segs[k:])
				p.segs[k] = c
				a += mem.Addr(hi - lo)
			}
		}
	}
	d.releaseSegs(s.segs)
	d.sheets[id] = nil
	d.freeSheets = append(d.freeSheets, id)
}

// numberOf returns the number of a sheet.
func (d *Detector) numberOf(s *sheet) sheetID {
	for _, i := range d.sheetsAt(s.base) {
		if i != 0 && d.sheets[i] == s {
			return i
		}
	}
	panic("race: a sheet without a page")
}

// acrossSheet handles the next part of an access of memory without gaps, [a, end), whose page has
// sheets. It returns where a part that no sheet has ends, or where the access goes on after a
// sheet.
func (d *Detector) acrossSheet(e *event, a, end mem.Addr) (free, next mem.Addr) {
	for {
		s := d.sheetAfter(a)
		switch {
		case s == nil:
			return end, a
		case s.base > a:
			return min(end, s.base), a
		case s.base == a && s.end() <= end && e.kind != history.Put:
			d.touch(&s.page, s.base, 0, uint16(s.pitch), e)
			return a, s.end()
		}
		d.dissolve(s)
	}
}

// clearSheets removes all sheets.
func (d *Detector) clearSheets() {
	for _, s := range d.sheets {
		if s != nil {
			d.releaseSegs(s.segs)
		}
	}
	d.sheets, d.freeSheets = d.sheets[:0], d.freeSheets[:0]
}
