package race

import (
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// link is what one agent sends to the memory of one PE: stores, puts, notifications. Their numbers
// grow; those of one agent differ.
// There may be a link for each pair of ranks, most of which have one cover. So a link holds no
// pointer, and fits a line of a cache with one cover.
type link struct {
	agent    history.Agent
	to       int32  // PE
	seq      uint32 // of the last
	fenced   uint32 // effects up to this number come before later ones
	fences   uint32 // fences of the agent that have been taken into account
	notified seqs   // by channel: the number that the last notification, and so the next one, comes after
	live     list   // by seq
	one      [1]cover
	covers   coversID // of more than one cover; else 0, and one may have a cover
}

// linkID is the number of a link; 0: none.
type linkID uint32

// coversID is the number of a linkCovers; 0: none.
type coversID uint32

// linkCovers are all covers of a link that has had several.
type linkCovers struct {
	all  []cover
	most seqs // the largest numbers among all covers so far
	tidy int  // number of covers at which unused ones are dropped
}

// linkPool holds the links. They are never given back.
type linkPool struct {
	links    [][]link // in slabs
	numLinks linkID
	several  []linkCovers
}

// Links lie in slabs of linkSlab links.
const (
	linkBits = 6
	linkSlab = 1 << linkBits
)

func (d *linkPool) linkAt(i linkID) *link { return &d.links[i>>linkBits][i&(linkSlab-1)] }

// newLink returns the number of a new link.
func (d *linkPool) newLink() linkID {
	d.numLinks++
	if int(d.numLinks>>linkBits) >= len(d.links) {
		d.links = append(d.links, make([]link, linkSlab))
	}
	return d.numLinks
}

// linksTo is the links of an agent by PE. Those to the first PEs are in a row if they are many: the
// row has at most emptyLinks places for each link.
type linksTo struct {
	row  []linkID
	rest map[int32]linkID
	n    int
}

const (
	manyLinks  = 8
	emptyLinks = 16
)

func (t *linksTo) at(to int32) linkID {
	if uint32(to) < uint32(len(t.row)) {
		return t.row[to]
	}
	return t.rest[to]
}

// set enters a link that is not there yet.
func (t *linksTo) set(to int32, i linkID) {
	t.n++
	if n := len(t.row); int(to) == n && n > 0 && n < emptyLinks*t.n && len(t.rest) == 0 {
		t.row = append(t.row, i)
		return
	}
	if uint32(to) < uint32(len(t.row)) {
		t.row[to] = i
		return
	}
	if t.rest == nil {
		t.rest = map[int32]linkID{}
	}
	t.rest[to] = i
	if n := emptyLinks * t.n; t.n >= manyLinks && n >= 2*len(t.row) {
		t.extend(n)
	}
}

// extend makes the row longer, at most to n places.
func (t *linksTo) extend(n int) {
	last := len(t.row) - 1
	for pe := range t.rest {
		if int(pe) < n {
			last = max(last, int(pe))
		}
	}
	t.row = append(t.row, make([]linkID, last+1-len(t.row))...)
	for pe, i := range t.rest {
		if uint32(pe) < uint32(len(t.row)) {
			t.row[pe] = i
			delete(t.rest, pe)
		}
	}
}

// cover is a moment of an agent at which it knew that all effects up to certain numbers had
// happened.
type cover struct {
	witness
	upTo seqs
}

// tidying is the scratch of tidyCovers.
type tidying struct {
	places [classes][]uint32
	had    []cover
}

// linkTo returns the number of the link of an agent to a PE.
func (d *Detector) linkTo(agent history.Agent, to int32) linkID {
	a := &d.agents[agent]
	if a.lastLink != 0 && a.lastPE == to {
		return a.lastLink
	}
	i := a.links.at(to)
	if i == 0 {
		i = d.newLink()
		l := d.linkAt(i)
		l.agent, l.to, l.fences = agent, to, a.fences
		a.links.set(to, i)
	}
	a.lastLink, a.lastPE = i, to
	return i
}

// fencedLink returns the link of an agent to a PE, on which the fences so far have been taken into
// account.
func (d *Detector) fencedLink(agent history.Agent, to int32) *link {
	l := d.linkAt(d.linkTo(agent, to))
	if a := &d.agents[agent]; l.fences != a.fences {
		l.fences, l.fenced = a.fences, l.seq
	}
	return l
}

// nextSeq numbers an effect of an agent at a PE.
func (a *agent) nextSeq() uint32 {
	a.seq++
	return a.seq
}

// enlist numbers an event on a link, and sets which effects come before it.
func (d *Detector) enlist(e *event, to int32, c class) {
	l := d.fencedLink(e.agent, to)
	e.before = seqs{l.fenced, l.fenced, l.fenced}
	switch d.opts.Order {
	case mem.ByChannel:
		e.before[c] = l.seq
		if c == control {
			e.before.raise(l.notified)
			l.notified = e.before
		}
	case mem.InOrder, mem.Sequential:
		e.before = seqs{l.seq, l.seq, l.seq}
	}
	l.seq = d.agents[e.agent].nextSeq()
	e.link, e.seq, e.class = d.linkTo(e.agent, to), l.seq, c
	p, live := d.placeIn(e.id), &l.live
	p.lprev, p.lnext = live.tail, 0
	if live.tail != 0 {
		d.placeIn(live.tail).lnext = e.id
	} else {
		live.head = e.id
	}
	live.tail = e.id
}

// unlink takes an event off its link.
func (d *Detector) unlink(e *event) {
	p := d.placeIn(e.id)
	if p.lprev != 0 {
		d.placeIn(p.lprev).lnext = p.lnext
	} else {
		d.linkAt(e.link).live.head = p.lnext
	}
	if p.lnext != 0 {
		d.placeIn(p.lnext).lprev = p.lprev
	} else {
		d.linkAt(e.link).live.tail = p.lprev
	}
	p.lprev, p.lnext = 0, 0
}

// covers reports whether the clock knows the event through a later effect on its link. The newest
// covers have the largest numbers.
func (d *Detector) covers(c *clock, e *event) bool { return d.coversOn(e.link, c, e) }

// coversOn is covers for the accesses of an event on a link. A clock that knows of a later effect
// of an agent knows that agent's time then. So a clock that does not know when the event was issued
// needs no look at the link.
func (d *Detector) coversOn(on linkID, c *clock, e *event) bool {
	if !d.plain && !d.defers(c) && d.at(c, e.agent) < e.issued {
		return false
	}
	l := d.linkAt(on)
	if l.covers != 0 && d.several[l.covers].most[e.class] < e.seq {
		return false
	}
	known := d.coversOf(l)
	for i := len(known) - 1; i >= 0; i-- {
		if v := &known[i]; v.upTo[e.class] >= e.seq && d.reaches(c, v.agent, v.time) {
			return true
		}
	}
	return false
}

// coversOf returns the covers of a link, the newest last.
func (d *linkPool) coversOf(l *link) []cover {
	switch {
	case l.covers != 0:
		return d.several[l.covers].all
	case l.one[0].time != 0:
		return l.one[:]
	}
	return nil
}

// mostWalked bounds the events of a link that are examined one by one.
const mostWalked = 64

// emptied returns the number up to which the clock knows the link to be empty, by any evidence.
// Numbers above most are of no interest. Nothing is known of effects that are still to come: the
// numbers of a later update may be among them (foresee).
func (d *Detector) emptied(on linkID, c *clock, most seqs) seqs {
	l := d.linkAt(on)
	for k := range most {
		most[k] = min(most[k], d.agents[l.agent].seq)
	}
	upTo, far, n := most, slices.Max(most[:]), 0
	for i := l.live.head; i != 0; {
		e := d.event(i)
		if i = d.placeIn(i).lnext; e.seq > far {
			break
		}
		if n++; n > mostWalked {
			for k := range upTo {
				upTo[k] = min(upTo[k], e.seq-1)
			}
			break
		}
		if e.seq <= upTo[e.class] && !d.knows(c, e) {
			upTo[e.class] = e.seq - 1
		}
	}
	for _, e := range d.agents[l.agent].linked { // each may have accesses on the link
		if e.seq <= upTo[e.class] && !d.knowsJoint(c, e, on) {
			upTo[e.class] = e.seq - 1
		}
	}
	for _, v := range d.coversOf(l) {
		if d.reaches(c, v.agent, v.time) {
			upTo.raise(v.upTo)
		}
	}
	return upTo
}

// cover notes that an agent knows, from a moment on, all effects up to certain numbers.
func (d *Detector) cover(on linkID, w witness, upTo seqs) {
	if upTo == (seqs{}) {
		return
	}
	l := d.linkAt(on)
	known := d.coversOf(l)
	news := true
	for i := len(known) - 1; i >= 0; i-- {
		if v := &known[i]; v.agent == w.agent {
			news = false
			for c := range upTo {
				news = news || upTo[c] > v.upTo[c]
			}
			break
		}
	}
	if news {
		d.addCover(l, cover{w, upTo})
	}
}

// fewCovers is the number of covers of a link that are kept without a look at which are used.
const fewCovers = 64

// addCover adds a cover to those of a link.
func (d *Detector) addCover(l *link, v cover) {
	if l.covers == 0 {
		if l.one[0].time == 0 {
			l.one[0] = v
			return
		}
		if len(d.several) == 0 {
			d.several = append(d.several, linkCovers{}) // number 0
		}
		l.covers = coversID(len(d.several))
		d.several = append(d.several, linkCovers{all: append(make([]cover, 0, 4), l.one[0]), most: l.one[0].upTo})
	}
	x := &d.several[l.covers]
	if len(x.all) >= max(x.tidy, fewCovers) {
		d.tidyCovers(l, x)
		x.tidy = 4 * len(x.all)
	}
	x.all = append(x.all, v)
	x.most.raise(v.upTo)
}

// tidyCovers drops the covers that are the first of their agent for no event that is left.
func (d *Detector) tidyCovers(l *link, x *linkCovers) {
	for c := range d.places {
		d.places[c] = d.places[c][:0]
	}
	for i := l.live.head; i != 0; {
		e := d.event(i)
		i = d.placeIn(i).lnext
		d.places[e.class] = append(d.places[e.class], e.seq)
	}
	if linked := d.agents[l.agent].linked; len(linked) > 0 {
		for _, e := range linked {
			d.places[e.class] = append(d.places[e.class], e.seq)
		}
		for c := range d.places {
			slices.Sort(d.places[c])
		}
	}
	had := d.had[:0] // by agent: what earlier covers have
	x.all = slices.DeleteFunc(x.all, func(v cover) bool {
		i := slices.IndexFunc(had, func(h cover) bool { return h.agent == v.agent })
		if i < 0 {
			i = len(had)
			had = append(had, cover{witness: v.witness})
		}
		needed := false
		for c := range v.upTo {
			k, _ := slices.BinarySearch(d.places[c], had[i].upTo[c]+1)
			needed = needed || k < len(d.places[c]) && d.places[c][k] <= v.upTo[c]
		}
		had[i].upTo.raise(v.upTo)
		return !needed
	})
	d.had = had
}
