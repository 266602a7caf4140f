package race

import (
	"slices"

	"kernbench/record/history"
)

// mostPasses and mostFacts bound what is learned by running a program again.
const (
	mostPasses = 16
	mostFacts  = 1 << 17
)

// facts hold what earlier passes over the program have learned of its later operations. They only
// grow, and clocks in them only shrink.
type facts struct {
	pass      int
	whole     bool // executors must leave nothing out
	exact     bool // there must be no joint events
	lines     bool // executors must record all source lines
	flags     bool // flags of packets have no short forms: see flag.go
	roughness      // see rough.go
	later     map[laterKey]*later
	byWord    map[history.Word][]*later
	readers   map[history.Word][]history.Agent
	notifiers map[history.Word][]history.Agent
	careful   map[history.Word]bool
	guards    map[history.Word]bool // judged as locks
}

type laterKey struct {
	word  history.Word
	agent history.Agent
	order uint32
}

// later is an update that comes after a wait in the account, though the wait could have seen it.
type later struct {
	laterKey
	to     int32
	set    bool
	value  int64
	time   uint32
	times  []uint32
	seq    uint32
	before seqs
	past   []updateName // of its word: updates that have taken effect before it
	rough  bool         // before, times and past say less than is known: see rough.go

	call, line string
}

// updateName names an update of a word in each pass: the agent, and its number there (event.order).
type updateName struct {
	agent history.Agent
	order uint32
}

func newFacts() *facts {
	return &facts{
		pass: 1, later: map[laterKey]*later{}, byWord: map[history.Word][]*later{},
		readers: map[history.Word][]history.Agent{}, notifiers: map[history.Word][]history.Agent{},
		careful: map[history.Word]bool{}, guards: map[history.Word]bool{},
	}
}

func (f *facts) next() *facts {
	f.pass++
	return f
}

// full reports whether the limit of facts or passes is reached.
func (f *facts) full() bool { return f.pass >= mostPasses || len(f.later) >= mostFacts }

func note(m map[history.Word][]history.Agent, w history.Word, a history.Agent) bool {
	if slices.Contains(m[w], a) {
		return false
	}
	m[w] = append(m[w], a)
	return true
}

func (f *facts) reads(w history.Word, a history.Agent) bool    { return note(f.readers, w, a) }
func (f *facts) notifies(w history.Word, a history.Agent) bool { return note(f.notifiers, w, a) }

// overtakes notes that a notification may have been for later data instead of those that arrived.
// It reports whether that is new.
func (f *facts) overtakes(w history.Word) bool {
	if f.careful[w] {
		return false
	}
	f.careful[w] = true
	return true
}

// comes notes an update that comes later, and reports whether that is new.
func (f *facts) comes(d *Detector, w *word, e *event) bool {
	key := laterKey{w.addr, e.agent, e.order()}
	l := f.later[key]
	if l != nil && l.rough {
		return false
	}
	var past []updateName
	for _, u := range w.updates {
		if u != e && d.before(u, e, &e.clk) {
			past = append(past, updateName{u.agent, u.order()})
		}
	}
	if l == nil {
		if len(f.later) >= mostFacts {
			return false
		}
		l = &later{laterKey: key, to: pe(w.addr), set: e.set, value: e.value(), time: e.clk.time, seq: e.seq,
			before: e.before, past: past, call: d.call(e), line: d.line(e)}
		for a := range d.width(&e.clk) {
			l.times = append(l.times, d.at(&e.clk, history.Agent(a)))
		}
		f.roughen(l)
		f.later[key] = l
		f.byWord[w.addr] = append(f.byWord[w.addr], l)
		return true
	}
	news := false
	for a := range l.times {
		if t := d.at(&e.clk, history.Agent(a)); t < l.times[a] {
			l.times[a], news = t, true
		}
	}
	for c := range l.before {
		if e.before[c] < l.before[c] {
			l.before[c], news = e.before[c], true
		}
	}
	n := len(l.past)
	l.past = slices.DeleteFunc(l.past, func(u updateName) bool { return !slices.Contains(past, u) })
	if news = news || len(l.past) < n; news {
		f.roughen(l)
	}
	return news
}

// of reports whether anything is known of a word.
func (f *facts) of(w history.Word) bool {
	if len(f.byWord)+len(f.readers)+len(f.notifiers)+len(f.careful)+len(f.guards) == 0 {
		return false // the usual case
	}
	return len(f.byWord[w]) > 0 || len(f.readers[w]) > 0 || len(f.notifiers[w]) > 0 || f.careful[w] || f.guards[w]
}

// foresee adds the known later updates to a new word.
func (d *Detector) foresee(w *word) {
	f := d.facts
	w.careful = f.careful[w.addr]
	if f.guards[w.addr] {
		w.guard = d.newGuard(w)
	}
	for _, a := range f.readers[w.addr] {
		w.readers = append(w.readers, reader{agent: a, awaited: true})
		d.agent(a)
	}
	expect := func(a history.Agent) {
		d.agent(a)
		if !slices.ContainsFunc(w.notifiers, func(n notifier) bool { return n.agent == a }) {
			w.notifiers = append(w.notifiers, notifier{agent: a, awaited: true})
		}
	}
	for _, a := range f.notifiers[w.addr] {
		expect(a)
	}
	for _, l := range f.byWord[w.addr] {
		expect(l.agent)
		r := history.Record{Kind: history.Notify, Agent: l.agent, Call: l.call, Line: l.line}
		e := d.newEvent(&r)
		e.future, e.update, e.addr, e.typ, e.set, e.v, e.rows = true, true, w.addr, w.typ, l.set, l.value, int32(l.order)
		e.link, e.class, e.seq, e.before = d.linkTo(l.agent, l.to), control, l.seq, l.before
		v := d.newVec()
		d.setTimes(v, slices.Clone(l.times))
		e.clk = clock{v, l.agent, l.time}
		if len(l.past) > 0 {
			d.needMore(e).past = slices.Clone(l.past)
		}
		w.later = append(w.later, e)
	}
}

// arrive removes an update from the known later ones. It returns false if it is not among them.
func (d *Detector) arrive(w *word, e *event) bool {
	i := slices.IndexFunc(w.later, func(u *event) bool { return u.agent == e.agent && u.order() == e.order() })
	if i < 0 {
		return false
	}
	d.release(w.later[i])
	w.later = slices.Delete(w.later, i, i+1)
	d.learned(d.facts.comes(d, w, e))
	return true
}
