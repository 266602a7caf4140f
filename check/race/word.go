package race

import (
	"fmt"
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
)

// word is a control word: what it held at first, and the updates that not every
// reader of it knows yet.
type word struct {
	number uint32 // in words.full
	used   bool

	addr    history.Word
	typ     mem.WordType
	base    int64    // what it holds with none of updates
	latest  int64    // with all of them, in the order of the account
	updates []*event // in the order of the account
	later   []*event // of earlier passes: updates that are still to come

	readers   []reader
	notifiers []notifier
	waits     []*wait
	reads     []*event   // by agent, the last that others may not know of
	plain     []sighting // by agent, its last wait that is not among waits

	guard *guard // nil: not judged as a lock

	careful   bool // waits are kept though only one agent updates the word
	folded    bool
	hidden    bool   // base includes a set: a notifier that adds must know of it
	flagGone  bool   // base includes the flag of a packet of which no more is known: see flag.go
	guessed   bool   // base may include updates that some readers do not know, or that were never seen
	hostFold  uint32 // time of the host at which it knew all updates in base; 0: another agent knew first
	tidy      int    // number of updates at which fold is called
	tidyWaits int
}

// reader is an agent that depends on the order of updates: it waits, reads, or sets.
type reader struct {
	agent   history.Agent
	looks   uint32 // number of reads of the word
	mark    uint32 // time at which it knew all updates in base
	awaited bool   // known from an earlier pass; it has not read the word in this one
}

// notifier is an agent that updates the word.
type notifier struct {
	agent   history.Agent
	count   uint32
	awaited bool // as of a reader
}

// mostUpdates bounds the updates kept per word. From manyUpdates on, updates that an agent has only
// seen are folded too: it learns nothing from them.
const (
	mostUpdates = 4096
	manyUpdates = 16
)

// reads notes that an agent depends on the order of updates of the word.
func (d *Detector) reads(w *word, a history.Agent) {
	for i := range w.readers {
		if w.readers[i].agent == a {
			w.readers[i].awaited = false
			return
		}
	}
	w.readers = append(w.readers, reader{agent: a})
	if !w.folded || w.hostFold > 0 && d.reaches(&d.agents[a].clk, history.Host, w.hostFold) {
		return
	}
	for _, r := range w.readers {
		if r.mark > 0 && d.reaches(&d.agents[a].clk, r.agent, r.mark) {
			return
		}
	}
	if w.flagGone {
		d.void = true
		return
	}
	d.learned(d.facts.reads(w.addr, a))
}

// awaits reports whether an earlier pass found an agent that depends on the order of updates and
// has not read the word yet.
func (w *word) awaits(a history.Agent) bool {
	return slices.ContainsFunc(w.readers, func(r reader) bool { return r.awaited && r.agent == a })
}

// look counts the reads of a reader.
func (w *word) look(a history.Agent) uint32 {
	for i := range w.readers {
		if r := &w.readers[i]; r.agent == a {
			r.looks++
			return r.looks
		}
	}
	return 0
}

// notify handles an update that returns nothing.
func (d *Detector) notify(r *history.Record) {
	d.sided = true
	if d.notifyJointly(r) {
		d.changed(r)
		return
	}
	if a := &d.agents[r.Agent]; a.notified {
		a.tick()
	}
	e := d.newUpdate(r)
	a := &d.agents[r.Agent] // not earlier: a new word may add agents
	d.enlist(e, r.Peer, control)
	if r.Carry && a.put != nil && a.put.op == r.Op {
		a.put.carrier = e.id
		e.hold()
		e.carries = true
		d.passVia(e, a.put)
		if d.opts.Order == mem.ByChannel {
			e.before[collective] = max(e.before[collective], a.put.seq)
			d.linkAt(e.link).notified = e.before
		}
	}
	// A stream or the host continues only after its write has taken effect.
	if d.opts.Order == mem.Sequential || d.isStream(a) || r.Agent == history.Host {
		e.done = e.issued
	}
	d.changed(r)
	switch {
	case r.Lines != tl.NoLine: // a flag that is not reused is set once: see packet
	case e.set:
		d.depend("set", "hides what the word held before", r.Call, r.Line)
	case e.value() < 0:
		d.depend("add", "of a negative number: a wait may see the word before or after", r.Call, r.Line)
	}
	d.updated(e, r)
}

