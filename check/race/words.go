package race

import (
	"unsafe"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

// words is the control words that agents have touched, by address. A window of n ranks may have n
// words in each of them, most of which one rank notifies once and another awaits once. Such a word
// is kept as an event until an agent looks at it, and as a settled word afterwards. Only words that
// need more are kept in full. Invariant: the short forms hold all that is needed of the full one.
type words struct {
	pages table[wordPage]

	full        []*word // by number; those in use have an address in the pages
	freeFull    []uint32
	settled     [][]settledWord // in slabs
	whens       [][]unit.Time   // of their waits, in slabs; nil: without a clock
	freeSettled []uint32
	numSettled  uint32
	settlings   settlings
	single      [][]history.Word // with a single addition since all was at rest, in slabs
	rests       uint32           // number of rests
}

// wordPage holds the state of each word of a stretch of memory.
type wordPage [1 << (wordPageBits - wordBits)]wordState

const (
	wordPageBits = 10
	wordBits     = 2 // words have 4 bytes or more
)

// wordState is the form of a word, in the lowest bits, and a number.
type wordState uint32

// How a word is kept.
const (
	untouched   wordState = iota // no state
	oneUpdate                    // as the event of its only update, an addition or a flag, that was not read
	settledOne                   // as a settledWord
	fullOne                      // as a word
	oneDelivery                  // as the signal of a delivery, which is its only update
	stateBits   = 3
)

func (s wordState) how() wordState { return s & (1<<stateBits - 1) }
func (s wordState) number() uint32 { return uint32(s >> stateBits) }

func stateOf(how wordState, number uint32) wordState { return wordState(number)<<stateBits | how }

// at returns the place of a word's state.
func (t *words) at(a history.Word) *wordState {
	return &t.pages.at(a >> wordPageBits)[a>>wordBits&(1<<(wordPageBits-wordBits)-1)]
}

// settledWord is a word with at most one agent that updated it and one that waited for it and knows
// of all updates. It holds no pointer. Most of it is the same for many words: that is its settling.
// Words with numbers that it does not hold stay as they are.
type settledWord struct {
	as       settlingID
	reader   history.Agent
	notifier history.Agent
	rests    uint32 // as of words
	time     uint32 // of the last wait, as is upTo
	upTo     uint32
	fold     uint32 // word.hostFold if byHost, else reader.mark: one of them is 0
}

// settling is what many settled words have in common.
type settling struct {
	base, latest int32
	value        int32 // of the last wait, as are seen, place, task and cmp
	seen         int32 // sighting.latest
	looks        uint32
	count        uint32 // 0: no notifier
	place        placeID
	task         int32
	typ          mem.WordType
	cmp          tl.Cmp
	flags        settledFlags
}

// settlingID is the number of a settling.
type settlingID uint32

// settlings numbers those in use so far.
type settlings struct {
	list  []settling
	index map[settling]settlingID
	last  settlingID
}

// mostSettlings bounds the settlings, which are never given back.
const mostSettlings = 1 << 16

// number returns the number of a settling. It returns false if there are too many.
func (t *settlings) number(x *settling) (settlingID, bool) {
	if len(t.list) > 0 && t.list[t.last] == *x {
		return t.last, true
	}
	i, ok := t.index[*x]
	if !ok {
		if len(t.list) == mostSettlings {
			return 0, false
		}
		if t.index == nil {
			t.index = map[settling]settlingID{}
		}
		i = settlingID(len(t.list))
		t.list, t.index[*x] = append(t.list, *x), i
	}
	t.last = i
	return i, true
}

type settledFlags uint8

const (
	settledFolded settledFlags = 1 << iota
	settledGuessed
	settledHidden
	settledWaited // there is a wait
	settledTaught
	settledByHost
	settledPacket // base is the flag of a packet: see flag.go
)

// noReader is the reader of a word that no agent has read.
const noReader history.Agent = -1

const (
	settledBits = 8
	settledSlab = 1 << settledBits
)

func (t *words) settledAt(i uint32) *settledWord {
	return &t.settled[i>>settledBits][i&(settledSlab-1)]
}

// setWhen notes the time of the wait of a settled word.
func (t *words) setWhen(i uint32, when unit.Time) {
	of := &t.whens[i>>settledBits]
	if *of == nil {
		if when == 0 {
			return
		}
		*of = make([]unit.Time, settledSlab)
	}
	(*of)[i&(settledSlab-1)] = when
}

// whenOf returns the time of the wait of a settled word.
func (t *words) whenOf(i uint32) unit.Time {
	if of := t.whens[i>>settledBits]; of != nil {
		return of[i&(settledSlab-1)]
	}
	return 0
}

// flag returns a flag of a settled word if it is set.
func flag(set bool, f settledFlags) settledFlags {
	if set {
		return f
	}
	return 0
}

// fits reports whether settled words hold these numbers.
func fits(vs ...int64) bool {
	for _, v := range vs {
		if v != int64(int32(v)) {
			return false
		}
	}
	return true
}

// newSettled returns the number of a settled word that is not in use.
func (t *words) newSettled() uint32 {
	if n := len(t.freeSettled); n > 0 {
		i := t.freeSettled[n-1]
		t.freeSettled = t.freeSettled[:n-1]
		return i
	}
	i := t.numSettled
	if i&(settledSlab-1) == 0 {
		t.settled = append(t.settled, make([]settledWord, settledSlab))
		t.whens = append(t.whens, nil)
	}
	t.numSettled++
	return i
}

// newFull returns a word with an address, and enters it.
func (t *words) newFull(a history.Word, typ mem.WordType) *word {
	var i uint32
	if n := len(t.freeFull); n > 0 {
		i = t.freeFull[n-1]
		t.freeFull = t.freeFull[:n-1]
	} else {
		i = uint32(len(t.full))
		t.full = append(t.full, &word{})
	}
	w := t.full[i]
	if w == nil {
		w = &word{}
		t.full[i] = w
	}
	w.number, w.used, w.addr, w.typ = i, true, a, typ
	*t.at(a) = stateOf(fullOne, i)
	return w
}

// drop removes a word, which must hold no events.
func (t *words) drop(w *word) {
	if w.guard != nil { // it names the word in what it reports
		t.full[w.number] = nil
		w.used = false
	} else {
		*w = word{
			updates: w.updates[:0], later: w.later[:0], readers: w.readers[:0], notifiers: w.notifiers[:0],
			waits: w.waits[:0], reads: w.reads[:0], plain: w.plain[:0], number: w.number,
		}
	}
	t.freeFull = append(t.freeFull, w.number)
}

// fullWords returns all words kept in full.
func (t *words) fullWords(yield func(*word) bool) {
	for _, w := range t.full {
		if w != nil && w.used && !yield(w) {
			return
		}
	}
}

// wordAt returns the word of a record.
func (d *Detector) wordAt(r *history.Record) *word {
	s := *d.words.at(r.Word)
	switch s.how() {
	case fullOne:
		return d.words.full[s.number()]
	case settledOne:
		return d.unsettle(r, s.number())
	}
	w := d.words.newFull(r.Word, r.Type)
	if e := d.updateOf(s); e != nil {
		d.forgetDelivery(s)
		data := d.dataOf(e)
		e = d.ownUpdate(e, r.Word)
		w.updates = append(w.updates, e)
		w.notifiers = append(w.notifiers, notifier{agent: e.agent, count: 1})
		w.latest = e.value()
		if e.set {
			w.readers = append(w.readers, reader{agent: e.agent})
			d.lastPacket(e, data)
		}
		return w
	}
	d.foresee(w)
	return w
}

// enterSingle stores an update as the only state of its word. It returns false if the word needs a
// full entry.
func (d *Detector) enterSingle(e *event, r *history.Record) bool {
	s := d.words.at(r.Word)
	if d.plain || s.how() != untouched || e.rmw || e.set && (r.Lines == tl.NoLine || d.facts.flags) ||
		e.value() <= 0 || r.Type.Wrap(e.value()) != e.value() || d.facts.of(r.Word) {
		return false
	}
	e.rows = 1
	*s = stateOf(oneUpdate, uint32(e.id))
	d.words.addSingle(r.Word)
	return true
}

func (t *words) addSingle(w history.Word) {
	n := len(t.single)
	if n == 0 || len(t.single[n-1]) == settledSlab {
		t.single = append(t.single, make([]history.Word, 0, settledSlab))
		n++
	}
	t.single[n-1] = append(t.single[n-1], w)
}

// ends reports whether a wait ends by the only update of its word: by an addition, or by the flag
// of a packet.
func (e *event) ends(r *history.Record) bool {
	switch {
	case !fits(r.Seen, r.Value) || r.Call == "test":
		return false
	case e.set:
		return r.Lines != tl.NoLine && r.Count == 0 && r.Value == e.value()
	}
	return (r.Cmp == tl.GE || r.Cmp == tl.GT) && r.Seen == e.value() && !r.Cmp.Holds(r.Type, 0, r.Value)
}

// firstWait handles a wait for a word with a single update, which ends it. It does the work of
// look, and returns false if look has more to do.
func (d *Detector) firstWait(r *history.Record) bool {
	s := d.words.at(r.Word)
	e := d.updateOf(*s)
	if e == nil || !e.ends(r) {
		return false
	}
	a := &d.agents[r.Agent]
	known := d.knowsAt(&a.clk, e, pe(r.Word))
	v := int32(e.value())
	as, ok := d.words.settlings.number(&settling{
		base: v, latest: v, value: int32(r.Value), seen: v, looks: 1, count: 1, typ: r.Type, task: r.Task, cmp: r.Cmp,
		place: d.spots.number(r.Call, r.Line),
		flags: settledFolded | settledWaited | flag(!known, settledTaught) | flag(e.set, settledHidden|settledPacket),
	})
	if !ok {
		return false
	}
	var put *event
	if !known {
		put = d.signalled(e)
	}
	a.tickAtWait(e, put)
	if !known {
		y := &d.learning.answer
		y.reset()
		y.one = &e.clk
		on := d.linkOf(e, pe(r.Word))
		upTo := e.before
		if upTo != (seqs{}) && !d.oneByOne(&a.seen, on, e, put, upTo, y) {
			y.cover(on, upTo)
		}
		switch {
		case put != nil:
			y.sure = append(y.sure, put)
		case !e.joint: // a joint event would be noted once for each of its words
			y.sure = append(y.sure, e)
		}
		d.teach(r.Agent, y)
		if put != nil {
			d.freeSignal(put, e)
			d.receive(r, put)
		}
	}
	if s.how() == oneDelivery {
		d.delivered(r, *s)
	}
	i := d.words.newSettled()
	x := d.words.settledAt(i)
	*x = settledWord{as: as, reader: r.Agent, notifier: e.agent, rests: d.words.rests, time: a.clk.time, fold: a.clk.time}
	d.words.setWhen(i, r.Time)
	if a.doubts != nil && !e.set {
		x.fold = 0 // as in markFold
	}
	if !e.set && e.carries && !known {
		x.upTo = e.seq
	}
	if d.hinting() {
		d.sees(a, sighting{
			witness: witness{r.Agent, a.clk.time}, word: r.Word, task: r.Task, turn: 1, call: r.Call, line: r.Line, when: r.Time,
			cmp: r.Cmp, value: r.Value, latest: e.value(), taught: !known,
		})
	}
	*s = stateOf(settledOne, i)
	d.release(e)
	return true
}

// settleWord turns a word into a settled one if no more state is needed.
func (d *Detector) settleWord(w *word) {
	if d.plain || len(w.readers) != 1 || len(w.notifiers) > 1 || len(w.plain) > 1 || len(w.waits)+len(w.reads)+len(w.later) > 0 ||
		w.readers[0].awaited || len(w.notifiers) > 0 && w.notifiers[0].awaited || w.guard != nil || w.careful {
		return
	}
	if d.fold(w); len(w.updates) > 0 {
		return
	}
	reader := &w.readers[0]
	var p sighting // the last look of the reader, so its turn is reader.looks
	if len(w.plain) > 0 {
		p = w.plain[0]
	}
	if !fits(w.base, w.latest, p.value, p.latest) {
		return
	}
	as := settling{
		base: int32(w.base), latest: int32(w.latest), value: int32(p.value), seen: int32(p.latest), looks: reader.looks,
		typ: w.typ, task: p.task, cmp: p.cmp, place: d.spots.number(p.call, p.line),
		flags: flag(w.hostFold != 0, settledByHost) | flag(w.folded, settledFolded) | flag(w.guessed, settledGuessed) |
			flag(w.hidden, settledHidden) | flag(len(w.plain) > 0, settledWaited) | flag(p.taught, settledTaught),
	}
	notifier := history.Agent(0)
	if len(w.notifiers) > 0 {
		notifier, as.count = w.notifiers[0].agent, w.notifiers[0].count
	}
	number, ok := d.words.settlings.number(&as)
	if !ok {
		return
	}
	i := d.words.newSettled()
	*d.words.settledAt(i) = settledWord{
		as: number, reader: reader.agent, notifier: notifier, rests: d.words.rests,
		time: p.time, upTo: p.upTo, fold: max(reader.mark, w.hostFold),
	}
	d.words.setWhen(i, p.when)
	*d.words.at(w.addr) = stateOf(settledOne, i)
	d.words.drop(w)
}

// unsettle turns a settled word into a full one.
func (d *Detector) unsettle(r *history.Record, i uint32) *word {
	a, x := r.Word, d.words.settledAt(i)
	as := &d.words.settlings.list[x.as]
	w := d.words.newFull(a, as.typ)
	w.base, w.latest, w.folded = int64(as.base), int64(as.latest), as.flags&settledFolded != 0
	if as.flags&settledPacket != 0 {
		w.flagGone = true
		d.void = d.void || !as.succeededBy(r)
	}
	mark := x.fold
	if as.flags&settledByHost != 0 {
		mark, w.hostFold = 0, x.fold
	}
	if x.reader != noReader {
		w.readers = append(w.readers, reader{agent: x.reader, looks: as.looks, mark: mark})
	}
	if as.count > 0 {
		w.notifiers = append(w.notifiers, notifier{agent: x.notifier, count: as.count})
	}
	if x.rests == d.words.rests { // else earlier updates do not matter
		w.guessed, w.hidden = as.flags&settledGuessed != 0, as.flags&settledHidden != 0
		if as.flags&settledWaited != 0 {
			p := d.spots.list[as.place]
			w.plain = append(w.plain, sighting{
				witness: witness{x.reader, x.time}, word: a, task: as.task, turn: as.looks, call: p.call, line: p.line,
				when: d.words.whenOf(i), cmp: as.cmp, value: int64(as.value), latest: int64(as.seen),
				taught: as.flags&settledTaught != 0, upTo: x.upTo,
			})
		}
	}
	d.words.freeSettled = append(d.words.freeSettled, i)
	return w
}

// updatesOf returns the updates that are kept of a word, and the later ones.
func (d *Detector) updatesOf(a history.Word) (updates, later []*event) {
	switch s := *d.words.at(a); s.how() {
	case oneUpdate, oneDelivery:
		return []*event{d.updateOf(s)}, nil
	case fullOne:
		w := d.words.full[s.number()]
		return w.updates, w.later
	}
	return nil, nil
}

// freshWords forgets the words in a stretch of memory.
func (d *Detector) freshWords(a mem.Addr, bytes int64) {
	t := &d.words
	first, last := a>>wordPageBits, (a+mem.Addr(bytes)-1)>>wordPageBits
	if int64(last-first) < int64(len(t.pages.all)) {
		for key := first; key <= last; key++ {
			if p := t.pages.all[key]; p != nil {
				d.freshPage(key, p, a, bytes)
			}
		}
		return
	}
	for key, p := range t.pages.all {
		if key >= first && key <= last {
			d.freshPage(key, p, a, bytes)
		}
	}
}

func (d *Detector) freshPage(key mem.Addr, p *wordPage, a mem.Addr, bytes int64) {
	for i, s := range p {
		if w := key<<wordPageBits + mem.Addr(i)<<wordBits; w < a || w >= a+mem.Addr(bytes) {
			continue
		}
		switch s.how() {
		case oneUpdate, oneDelivery:
			d.release(d.updateOf(s))
			d.forgetDelivery(s)
		case settledOne:
			d.words.freeSettled = append(d.words.freeSettled, s.number())
		case fullOne:
			w := d.words.full[s.number()]
			d.forget(w)
			d.dropGuard(w.guard)
			d.words.drop(w)
		}
		p[i] = untouched
	}
}

// placeID is the number of a place of a program.
type placeID uint32

// placeNames numbers places of programs.
type placeNames struct {
	list  []placeName
	index map[placeName]placeID
	cache [64]placeID // by line in its file
}

type placeName struct{ call, line string }

// is reports whether two places are the same. Most often their strings are too.
func (x placeName) is(y placeName) bool {
	return unsafe.StringData(x.call) == unsafe.StringData(y.call) && len(x.call) == len(y.call) &&
		unsafe.StringData(x.line) == unsafe.StringData(y.line) && len(x.line) == len(y.line) || x == y
}

func (p *placeNames) number(call, line string) placeID {
	x := placeName{call, line}
	at := len(call) + len(line)
	if n := len(line); n > 1 {
		at += int(line[n-1]) + 7*int(line[n-2])
	} else if call != "" {
		at += 7 * int(call[0])
	}
	c := &p.cache[at%len(p.cache)]
	if len(p.list) > 0 && p.list[*c].is(x) {
		return *c
	}
	i, ok := p.index[x]
	if !ok {
		i = placeID(len(p.list))
		p.list = append(p.list, x)
		p.index[x] = i
	}
	*c = i
	return i
}

// restWords drops what matters only while an agent runs.
func (d *Detector) restWords() {
	d.words.rests++
	for w := range d.words.fullWords {
		d.fold(w)
		d.forgetWaits(w)
		d.forgetReads(w)
		w.guessed, w.hidden = false, false
	}
	host := &d.agents[history.Host].clk
	for _, slab := range d.words.single {
		for _, a := range slab {
			d.restSingle(a, host)
		}
	}
	d.words.single = nil
}

// restSingle settles a word with a single addition that the host knows.
func (d *Detector) restSingle(a history.Word, host *clock) {
	s := d.words.at(a)
	if e := d.updateOf(*s); e != nil && fits(e.value()) && d.knowsAt(host, e, pe(a)) {
		as, ok := d.words.settlings.number(&settling{
			base: int32(e.value()), latest: int32(e.value()), count: 1, typ: e.typ,
			flags: settledByHost | settledFolded | flag(e.set, settledPacket),
		})
		if !ok {
			return
		}
		i := d.words.newSettled()
		*d.words.settledAt(i) = settledWord{
			as: as, reader: noReader, notifier: e.agent, fold: host.time, rests: d.words.rests,
		}
		d.words.setWhen(i, 0)
		d.forgetDelivery(*s)
		*s = stateOf(settledOne, i)
		d.release(e)
	}
}
