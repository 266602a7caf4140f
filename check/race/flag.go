package race

import (
	"kernbench/record/history"
	"kernbench/tl"
)

// This file lets the flag of a packet have the short forms of a word: see words.go. Most flags are
// set once and awaited once. Then the flag is as good as an addition to 0.
// Invariant: only a packet with another flag follows a settled flag, and its sender knows of the
// wait. Then the first packet does not matter any more: it can explain no later wait, it is known
// to be complete, and the flags differ. With any other use of the word it may matter. Then the pass
// is void, because agents may know too little in it, and so is what earlier passes have learned.
// The judge begins anew, and keeps all flags in full.

// succeededBy reports whether the next use of a settled flag is a packet with another flag. Whether
// its sender knows of the wait is seen later: see reads.
func (x *settling) succeededBy(r *history.Record) bool {
	return r.Kind == history.Notify && r.Lines != tl.NoLine && r.Value != int64(x.base)
}