func (d *Detector) newUpdate(r *history.Record) *event {
	e := d.newEvent(r)
	e.op, e.update, e.addr, e.typ, e.set, e.x, e.v = 0, true, r.Word, r.Type, r.Update == tl.SignalSet, uint8(r.Lines), r.Value
	return e
}

// atomically handles an update that returns the word's former value.
func (d *Detector) atomically(r *history.Record) {
	d.sided = true
	swap := r.Update == tl.SignalSet
	switch {
	case !d.opts.Ignored && swap:
		d.depend("compare_swap", "who comes first depends on the schedule", r.Call, r.Line)
	case !d.opts.Ignored:
		d.depend("fetch_add", "what it returns depends on which rank, program or engine comes first", r.Call, r.Line)
	case swap:
		d.swapped(r)
	default:
		d.addIgnored(r)
		return
	}
	if a := &d.agents[r.Agent]; !slices.Contains(a.atomics, r.Word) {
		a.atomics = append(a.atomics, r.Word)
	}
	d.read(r)
	if !r.Wrote {
		return
	}
	e := d.newUpdate(r)
	e.rmw = true
	d.enlist(e, r.Peer, control)
	e.done = e.issued
	d.cover(e.link, witness{e.agent, e.issued}, e.before) // the answer is back: what it had to come after is there
	d.updated(e, r)
}

// updated enters an update into its word. It takes the caller's reference.
func (d *Detector) updated(e *event, r *history.Record) {
	if e.done == 0 {
		d.pend(e)
	}
	e.clk = d.publish(r)
	if d.enterSingle(e, r) {
		return
	}
	w := d.wordAt(r)
	if r.Lines != tl.NoLine {
		d.packet(e)
	}
	if e.set && !e.rmw || w.hidden || w.awaits(e.agent) {
		d.reads(w, e.agent)
	}
	d.countNotifier(w, e)
	d.lostUpdates(w, e)
	if w.guard != nil {
		d.step(w.guard, e, r)
	}
	if e.set {
		w.latest = e.value()
	} else {
		sum := w.typ.Wrap(w.latest + e.value())
		if e.value() > 0 && w.typ.Less(sum, w.latest) {
			d.depend("overflow", fmt.Sprintf("%v holds no number that large: the word begins again", w.typ), r.Call, r.Line)
		}
		w.latest = sum
	}
	if len(w.reads) > 0 {
		d.afterReads(w, e)
	}
	d.late(w, e)
	w.updates = append(w.updates, e)
	if len(w.updates) >= max(w.tidy, 4) {
		d.fold(w)
		w.tidy = 2 * len(w.updates)
	}
}

// countNotifier numbers an update among those of its agent.
func (d *Detector) countNotifier(w *word, e *event) {
	i := slices.IndexFunc(w.notifiers, func(n notifier) bool { return n.agent == e.agent })
	if i < 0 {
		i = len(w.notifiers)
		w.notifiers = append(w.notifiers, notifier{agent: e.agent})
		for _, p := range w.plain { // it might have ended one of those too
			if p.taught && !d.reaches(&e.clk, p.agent, p.time) {
				d.learned(d.facts.notifies(w.addr, e.agent))
				break
			}
		}
	}
	w.notifiers[i].awaited = false
	w.notifiers[i].count++
	e.rows = int32(w.notifiers[i].count)
}

