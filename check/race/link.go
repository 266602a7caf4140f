package race

import (
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// link is what one agent sends to the memory of one PE: stores, puts, notifications. Their numbers
// grow; those of one agent differ.
// It fits a line of a cache.
type link struct {
	id       linkID
	agent    history.Agent
	to       int32  // PE
	seq      uint32 // of the last
	fenced   uint32 // effects up to this number come before later ones
	fences   uint32 // fences of the agent that have been taken into account
	notified seqs   // by channel: the number that the last notification, and so the next one, comes after
	tidy     int32  // number of covers at which unused ones are dropped
	known    []cover
}

// linkState is what a link's events need of it. It lies apart, so that the caches hold it for all
// links.
type linkState struct {
	live list // by seq
	most seqs // the largest numbers among all covers so far
}

// linkID is the number of a link; 0: none.
type linkID uint32

// linkPool holds the links. They are never given back.
type linkPool struct {
	links     [][]link // in slabs
	states    [][]linkState
	numLinks  linkID
	coverSlab []cover // the rest of a slab, for links without covers
}

// Links lie in slabs of linkSlab links.
const (
	linkBits = 6
	linkSlab = 1 << linkBits
)

func (d *linkPool) linkAt(i linkID) *link { return &d.links[i>>linkBits][i&(linkSlab-1)] }

func (d *linkPool) linkStateAt(i linkID) *linkState { return &d.states[i>>linkBits][i&(linkSlab-1)] }

// newLink adds a link.
func (d *linkPool) newLink() *link {
	d.numLinks++
	if int(d.numLinks>>linkBits) >= len(d.links) {
		d.links = append(d.links, make([]link, linkSlab))
		d.states = append(d.states, make([]linkState, linkSlab))
	}
	l := d.linkAt(d.numLinks)
	l.id = d.numLinks
	return l
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

// linkTo returns the link of an agent to a PE.
func (d *Detector) linkTo(agent history.Agent, to int32) *link {
	a := &d.agents[agent]
	if a.lastLink != 0 && a.lastPE == to {
		return d.linkAt(a.lastLink)
	}
	i := a.links.at(to)
	if i == 0 {
		l := d.newLink()
		l.agent, l.to, l.fences = agent, to, a.fences
		i = l.id
		a.links.set(to, i)
	}
	a.lastLink, a.lastPE = i, to
	return d.linkAt(i)
}

// fencedLink returns the link of an agent to a PE, on which the fences so far have been taken into
// account.
func (d *Detector) fencedLink(agent history.Agent, to int32) *link {
	l := d.linkTo(agent, to)
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
	e.link, e.seq, e.class = l.id, l.seq, c
	p, live := d.placeIn(e.id), &d.linkStateAt(l.id).live
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
		d.linkStateAt(e.link).live.head = p.lnext
	}
	if p.lnext != 0 {
		d.placeIn(p.lnext).lprev = p.lprev
	} else {
		d.linkStateAt(e.link).live.tail = p.lprev
	}
	p.lprev, p.lnext = 0, 0
}

// covers reports whether the clock knows the event through a later effect on its link. The newest
// covers have the largest numbers.
func (d *Detector) covers(c *clock, e *event) bool { return d.coversOn(e.link, c, e) }

// coversOn is covers for the accesses of an event on a link.
func (d *Detector) coversOn(on linkID, c *clock, e *event) bool {
	if d.linkStateAt(on).most[e.class] < e.seq {
		return false
	}
	l := d.linkAt(on)
	for i := len(l.known) - 1; i >= 0; i-- {
		if v := &l.known[i]; v.upTo[e.class] >= e.seq && c.reaches(v.agent, v.time) {
			return true
		}
	}
	return false
}

// emptied returns the number up to which the clock knows the link to be empty.
func (l *link) emptied(c *clock) (upTo seqs) {
	for i := range l.known {
		if v := &l.known[i]; c.reaches(v.agent, v.time) {
			upTo.raise(v.upTo)
		}
	}
	return upTo
}

// mostWalked bounds the events of a link that are examined one by one.
const mostWalked = 64

// emptied returns the number up to which the clock knows the link to be empty, by any evidence.
// Numbers above most are of no interest.
func (d *Detector) emptied(on linkID, c *clock, most seqs) seqs {
	l := d.linkAt(on)
	upTo, far, n := most, slices.Max(most[:]), 0
	for i := d.linkStateAt(l.id).live.head; i != 0; {
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
	upTo.raise(l.emptied(c))
	return upTo
}

// cover notes that an agent knows, from a moment on, all effects up to certain numbers.
func (d *Detector) cover(on linkID, w witness, upTo seqs) {
	if upTo == (seqs{}) {
		return
	}
	l := d.linkAt(on)
	news := true
	for i := len(l.known) - 1; i >= 0; i-- {
		if v := &l.known[i]; v.agent == w.agent {
			news = false
			for c := range upTo {
				news = news || upTo[c] > v.upTo[c]
			}
			break
		}
	}
	if !news {
		return
	}
	if len(l.known) >= max(int(l.tidy), 64) {
		d.tidyCovers(l)
		l.tidy = int32(2 * len(l.known))
	}
	if l.known == nil {
		l.known = d.emptyCovers()
	}
	l.known = append(l.known, cover{w, upTo})
	d.linkStateAt(on).most.raise(upTo)
}

// emptyCovers has space for the one cover that many links have.
func (d *linkPool) emptyCovers() []cover {
	if len(d.coverSlab) == 0 {
		d.coverSlab = make([]cover, 512)
	}
	new := d.coverSlab[:0:1]
	d.coverSlab = d.coverSlab[1:]
	return new
}

// tidyCovers drops the covers that are the first of their agent for no event that is left.
func (d *Detector) tidyCovers(l *link) {
	for c := range d.places {
		d.places[c] = d.places[c][:0]
	}
	for i := d.linkStateAt(l.id).live.head; i != 0; {
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
	l.known = slices.DeleteFunc(l.known, func(v cover) bool {
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
