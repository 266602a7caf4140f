package race

import "kernbench/record/history"

// wordRead is a place at which a word is read: a line, or the word if lines are not recorded.
type wordRead struct {
	word history.Word
	line string
}

// reads are the reads of words whose order with some update is unknown. They are hazards, except at
// places where some agent has read the same word repeatedly: such a loop waits for the word to
// change. A loop is recognised only if it repeated in this run.
type reads struct {
	polls    map[wordRead]bool
	suspects []*suspect
	index    map[readKey]*suspect
}

type readKey struct {
	place                      wordRead
	call1, line1, call2, line2 string
	buffer                     string
}

func (p wordRead) key() wordRead {
	if p.line != "" {
		p.word = 0
	}
	return p
}

// reading judges a read of a word against the updates before it in the account. It returns true if
// the read returns the same in every schedule, or else a hazard is found. The result is the same if
// every update of the word is ordered before or after the read. A peek and a poll may return
// anything.
func (d *Detector) reading(r *history.Record) (settled bool) {
	if r.NBI {
		return false
	}
	w, a := d.wordAt(r), &d.agents[r.Agent]
	at := wordRead{r.Word, r.Line}
	for _, p := range a.reading {
		if p == at {
			if d.wordReads.polls == nil {
				d.wordReads.polls = map[wordRead]bool{}
			}
			d.wordReads.polls[at.key()] = true
		}
	}
	a.reading = append(a.reading, at)
	if d.wordReads.polls[at.key()] {
		return false
	}
	e := d.newEvent(r)
	e.issued++ // the moment after the read
	e.done, e.addr, e.v = e.issued, r.Word, int64(r.Type.Size())
	for _, u := range w.updates {
		if !d.before(u, e, &a.clk) {
			d.unordered(u, e, at)
		}
	}
	for i, x := range w.reads {
		if x.agent == e.agent {
			d.release(x)
			w.reads[i] = e
			return true
		}
	}
	w.reads = append(w.reads, e)
	return true
}

// afterReads judges an update against the reads before it in the account.
func (d *Detector) afterReads(w *word, u *event) {
	for _, e := range w.reads {
		if e.agent != u.agent && !d.reaches(&u.clk, e.agent, e.done) {
			d.unordered(e, u, wordRead{w.addr, d.line(e)})
		}
	}
}

// unordered notes that an update and a read of a word, f and e, have no order.
func (d *Detector) unordered(f, e *event, at wordRead) {
	where := d.region(at.word)
	key := readKey{at.key(), d.call(f), d.line(f), d.call(e), d.line(e), d.buffer(where)}
	x := d.wordReads.index[key]
	if x == nil {
		x = &suspect{agents: [2]history.Agent{f.agent, e.agent}}
		x.hazard = Hazard{Kind: Race, First: d.describe(f), Second: d.describe(e), Where: where, Addr: uint64(at.word)}
		x.hazard.First.State = d.state(f, e)
		x.hazard.Missing = d.missingEdge(f, e)
		if e.kind == history.Read && f.agent != e.agent {
			x.hazard.Missing += "; or wait_until, test or peek, if the word may change meanwhile"
		}
		if d.wordReads.index == nil {
			d.wordReads.index = map[readKey]*suspect{}
		}
		d.wordReads.index[key] = x
		d.wordReads.suspects = append(d.wordReads.suspects, x)
	}
	x.place = key.place
	x.count++
}

// settleReads reports the reads that are not polls.
func (d *Detector) settleReads() {
	for _, x := range d.wordReads.suspects {
		for ; x.count > 0 && !d.wordReads.polls[x.place]; x.count-- {
			d.confirm(x)
		}
	}
}

func (d *Detector) forgetReads(w *word) {
	for _, e := range w.reads {
		d.release(e)
	}
	w.reads = nil
}