// lostUpdates reports updates of which one sets the word and hides the other.
func (d *Detector) lostUpdates(w *word, e *event) {
	for _, f := range w.updates {
		blind := e.set && !e.rmw || f.set && !f.rmw
		if !blind || e.set && f.set && e.value() == f.value() || d.before(f, e, &e.clk) {
			continue
		}
		d.maybeLocked(f.agent, e.agent)
		if w.guard != nil {
			d.suspect(w.guard, LostUpdate, shape{agent: f.agent}, shape{agent: e.agent}, f, e, w.addr)
			continue
		}
		d.lost(f, e)
	}
}

// fold adds to base the updates that every reader of the word knows.
func (d *Detector) fold(w *word) {
	if len(w.updates) == 0 {
		return
	}
	for _, r := range w.readers {
		if r.awaited {
			if len(w.updates) < mostUpdates {
				return
			}
		}
	}
	set := -1 // the last set that every reader knows, and that hides all before it
	for i := len(w.updates) - 1; i >= 0 && set < 0; i-- {
		if u := w.updates[i]; u.set && d.allKnow(w, u) {
			set = i
			for _, f := range w.updates[:i] {
				if !d.before(f, u, &u.clk) {
					set = -1
				}
			}
		}
	}
	done := false
	if set >= 0 {
		w.base, w.hidden, done = w.updates[set].value(), true, true
		for _, u := range w.updates[:set+1] {
			d.release(u)
		}
		w.updates = slices.Delete(w.updates, 0, set+1)
	}
	if !slices.ContainsFunc(w.updates, func(u *event) bool { return u.set }) {
		kept := w.updates[:0]
		for i, u := range w.updates {
			if !d.allKnow(w, u) {
				if len(w.updates)-i < mostUpdates {
					kept = append(kept, u)
					continue
				}
				w.guessed = true
			}
			w.base, done = w.typ.Wrap(w.base+u.value()), true
			d.release(u)
		}
		clear(w.updates[len(kept):])
		w.updates = kept
	} else if n := len(w.updates); n >= mostUpdates { // they are not ordered: the last ones are the most useful
		for _, u := range w.updates[:n/2] {
			if w.base += u.value(); u.set {
				w.base, w.hidden = u.value(), true
			}
			d.release(u)
		}
		w.updates, done, w.guessed = slices.Delete(w.updates, 0, n/2), true, true
	}
	if done {
		d.markFold(w)
	}
}

// allKnow reports whether all readers of the word know that an update has taken effect.
func (d *Detector) allKnow(w *word, u *event) bool {
	living, ended := false, false
	for _, r := range w.readers {
		a := &d.agents[r.agent]
		if !a.alive { // a program of a grid: the next one that its stream starts may read the word again
			a = &d.agents[a.parent]
		}
		if !a.alive {
			ended = true
			continue
		}
		living = true
		if !d.knows(&a.clk, u) && (len(w.updates) < manyUpdates || !d.sawBy(u, r.agent)) {
			return false
		}
	}
	if !living {
		return d.knows(&d.agents[history.Host].clk, u)
	}
	if ended && !w.guessed { // one that has ended may be started again, and then knows what the host knows
		w.guessed = !d.knows(&d.agents[history.Host].clk, u)
	}
	return true
}

// markFold notes the moments from which on base is known.
func (d *Detector) markFold(w *word) {
	w.folded = true
	w.hostFold = 0
	living := false
	for i := range w.readers {
		r := &w.readers[i]
		r.mark = 0
		if a := &d.agents[r.agent]; a.alive {
			living = true
			if r.mark = a.now(); a.doubts != nil {
				r.mark = 0 // it may only have seen them
			}
		}
	}
	if !living {
		w.hostFold = d.agents[history.Host].clk.time
	}
}

// forget drops all state of a word.
func (d *Detector) forget(w *word) {
	for _, u := range w.updates {
		d.release(u)
	}
	for _, u := range w.later {
		d.release(u)
	}
	w.updates, w.later = nil, nil
	d.forgetWaits(w)
	d.forgetReads(w)
}
