package export

import (
	"maps"
	"slices"

	"kernbench/program/text"
	"kernbench/tl"
)

// word is a control word of a rank: its value, and what made it.
type word struct {
	value int64
	posts []change
}

// change is a change of a word.
type change struct {
	value int64 // after it
	by    *agent
	upto  int         // operations of its rank at that time
	after map[int]int // what the block waits for and has no operation behind: see rank.after
}

// wait is a dependency of a block. Its operations from at on come after the operations of another
// block before upto. Both count the operations of the rank.
type wait struct{ block, at, on, upto int }

// post is the place in a block of a change of one of the rank's words.
type post struct{ block, upto int }

// signal changes the control words of a statement, if it has any. It reports whether the statement
// could be performed.
func (c *carrier) signal(k *agent, s *text.Stmt) bool {
	w := s.Words
	if w == nil {
		return true
	}
	to := k.rank
	if w.Far {
		to = &c.ranks[k.num(w.Peer)]
	} else if s.Op != text.Notify && s.Mem.Far {
		to = &c.ranks[k.num(s.Mem.Peer)]
	}
	k.block.Each(w, k.index, func(i int) {
		x := to.word(w, i)
		if w.Op == tl.SignalAdd {
			x.value += w.Value
		} else {
			x.value = w.Value
		}
		if c.several {
			x.posts = append(x.posts, change{x.value, k, len(k.ops), maps.Clone(k.after[k.block.Number])})
		}
	})
	if c.several && to == k.rank {
		k.posts = append(k.posts, post{k.block.Number, len(k.ops)})
	}
	return true
}

func (k *rank) word(w *text.Words, i int) *word {
	key := [3]int{int(w.Window), int(w.Part), i}
	x := k.words[key]
	if x == nil {
		x = &word{}
		k.words[key] = x
	}
	return x
}

// satisfied reports whether all words of a wait satisfy it. If so, the block depends on the blocks
// of its rank that made them so.
func (c *carrier) satisfied(k *agent, w *text.Words) bool {
	all := true
	holds := func(v int64) bool { return w.Cmp.Holds(c.file.Windows[w.Window].Parts[w.Part].Word, v, w.Value) }
	k.block.Each(w, k.index, func(i int) { all = all && holds(k.word(w, i).value) })
	if !all || !c.several {
		return all
	}
	k.block.Each(w, k.index, func(i int) {
		posts := k.word(w, i).posts
		n := len(posts) // of changes that it takes
		for n > 0 && (n == 1 && holds(0) || n > 1 && holds(posts[n-2].value)) {
			n--
		}
		seen := map[*agent]bool{}
		for _, p := range slices.Backward(posts[:n]) {
			if !seen[p.by] {
				seen[p.by] = true
				k.follow(p)
			}
		}
	})
	return true
}

// follow makes the next operation of a block depend on another block of its rank, up to a change
// that it made.
func (k *agent) follow(p change) {
	if p.by.rank != k.rank || p.by == k {
		return
	}
	me := k.block.Number
	if k.after[me] == nil {
		k.after[me] = map[int]int{}
	}
	add := func(on, upto int) {
		if on != me {
			k.after[me][on] = max(k.after[me][on], upto)
		}
	}
	add(p.by.block.Number, p.upto)
	for on, upto := range p.after {
		add(on, upto)
	}
}

// meet performs a rendezvous of all ranks at a window. It returns false if a rank has not arrived.
func (c *carrier) meet(k *agent, window int16) bool {
	if k.syncs[window]%2 == 0 { // it arrives
		k.syncs[window]++
	}
	for i := range c.ranks {
		if c.ranks[i].syncs[window] < k.syncs[window] {
			return false
		}
	}
	k.syncs[window]++
	return true
}
