package sim

import "kernbench/tl"

// recording is a part of a kernel's instructions. Recorders take turns with one, which so stays in
// the cache; what they leave in it is copied.
type recording struct {
	ops []op
	*told
}

// told is what a log or a trace is told of each op; nil: there is none.
type told struct {
	detail []detail
	whole  []tl.Instr // of details that need more; the first is of none
}

// firstPart and laterPart are how many instructions are recorded at once: enough for a short
// kernel to be recorded whole, after which its coroutine is free for another, and few enough for
// those of a long one to stay in the cache until they are followed.
const (
	firstPart = 512
	laterPart = 128
)

// record gets the next part of a kernel's instructions; false when the launch was cancelled.
func (w *follow) record(f *follower) bool {
	if w.ctx.Err() != nil {
		w.until = 0
		return false
	}
	for i := range f.ops {
		if f.ops[i].kind != opDrop {
			f.passed++
		}
	}
	f.at = 0
	if w.ahead != nil {
		w.ahead.next(w, f)
		return true
	}
	r := w.recordPart(f.id)
	w.forms = w.made
	f.keep(&w.part)
	w.widen(f, len(r.known))
	return true
}

// widen makes room for so many cells.
func (w *follow) widen(f *follower, cells int) {
	for len(f.cells) < cells {
		f.cells = append(f.cells, cell{slot: -1})
	}
	for w.log != nil && len(f.values) < cells {
		f.values = append(f.values, token{})
	}
}

// keep copies a part that has been made.
func (r *recording) keep(made *recording) {
	r.ops = kept(r.ops, made.ops)
	if made.told == nil {
		return
	}
	if r.told == nil {
		r.told = new(told)
	}
	r.detail, r.whole = kept(r.detail, made.detail), kept(r.whole, made.whole)
}

// recordPart lets the kernel of a rank go on until it has made a part, and returns its recorder.
func (w *follow) recordPart(rank int32) *recorder {
	r := w.busy[rank]
	if r == nil {
		if n := len(w.idle); n > 0 {
			r, w.idle = w.idle[n-1], w.idle[:n-1]
		} else {
			r = w.newRecorder()
		}
		r.f, r.ended, r.room = &w.ranks[rank], false, firstPart
	} else {
		r.room = laterPart
	}
	w.part.ops = w.part.ops[:0]
	if t := w.part.told; t != nil {
		t.detail, t.whole = t.detail[:0], append(t.whole[:0], tl.Instr{})
	}
	r.next()
	if r.ended {
		delete(w.busy, rank)
		w.idle = append(w.idle, r)
		if w.traffic != nil {
			w.traffic[rank] = r.traffic
		}
	} else {
		w.busy[rank] = r
	}
	return r
}

// kept is a copy of a part in the place of the one before. There are many of them at a time: one in
// the place of a much longer one gets memory of its own.
func kept[T any](before, part []T) []T {
	if cap(before) > 2*len(part) {
		before = make([]T, 0, len(part))
	}
	return append(before[:0], part...)
}
