package race

import (
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

// sighting is a wait that has ended: its agent, its place and the value that it saw.
type sighting struct {
	witness
	word       history.Word
	task       int32  // as of its record
	turn       uint32 // number of reads of the word by its agent
	call, line string
	when       unit.Time
	cmp        tl.Cmp
	value      int64
	latest     int64  // the word with all updates that need not come after the wait
	taught     bool   // its agent learned something by the updates
	upTo       uint32 // the last place on its link of an update with data that must have been there
}

// wait is a sighting that updates later in the account might explain, because it is not ordered
// before them.
type wait struct {
	sighting
	q       question
	clk     clock     // before it
	learned knowledge // what it learned
	settled bool      // it is known to depend on later updates
}

// waiting holds what a Detector keeps of waits.
type waiting struct {
	waits []*wait
	asked question // scratch
	knew  clock    // scratch
}

// mostWaits bounds the waits kept per word. mostAfter bounds the updates kept per wait before they
// are taken for explanations.
const (
	mostWaits = 1024
	mostAfter = 256
)

// waited handles a wait that has ended, or a test that returned true.
func (d *Detector) waited(r *history.Record) {
	d.sided = true
	switch {
	case r.Call == "test":
		d.depend("test", "its result depends on the time of the call", r.Call, r.Line)
	case r.Lines != tl.NoLine: // a flag that is not reused is set once: see packet
	case r.Cmp != tl.GE && r.Cmp != tl.GT:
		d.depend("wait "+r.Cmp.String(), "ends only while the word holds such a value", r.Call, r.Line)
	}
	d.look(r, r.Cmp, r.Value, true)
}

// read handles an operation that returned the value of a word.
func (d *Detector) read(r *history.Record) {
	d.sided = true
	d.look(r, tl.EQ, r.Seen, false)
}

// look adds to an agent's knowledge what the value of a word proves.
func (d *Detector) look(r *history.Record, cmp tl.Cmp, value int64, isWait bool) {
	if isWait && d.firstWait(r) {
		return
	}
	w := d.wordAt(r)
	a := &d.agents[r.Agent]
	d.reads(w, r.Agent)
	d.knew = a.clk
	a.tick()
	q, known := &d.asked, &d.knew
	*q = question{
		pool: &d.clockPool, clk: known, asked: a.clk.time, cmp: cmp, value: value, typ: w.typ,
		base: w.base, updates: w.updates, later: w.later,
	}
	d.trust(w, q, r.Seen)
	y := &d.learning.answer
	if !d.learn(q, y) {
		d.believe(w, r.Agent, r.Seen)
		return
	}
	if r.Count > 0 {
		d.teachLines(r, y)
		return
	}
	s := sighting{
		witness: witness{r.Agent, a.clk.time}, word: r.Word, task: r.Task, turn: w.look(r.Agent), call: r.Call, line: r.Line, when: r.Time,
		cmp: cmp, value: value, latest: w.latest,
		taught: y.width(&d.clockPool) > 0 || len(y.sure) > 0,
	}
	if isWait {
		d.sees(a, s)
		d.missedBefore(w, q, &s)
		d.keep(w, q, &s, y)
	}
	if r.Kind == history.RMW && (!r.Wrote || r.Update == tl.SignalAdd) {
		d.doubt(a, r.Word, y)
	} else {
		d.teach(r.Agent, y)
	}
	switch {
	case len(w.updates) >= max(w.tidy, 4):
		d.fold(w)
		w.tidy = 2 * len(w.updates)
	case isWait:
		d.settleWord(w)
	}
}

// sees remembers one of the last waits of an agent.
func (d *Detector) sees(a *agent, s sighting) {
	if !d.hinting() {
		return
	}
	if a.waited == nil {
		a.waited = new([4]sighting)
	}
	a.waited[a.waits%len(a.waited)] = s
	a.waits++
}

// teach adds knowledge to an agent.
func (d *Detector) teach(agent history.Agent, y *knowledge) {
	a := &d.agents[agent]
	now := witness{agent, a.clk.time}
	if y.one != nil {
		d.join(&a.clk, y.one)
	}
	d.joinTimes(&a.clk, y.times)
	for _, c := range y.covers {
		d.cover(c.link, now, c.upTo)
	}
	for _, u := range y.sure {
		if via, upTo := d.via(u); via != 0 {
			d.cover(via, now, upTo)
		}
		if !d.seenBy(u, agent) && !d.surelyDone(&a.clk, u) && (u.seen.time == 0 || d.defers(&a.clk) || !d.knows(&a.clk, u)) {
			d.see(u, now)
		}
	}
}

// doubts holds what an agent has learned from an atomic, before its next operation.
type doubts struct {
	word    history.Word
	learned knowledge
	clk     clock // of learned
	active  bool
}

// doubt holds back what an agent has learned from an atomic until its next operation. A fetch-add
// changes the word whatever it returns, so agents that see the change learn nothing of this. An
// agent that changes the same word again, such as one that retries a lock, has not acted on it.
func (d *Detector) doubt(a *agent, w history.Word, y *knowledge) {
	if a.doubts == nil {
		a.doubts = &doubts{}
	}
	x := a.doubts
	x.word, x.active = w, true
	if y.one != nil {
		x.clk = d.holdClock(*y.one)
		x.learned.one = &x.clk
	}
	x.learned.times = append(x.learned.times, y.times...)
	x.learned.covers = append(x.learned.covers, y.covers...)
	x.learned.sure = append(x.learned.sure, y.sure...)
	for _, u := range y.sure {
		u.hold()
	}
}

// resolve adds the knowledge of the last atomic to an agent that continues with record r. r is nil
// if the agent has ended.
func (d *Detector) resolve(agent history.Agent, r *history.Record) {
	x := d.agents[agent].doubts
	if x == nil || !x.active {
		return
	}
	if r != nil && (r.Kind != history.RMW || r.Word != x.word) {
		d.teach(agent, &x.learned)
	}
	x.active = false
	for _, u := range x.learned.sure {
		if !d.sawBy(u, agent) {
			m := d.needMore(u)
			m.saw = append(m.saw, agent)
		}
		d.release(u)
	}
	d.drop(&x.clk)
	x.learned.reset()
}

// trust corrects the assumed initial value of a word if the value that was read cannot result from
// it. The host has written there, or another window uses the memory. All sent updates are then
// assumed to have arrived.
func (d *Detector) trust(w *word, q *question, seen int64) {
	low, high := q.base, q.base
	for u := range q.all {
		switch {
		case u.set:
			return
		case d.knows(q.clk, u):
			low += u.value()
			high += u.value()
		case u.value() < 0:
			low += u.value()
		default:
			high += u.value()
		}
	}
	if seen < low || seen > high {
		w.base += seen - high
		w.latest, w.guessed = seen, true
		q.base = w.base
	}
}

// believe accepts a value that no update explains.
func (d *Detector) believe(w *word, agent history.Agent, seen int64) {
	a := &d.agents[agent]
	for _, u := range w.updates {
		d.join(&a.clk, &u.clk)
		if !d.knows(&a.clk, u) {
			d.see(u, witness{agent, a.clk.time})
		}
		d.release(u)
	}
	w.updates = w.updates[:0]
	w.base, w.latest, w.guessed = seen, seen, true
	d.markFold(w)
}

// keep keeps a wait for as long as an agent that updates the word may not know of it.
func (d *Detector) keep(w *word, q *question, s *sighting, y *knowledge) {
	grows := s.cmp == tl.GE || s.cmp == tl.GT
	for u := range q.all {
		grows = grows && !u.set
	}
	if grows && (len(w.notifiers) <= 1 && !w.careful || !s.taught) {
		// Later updates of one agent know all that its earlier ones did. So an alternative later
		// update proves no less, except for the data that come with it.
		for _, u := range y.sure {
			if u.carries {
				s.upTo = max(s.upTo, u.seq)
			}
		}
		w.passed(*s)
		return
	}
	if len(w.waits) >= max(w.tidyWaits, 4) {
		d.tidyWaits(w)
		w.tidyWaits = 2 * len(w.waits)
	}
	var x *wait
	if n := len(d.waits); n > 0 {
		x = d.waits[n-1]
		d.waits = d.waits[:n-1]
	} else {
		x = &wait{}
	}
	x.sighting, x.settled, x.clk = *s, false, d.holdClock(*q.clk)
	updates, later, after := append(x.q.updates[:0], q.updates...), append(x.q.later[:0], q.later...), x.q.after[:0]
	x.q = *q
	x.q.clk, x.q.updates, x.q.later, x.q.after = &x.clk, updates, later, after
	for u := range x.q.holds {
		u.hold()
	}
	x.learned.reset()
	x.learned.one = y.one
	x.learned.times = append(x.learned.times, y.times...)
	x.learned.covers = append(x.learned.covers, y.covers...)
	x.learned.sure = append(x.learned.sure, y.sure...)
	w.waits = append(w.waits, x)
}

// passed keeps the last wait of an agent.
func (w *word) passed(s sighting) {
	for i := range w.plain {
		if p := &w.plain[i]; p.agent == s.agent {
			if s.time > p.time {
				s.taught, s.upTo = s.taught || p.taught, max(s.upTo, p.upTo)
				*p = s
			}
			return
		}
	}
	w.plain = append(w.plain, s)
}

// holds returns the updates that a kept question refers to.
func (q *question) holds(yield func(*event) bool) {
	for _, u := range q.updates {
		if !yield(u) {
			return
		}
	}
	for _, u := range q.later {
		if !yield(u) {
			return
		}
	}
	for _, u := range q.after {
		if !yield(u) {
			return
		}
	}
}

func (d *Detector) dropWait(x *wait) {
	for u := range x.q.holds {
		d.release(u)
	}
	d.drop(&x.clk)
	x.learned.reset()
	d.waits = append(d.waits, x)
}

func (d *Detector) forgetWaits(w *word) {
	for _, x := range w.waits {
		d.dropWait(x)
	}
	clear(w.waits)
	w.waits, w.plain = w.waits[:0], w.plain[:0]
}

// tidyWaits drops the waits that all agents know that update the word.
func (d *Detector) tidyWaits(w *word) {
	kept := w.waits[:0]
	for i, x := range w.waits {
		needed := false
		for _, n := range w.notifiers {
			a := &d.agents[n.agent]
			needed = needed || n.awaited || a.alive && !d.reaches(&a.clk, x.agent, x.time)
		}
		if needed && len(w.waits)-i < mostWaits {
			kept = append(kept, x)
			continue
		}
		w.passed(x.sighting)
		d.dropWait(x)
	}
	clear(w.waits[len(kept):])
	w.waits = kept
}

// missedBefore reports a wait whose value other agents could overwrite before it read the word.
func (d *Detector) missedBefore(w *word, q *question, s *sighting) {
	if s.call == "test" || s.cmp.Holds(w.typ, w.latest, s.value) {
		return
	}
	for i := len(w.updates) - 1; i >= 0; i-- {
		if u := w.updates[i]; !d.knows(q.clk, u) {
			d.missed(w, s, u)
			return
		}
	}
}

// late judges an update that comes after waits in the account.
func (d *Detector) late(w *word, e *event) {
	spoils := func(s *sighting) bool {
		if d.reaches(&e.clk, s.agent, s.time) {
			return false
		}
		if e.set {
			s.latest = e.value()
		} else {
			s.latest = w.typ.Wrap(s.latest + e.value())
		}
		return s.call != "test" && !s.cmp.Holds(w.typ, s.latest, s.value)
	}
	for i := range w.plain {
		s := &w.plain[i]
		if spoils(s) {
			d.missed(w, s, e)
		}
		if s.upTo > e.before[control] && !d.reaches(&e.clk, s.agent, s.time) {
			d.learned(d.facts.overtakes(w.addr))
		}
	}
	known := d.arrive(w, e)
	for _, x := range w.waits { // first those that cost little
		if d.reaches(&e.clk, x.agent, x.time) {
			continue
		}
		if spoils(&x.sighting) {
			d.missed(w, &x.sighting, e)
		}
		if x.settled && x.taught && !known {
			d.learned(d.facts.comes(d, w, e))
			known = true
		}
	}
	for _, x := range w.waits {
		if known {
			return
		}
		if !x.taught || d.reaches(&e.clk, x.agent, x.time) {
			continue
		}
		x.q.after = append(x.q.after, e) // it may explain the value together with later ones
		e.hold()
		again := &d.learning.again
		x.settled = len(x.q.after) == mostAfter || d.learn(&x.q, again) && again.weaker(&d.clockPool, &x.learned, &x.clk)
		if x.settled {
			for _, u := range x.q.after {
				d.learned(d.facts.comes(d, w, u))
			}
			known = true
		}
	}
}
