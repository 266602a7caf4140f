package race

import (
	"slices"

	"kernbench/record/history"
)

// This file judges programs whose kernels do not act on what atomics return (Options.Ignored). A
// fetch-add is then a notification. A compare-and-swap that is repeated until it succeeds is a wait
// and an update in one. The order of agents at its word does not matter in two cases. At each value
// one agent only can change it: the one that swaps it, or the one that has just set it. Or it is a
// lock: each agent that takes it gives it back and waits for nothing in between. Accesses that
// conflict in sections of a lock are listed by themselves.

// ignoring holds what is known of words that atomics change.
type ignoring struct {
	swaps   map[history.Word]*swaps
	holds   map[history.Agent][]*swaps // the locks that each agent has taken
	changes map[history.Word]bool      // words that something else than compare-and-swaps has changed
}

// swaps holds what is known of a word that compare-and-swaps have changed.
type swaps struct {
	word      history.Word
	at        map[int64]swapsAt
	last      history.Agent // agent of the last swap
	contested bool          // something else has changed it
	noLock    bool
	free      int64         // what it holds as a lock that is free
	holder    history.Agent // of the lock; none: noHolder
	places    []placeName   // of the compare-and-swaps
}

// swapsAt are the swaps of one value for another.
type swapsAt struct {
	by      history.Agent
	several bool // several agents have made them
	others  bool // not always the agent that had set the value
}

const noHolder history.Agent = -1

// swapped notes a compare-and-swap. One that fails is repeated, and changes nothing.
func (d *Detector) swapped(r *history.Record) {
	s := d.swaps[r.Word]
	if s == nil {
		s = &swaps{
			word: r.Word, at: map[int64]swapsAt{}, last: noHolder, holder: noHolder, free: r.Seen,
			contested: d.changes[r.Word], noLock: d.changes[r.Word] || !r.Wrote,
		}
		if d.swaps == nil {
			d.swaps, d.holds = map[history.Word]*swaps{}, map[history.Agent][]*swaps{}
		}
		d.swaps[r.Word] = s
	}
	if at := (placeName{r.Call, r.Line}); !slices.Contains(s.places, at) {
		s.places = append(s.places, at)
	}
	if !r.Wrote {
		return
	}
	x, found := s.at[r.Seen]
	s.at[r.Seen] = swapsAt{by: r.Agent, several: x.several || found && x.by != r.Agent, others: x.others || s.last != r.Agent}
	s.last = r.Agent
	switch {
	case s.holder == noHolder && r.Seen == s.free && r.Value != s.free:
		s.holder = r.Agent
		d.holds[r.Agent] = append(d.holds[r.Agent], s)
	case s.holder == r.Agent && r.Value == s.free:
		s.holder = noHolder
		d.holds[r.Agent] = slices.DeleteFunc(d.holds[r.Agent], func(x *swaps) bool { return x == s })
	default:
		s.noLock = true
	}
}

// whileHolding looks whether an agent that holds locks waits for another one.
func (d *Detector) whileHolding(r *history.Record) {
	for _, s := range d.holds[r.Agent] {
		switch r.Kind {
		case history.Wait, history.Send, history.Recv, history.Any, history.Pass:
			s.noLock = true
		case history.RMW:
			s.noLock = s.noLock || r.Word != s.word
		}
	}
}

// changed notes an update of a word that is no compare-and-swap.
func (d *Detector) changed(r *history.Record) {
	if !d.opts.Ignored {
		return
	}
	if d.changes == nil {
		d.changes = map[history.Word]bool{}
	}
	d.changes[r.Word] = true
	if s := d.swaps[r.Word]; s != nil {
		s.contested, s.noLock = true, true
	}
}

// addIgnored is a fetch-add whose value tells its agent nothing, but that the update has been made.
func (d *Detector) addIgnored(r *history.Record) {
	d.changed(r)
	if r.Value < 0 {
		d.depend("add", "of a negative number: a wait may see the word before or after", r.Call, r.Line)
	}
	e := d.newUpdate(r)
	d.enlist(e, r.Peer, control)
	e.done = e.issued
	d.cover(e.link, witness{e.agent, e.issued}, e.before) // its result is back: all that it had to come after has taken effect
	d.updated(e, r)
}

// settleSwaps lists the compare-and-swaps of words that several agents can change, and that are no
// locks.
func (d *Detector) settleSwaps() {
	words := make([]history.Word, 0, len(d.swaps))
	for w := range d.swaps {
		words = append(words, w)
	}
	slices.Sort(words)
	for _, w := range words {
		s := d.swaps[w]
		for _, x := range s.at {
			s.contested = s.contested || x.several && x.others
		}
		for _, at := range s.places {
			if s.contested && (s.noLock || s.holder != noHolder) {
				d.depend("compare_swap", "the schedule decides which rank, program or engine comes first", at.call, at.line)
			}
		}
		s.places = nil
	}
}
