package export

import (
	"kernbench/program/text"
	"kernbench/tl"
)

// each calls do for the number of each of some control words.
func (k *rank) each(w *text.Words, do func(i int)) {
	first := k.num(w.First)
	var walk func(dim, at int)
	walk = func(dim, at int) {
		if dim == len(w.Extent) {
			do(at)
			return
		}
		for i := range int(w.Extent[dim]) {
			walk(dim+1, at+i*int(w.Stride[dim]))
		}
	}
	walk(0, first)
}

// signal changes the control words of a statement, if it has any. It reports whether the statement
// could be performed.
func (c *carrier) signal(r int, s *text.Stmt) bool {
	w := s.Words
	if w == nil {
		return true
	}
	k := &c.ranks[r]
	to := r
	if w.Far {
		to = k.num(w.Peer)
	} else if s.Op != text.Notify && s.Mem.Far {
		to = k.num(s.Mem.Peer)
	}
	k.each(w, func(i int) {
		key := [3]int{int(w.Window), int(w.Part), i}
		if w.Op == tl.SignalAdd {
			c.ranks[to].words[key] += w.Value
		} else {
			c.ranks[to].words[key] = w.Value
		}
	})
	return true
}

// satisfied reports whether all words of a wait satisfy it.
func (c *carrier) satisfied(r int, w *text.Words) bool {
	k := &c.ranks[r]
	all := true
	k.each(w, func(i int) {
		all = all && w.Cmp.Holds(c.file.Windows[w.Window].Parts[w.Part].Word, k.words[[3]int{int(w.Window), int(w.Part), i}], w.Value)
	})
	return all
}

// meet performs a rendezvous of all ranks. It returns false if a rank has not arrived.
func (c *carrier) meet(r int) bool {
	k := &c.ranks[r]
	if k.syncs%2 == 0 { // it arrives
		k.syncs++
	}
	for i := range c.ranks {
		if c.ranks[i].syncs < k.syncs {
			return false
		}
	}
	k.syncs++
	return true
}
