package race

import (
	"fmt"
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// guard is a word that atomics change, as a lock. A section lasts from one change by an agent to
// its next. guard determines which sections exclude each other, in any order of agents.
//
// The word is the sum of base and the levels of all agents. A level is all that an agent has added
// so far. An atomic returns the word, and so the sum of all other levels at that moment. Sections
// of A and B never overlap if these sums exclude two cases. One is that B begins its section while
// A is at the level of its own. The other is the same with A and B exchanged. Levels are those of
// this run, so sections are judged when it is over. The argument assumes that a kernel acts on what
// an atomic returns.
type guard struct {
	word     *word
	base     int64
	begun    bool
	invalid  bool // an update that the argument does not cover
	parties  []party
	sections map[shape]bool // true: a set has ended one
	plain    map[shape]bool // a notification has ended one
	pending  map[shape]bool // of atomics that would have come before the last notification of their agent
	suspects []*suspect
	index    map[suspectKey]*suspect
}

// guarding holds what a Detector knows of guards.
type guarding struct {
	guards   []*guard
	compared map[[2]history.Agent]bool // by maybeLocked
}

// party is an agent that changes the word. Its levels are what it has added, from 0 on.
type party struct {
	agent             history.Agent
	level, least, top int64
	wrote             int64    // what its last change left, when that was an atomic
	section           *section // since its last change, when that was an atomic
	flying            *event   // its last change, when that was a notification
	before            int64    // its level before that
}

// shape determines which sections a section excludes.
type shape struct {
	agent         history.Agent
	level, others int64 // what its agent, and what all others had added when it began
}

// section holds what an agent does between two of its changes of a guard.
type section struct {
	shape
	guard  *guard
	begin  place
	end    uint32 // time of its agent; 0: it goes on
	link   linkID // of the update that ends it
	after  seqs   // what takes effect before that update
	ending place
	inside []inside
}

// inside is an access in a section that goes on, and whose exclusion depends on its end.
type inside struct {
	event *event
	pair  *suspect
}

// held is the sections that an agent is in.
type held struct{ sections []*section }

type suspectKey struct {
	kind                       Kind
	first, second              shape
	call1, line1, call2, line2 string
	buffer                     string
}

// suspect is a hazard unless its two sides exclude each other.
type suspect struct {
	hazard        Hazard
	first, second shape
	agents        [2]history.Agent
	place         wordRead // of a read
	count         int
	named         bool // it is listed among what depends on the schedule
}

// locks notes that a word must be judged as a guard. It returns false if that was known already.
func (f *facts) locks(w history.Word) bool {
	if f.guards[w] {
		return false
	}
	f.guards[w] = true
	return true
}

func (d *Detector) newGuard(w *word) *guard {
	g := &guard{word: w}
	g.reset()
	d.guards = append(d.guards, g)
	return g
}

func (g *guard) reset() {
	*g = guard{
		word: g.word, sections: map[shape]bool{}, plain: map[shape]bool{}, pending: map[shape]bool{},
		index: map[suspectKey]*suspect{},
	}
}

func (g *guard) party(a history.Agent) *party {
	for i := range g.parties {
		if g.parties[i].agent == a {
			return &g.parties[i]
		}
	}
	g.parties = append(g.parties, party{agent: a})
	return &g.parties[len(g.parties)-1]
}

// step enters a change of the word.
func (d *Detector) step(g *guard, e *event, r *history.Record) {
	p := g.party(e.agent)
	if !g.begun {
		if g.begun, g.base = true, g.word.base; e.rmw {
			g.base = r.Seen
		}
	}
	add := e.value()
	switch {
	case e.set && e.rmw:
		add = e.value() - r.Seen
	case e.set && p.section != nil: // no other operation has changed the word since: see covered
		add = e.value() - p.wrote
		g.sections[p.section.shape] = true
	case e.set:
		g.invalid = true
	}
	if add == 0 && e.rmw {
		return
	}
	seen := int64(0)
	if e.rmw {
		seen = r.Seen
	}
	d.landed(g, p, e, seen)
	others := seen - g.base - p.level
	if p.section != nil {
		d.leave(p.section, e, r)
		if !e.rmw {
			g.plain[p.section.shape] = true
		}
	} else if !e.rmw {
		g.invalid = true // it may come at any time
	}
	p.before = p.level
	p.level += add
	p.least, p.top = min(p.least, p.level), max(p.top, p.level)
	p.section = nil
	if e.rmw {
		p.wrote = seen + add
		p.section = &section{shape: shape{e.agent, p.level, others}, guard: g, begin: d.placeOf(r)}
		if _, ok := g.sections[p.section.shape]; !ok {
			g.sections[p.section.shape] = false
		}
	} else {
		p.flying = e
		e.hold()
	}
	d.hold(e.agent, g, p.section)
}

// landed checks that the last change of an agent has come before its next one, e. It checks only
// notifications. If the order is unknown, it notes what to judge later.
func (d *Detector) landed(g *guard, p *party, e *event, seen int64) {
	u := p.flying
	if u == nil {
		return
	}
	p.flying = nil
	if !d.before(u, e, &e.clk) {
		if e.rmw {
			g.pending[shape{p.agent, p.before, seen - g.base - p.before}] = true
		} else {
			g.invalid = true
		}
	}
	d.release(u)
}

// hold notes that an agent is in a section of a guard now, or in none.
func (d *Detector) hold(agent history.Agent, g *guard, s *section) {
	a := &d.agents[agent]
	now := &held{}
	if a.held != nil {
		for _, x := range a.held.sections {
			if x.guard != g {
				now.sections = append(now.sections, x)
			}
		}
	}
	if s != nil {
		now.sections = append(now.sections, s)
	}
	if a.held = now; len(now.sections) == 0 {
		a.held = nil
	}
}

// leave ends a section by an update of its guard. Accesses that are not complete by then are
// reported.
func (d *Detector) leave(s *section, e *event, r *history.Record) {
	s.end, s.link, s.after, s.ending = e.clk.time, e.link, e.before, d.placeOf(r)
	d.closeSection(s)
}

func (d *Detector) closeSection(s *section) {
	for _, x := range s.inside {
		if !d.contains(s, x.event) {
			x.pair.hazard.Missing = d.endsEarly(s, x.event)
			d.confirm(x.pair)
		}
		d.release(x.event)
	}
	s.inside = nil
}

// leaveAll ends all sections of an agent that has ended.
func (d *Detector) leaveAll(agent history.Agent) {
	a := &d.agents[agent]
	if a.held == nil {
		return
	}
	for _, s := range a.held.sections {
		s.end = a.clk.time
		d.closeSection(s)
	}
	a.held = nil
}

// contains reports whether an access in a section was complete at the end of the section, which
// must be over.
func (d *Detector) contains(s *section, e *event) bool {
	c := clock{agent: s.agent, time: s.end}
	return d.knows(&c, e) || s.link != 0 && e.link == s.link && s.after[e.class] >= e.seq
}

// replaces reports whether every section that excludes e also excludes f, which is ordered before
// e.
func (d *Detector) replaces(e, f *event) bool {
	eHeld, fHeld := d.heldAt(e), d.heldAt(f)
	if eHeld == nil || eHeld == fHeld {
		return true
	}
	if f.agent != e.agent || fHeld == nil {
		return false
	}
	for _, t := range eHeld.sections {
		found := false
		for _, s := range fHeld.sections {
			found = found || s == t || s.guard == t.guard && s.shape == t.shape && s.end != 0 && d.contains(s, f)
		}
		if !found {
			return false
		}
	}
	return true
}

// excluded reports whether the unordered f and e are in sections that exclude each other, as far as
// is known. If so, they become a suspect. It is reported if at the end the guard excludes nothing.
func (d *Detector) excluded(f, e *event, at mem.Addr) bool {
	if f.atomic && e.atomic {
		return false
	}
	if slices.Contains(d.apart, f) {
		return true
	}
	for _, s := range d.heldAt(f).sections {
		for _, t := range d.heldAt(e).sections {
			if s.guard != t.guard || s.agent == t.agent || s.end == 0 || !s.guard.exclude(s.shape, t.shape) || !d.contains(s, f) {
				continue
			}
			x := d.suspect(s.guard, Race, s.shape, t.shape, f, e, at)
			if n := len(t.inside); n == 0 || t.inside[n-1] != (inside{e, x}) {
				e.hold()
				t.inside = append(t.inside, inside{e, x})
			}
			d.apart = append(d.apart, f)
			return true
		}
	}
	return false
}

// suspect notes a hazard that is reported if the guard excludes nothing after all.
func (d *Detector) suspect(g *guard, k Kind, s, t shape, f, e *event, at mem.Addr) *suspect {
	key := suspectKey{k, s, t, d.call(f), d.line(f), d.call(e), d.line(e), ""}
	where := d.region(at)
	key.buffer = d.buffer(where)
	x := g.index[key]
	if x == nil {
		x = &suspect{first: s, second: t, agents: [2]history.Agent{f.agent, e.agent}}
		x.hazard = Hazard{Kind: k, First: d.describe(f), Second: d.describe(e), Where: where, Addr: uint64(at)}
		if k == Race {
			x.hazard.First.State = d.state(f, e)
			x.hazard.Missing = d.missingEdge(f, e)
		} else {
			x.hazard.Missing = d.missingUpdate(f, e)
		}
		g.index[key] = x
		g.suspects = append(g.suspects, x)
	}
	x.count++
	return x
}

// confirm reports a suspect.
func (d *Detector) confirm(x *suspect) {
	h := &x.hazard
	if y := d.open(h.Kind, mem.Addr(h.Addr), h.First, h.Second, x.agents[0], x.agents[1]); y != nil {
		y.First, y.Second, y.Missing = h.First, h.Second, h.Missing
	}
}

// reach reports whether others can be the sum of all levels but that of agent b, while agent a is
// at the given level.
func (g *guard) reach(a, b history.Agent, level, others int64) bool {
	least, top := level, level
	for i := range g.parties {
		if p := &g.parties[i]; p.agent != a && p.agent != b {
			least += p.least
			top += p.top
		}
	}
	return others >= least && others <= top
}

// exclude reports whether neither of two sections can begin while the other one goes on.
func (g *guard) exclude(s, t shape) bool {
	return !g.reach(s.agent, t.agent, s.level, t.others) && !g.reach(t.agent, s.agent, t.level, s.others)
}

// covered reports whether the argument holds for all changes of the word.
func (g *guard) covered() bool {
	if g.invalid {
		return false
	}
	for s, set := range g.sections {
		if !g.reach(s.agent, s.agent, 0, s.others) {
			return false // the word did not begin with base
		}
		for t := range g.sections { // a set overwrites the changes since its section began
			if set && s.agent != t.agent && (g.reach(s.agent, t.agent, s.level, t.others) || g.plain[t] && !g.exclude(s, t)) {
				return false
			}
		}
	}
	for s := range g.pending {
		if g.reach(s.agent, s.agent, 0, s.others) {
			return false
		}
	}
	return true
}

// settleGuards reports the suspects that nothing excludes after all.
func (d *Detector) settleGuards() {
	for _, g := range d.guards {
		if len(g.suspects) == 0 {
			continue
		}
		covered := g.covered()
		for _, x := range g.suspects {
			if !covered || x.hazard.Kind == Race && !g.exclude(x.first, x.second) {
				for ; x.count > 0; x.count-- {
					d.confirm(x)
				}
			}
			if h := &x.hazard; x.count > 0 && h.Kind == Race && !x.named {
				x.named = true
				d.ordered.add("section", "comes before or after "+spot(h.First.Call,
					h.First.Line)+", as the word is taken", h.Second.Call, h.Second.Line)
			}
		}
	}
}

// restGuards judges and resets the guards, at a moment when no agent runs.
func (d *Detector) restGuards() {
	d.settleGuards()
	for _, g := range d.guards {
		for i := range g.parties {
			if u := g.parties[i].flying; u != nil {
				d.release(u)
			}
		}
		g.reset()
	}
}

// dropGuard removes a guard whose word no longer exists. It does nothing for nil.
func (d *Detector) dropGuard(g *guard) {
	if g == nil {
		return
	}
	d.restGuards()
	d.guards = slices.DeleteFunc(d.guards, func(x *guard) bool { return x == g })
}

// maybeLocked requests a pass in which the words that both agents change by atomics are guards.
func (d *Detector) maybeLocked(a, b history.Agent) {
	key := [2]history.Agent{a, b}
	if a == b || len(d.agents[a].atomics) == 0 || len(d.agents[b].atomics) == 0 || d.compared[key] {
		return
	}
	d.compared[key] = true
	for _, w := range d.agents[a].atomics {
		for _, x := range d.agents[b].atomics {
			if w == x {
				d.learned(d.facts.locks(w))
			}
		}
	}
}

// sectionHint returns why f and e do not exclude each other. Either a section ends before its
// access is complete, or only one of the two agents has taken the word.
func (d *Detector) sectionHint(f, e *event) string {
	in := func(x *event, g *guard) *section {
		if h := d.heldAt(x); h != nil {
			for _, s := range h.sections {
				if s.guard == g {
					return s
				}
			}
		}
		return nil
	}
	takes := func(x, other *event, s *section) string {
		return fmt.Sprintf("%v must hold the word at %s during %s, as %v does from %s on",
			d.agentOf(x), d.region(s.guard.word.addr), d.spot(x), d.agentOf(other), spot(s.begin.call, s.begin.line))
	}
	if h := d.heldAt(f); h != nil {
		for _, s := range h.sections {
			t := in(e, s.guard)
			switch {
			case t != nil && s.end != 0 && !d.contains(s, f):
				return d.endsEarly(s, f)
			case t == nil && s.guard.excludesAny(s.shape):
				return takes(e, f, s)
			}
		}
	}
	if h := d.heldAt(e); h != nil {
		for _, t := range h.sections {
			if in(f, t.guard) == nil && t.guard.excludesAny(t.shape) {
				return takes(f, e, t)
			}
		}
	}
	return ""
}

// excludesAny reports whether a section excludes some section of another agent.
func (g *guard) excludesAny(s shape) bool {
	for t := range g.sections {
		if t.agent != s.agent && g.exclude(s, t) {
			return true
		}
	}
	return false
}

// endsEarly returns the hint for an access that is not complete at the end of its section.
func (d *Detector) endsEarly(s *section, e *event) string {
	return fmt.Sprintf("%s of %v between %s and %s, which lets others in",
		d.finishing(e, -1), d.agentOf(e), d.spot(e), spot(s.ending.call, s.ending.line))
}
