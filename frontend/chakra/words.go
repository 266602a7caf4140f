package chakra

import (
	"slices"

	"kernbench/program/text"
	"kernbench/tl"
)

// words holds the control words by which the blocks of a rank wait for each other; nil if ranks
// have one block each.
type words map[[3]int]*word

// word is a control word: its value, and all its changes.
type word struct {
	value   int64
	changes []change
}

// change is a change of a word by a block, and the nodes before it.
type change struct {
	value  int64 // after it
	by     *exporter
	behind []uint64
}

func (w words) word(s *text.Stmt, i int) *word {
	key := [3]int{int(s.Words.Window), int(s.Words.Part), i}
	x := w[key]
	if x == nil {
		x = &word{}
		w[key] = x
	}
	return x
}

func (w words) notify(e *exporter, s *text.Stmt) {
	e.block.Each(s.Words, e.index, func(i int) {
		x := w.word(s, i)
		if s.Words.Op == tl.SignalAdd {
			x.value += s.Words.Value
		} else {
			x.value = s.Words.Value
		}
		x.changes = append(x.changes, change{x.value, e, slices.Clone(e.behind)})
	})
}

// holds reports whether a value satisfies a wait.
func (e *exporter) holds(s *text.Stmt, value int64) bool {
	return s.Words.Cmp.Holds(e.file.Windows[s.Words.Window].Parts[s.Words.Part].Word, value, s.Words.Value)
}

// blocks reports whether the next statement of a block is a wait that nothing satisfies yet.
func (w words) blocks(e *exporter) bool {
	s := &e.block.Stmts[e.at]
	if w == nil || s.Op != text.WaitUntil {
		return false
	}
	all := true
	e.block.Each(s.Words, e.index, func(i int) { all = all && e.holds(s, w.word(s, i).value) })
	return !all
}

// wait puts the nodes before the changes that satisfy a wait before the block's next nodes. Of each
// word these are the first changes that are enough.
func (w words) wait(e *exporter, s *text.Stmt) {
	e.block.Each(s.Words, e.index, func(i int) {
		changes := w.word(s, i).changes
		n := len(changes)
		for n > 0 && (n == 1 && e.holds(s, 0) || n > 1 && e.holds(s, changes[n-2].value)) {
			n--
		}
		seen := map[*exporter]bool{e: true}
		for _, c := range slices.Backward(changes[:n]) {
			for _, id := range c.behind {
				if !seen[c.by] && !slices.Contains(e.behind, id) {
					e.behind = append(e.behind, id)
				}
			}
			seen[c.by] = true
		}
	})
}
