package mscclpp

import (
	"fmt"
	"maps"
	"slices"
)

// findNotes adds what is legal, carried out, and most likely not meant.
func (p *Plan) findNotes() {
	w := &watch{plan: p, seen: map[string]int{}, first: map[string]string{}}
	for rank := range p.GPUs {
		for b := range p.GPUs[rank].Blocks {
			w.block(rank, b)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(w.first)) {
		text := w.first[what]
		if n := w.seen[what]; n > 1 {
			text += fmt.Sprintf(" (and %d more)", n-1)
		}
		p.Notes = append(p.Notes, text)
	}
}

// watch goes over the operations of thread blocks. The threads of a block carry out an operation
// side by side: only nop and barrier make them wait for each other.
type watch struct {
	plan  *Plan
	seen  map[string]int
	first map[string]string

	place  string      // rank and thread block
	moved  *Op         // last operation of all threads since they waited for each other
	waited *Op         // last wait of single threads since then
	open   map[int]*Op // of port channels: a copy that nothing waits for
}

func (w *watch) note(what string, op *Op, format string, args ...any) {
	if w.seen[what]++; w.seen[what] == 1 {
		w.first[what] = fmt.Sprintf("%s:%d: %s: ", w.plan.File, op.Line, w.place) + fmt.Sprintf(format, args...)
	}
}

func (w *watch) block(rank, b int) {
	ops := w.plan.GPUs[rank].Blocks[b].Ops
	w.place, w.moved, w.waited, w.open = fmt.Sprintf("rank %d tb %d", rank, b), nil, nil, map[int]*Op{}
	for i := range ops {
		w.op(&ops[i])
		for range 2 { // the end of one iteration meets the beginning of the next
			for k := range ops[i].Ops {
				w.op(&ops[i].Ops[k])
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(w.open)) {
		w.note("flush", w.open[c],
			"%s over a port without a flush after it: the copy may still run when the launch has ended (the model lets it end)",
			w.open[c].Name)
	}
}

func (w *watch) op(op *Op) {
	single := false // threads act for the whole block
	switch op.Name {
	case "nop", "barrier":
		w.moved, w.waited = nil, nil
		return
	case "pipeline":
		return
	case "wait", "rlxwait", "sem_acquire":
		w.waited = op
		return
	case "signal", "rlxsignal", "sem_release":
		single = true
	case "flush":
		for _, c := range op.Channels {
			delete(w.open, c)
		}
		return
	case "put", "pws", "pwsf", "ppkt":
		if single = op.Type == PortChannel; !single {
			if op.Name == "pws" || op.Name == "pwsf" {
				w.note("pws", op, "%s over a memory channel copies and gives no signal: only ports do", op.Name)
			}
			break
		}
		for _, c := range op.Channels {
			if w.open[c] = op; op.Name == "pwsf" {
				delete(w.open, c)
			}
		}
	}
	if w.waited != nil {
		w.note("nop after wait", op, "%s after %s at line %d without a nop between: only the waiting threads are ordered after the signal",
			op.Name, w.waited.Name, w.waited.Line)
		w.waited = nil
	}
	if !single {
		w.moved = op
		return
	}
	if w.moved != nil && w.moved != op {
		w.note("nop before signal", op, "%s after %s at line %d without a nop between: other threads may not have finished it",
			op.Name, w.moved.Name, w.moved.Line)
		w.moved = nil
	}
}
