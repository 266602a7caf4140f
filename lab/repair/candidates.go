package repair

import (
	"fmt"
	"slices"

	"kernbench/dialect/hccl"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/tl"
)

// op is an operation on a line of a kernel.
type op struct {
	opKey
	typ   dtype.Type
	shape tl.Shape
	side  tl.OneSided // of one-sided operations
}

type opKey struct {
	line string
	op   tl.Op
	dir  tl.Dir
}

// survey runs the kernels once more to collect their operations.
func (s *search) survey() {
	s.known = map[opKey]*op{}
	spec := s.spec
	spec.Edits = &tl.Edits{Seen: s.see, SeenCall: s.seeCall}
	_, _ = s.try(spec)
}

func (s *search) see(line string, dir tl.Dir, in *tl.Instr, w *tl.Wiring) {
	k := opKey{line, in.Op, dir}
	if s.known[k] != nil || line == "" {
		return
	}
	o := &op{opKey: k, typ: in.Type, shape: in.Shape}
	if in.Side != nil && in.Op >= tl.OpPut && in.Op <= tl.OpWaitWord {
		o.side = *in.Side
		o.side.Words = slices.Clone(o.side.Words)
	}
	s.known[k], s.ops = o, append(s.ops, o)
	for _, p := range w.In {
		s.ins = add(s.ins, p.Dir)
	}
	for _, p := range w.Out {
		s.outs = add(s.outs, p.Dir)
	}
}

// dialectCall is a call of the task API, on a line of a kernel.
type dialectCall struct{ line, call string }

func (s *search) seeCall(line, call string) {
	if c := (dialectCall{line, call}); line != "" && !slices.Contains(s.calls, c) {
		s.calls = append(s.calls, c)
	}
}

func add[D comparable](dirs []D, d D) []D {
	if slices.Contains(dirs, d) {
		return dirs
	}
	return append(dirs, d)
}

// candidate is an edit, with its description.
type candidate struct {
	edit tl.Edit
	what string
}

// candidates returns the edits to try, the likeliest first.
func (s *search) candidates() []candidate {
	var all []candidate
	on := func(o *op, e tl.Edit, format string, args ...any) {
		e.Line, e.Op, e.Dir = o.line, o.op, o.dir
		all = append(all, candidate{e, fmt.Sprintf(format, args...)})
	}
	of := func(kinds ...tl.Op) []*op {
		var some []*op
		for _, o := range s.ops {
			if slices.Contains(kinds, o.op) {
				some = append(some, o)
			}
		}
		slices.SortStableFunc(some, func(a, b *op) int { return s.rank(a) - s.rank(b) })
		return some
	}
	for _, c := range s.calls {
		what := "committing one more turn at " + c.line
		if c.call == hccl.AgainPrepare {
			what = "committing all turns where the task is prepared, at " + c.line
		}
		all = append(all, candidate{tl.Edit{Do: tl.Again, Line: c.line, Call: c.call}, what})
	}
	recvs, sends, waits := of(tl.OpRecv), of(tl.OpSend), of(tl.OpWaitWord)
	notes, puts := of(tl.OpNotify), of(tl.OpPut)
	for _, o := range recvs {
		on(o, tl.Edit{Do: tl.Later}, "moving the receive from %v at %s after the next send", o.dir, o.line)
	}
	for _, o := range waits {
		if o.side.Cmp == tl.EQ {
			on(o, tl.Edit{Do: tl.Compare, Cmp: tl.GE}, "waiting with >= instead of == at %s", o.line)
		}
		for _, by := range s.shortBy(o) {
			on(o, tl.Edit{Do: tl.Change, Add: by}, "waiting for a value %s at %s", lowerOrHigher(by), o.line)
		}
	}
	forms := s.payloads(sends)
	for _, o := range s.ringOps() {
		for _, d := range s.ins {
			for _, f := range forms {
				on(o, tl.Edit{Do: tl.AddRecv, To: d, Type: f.typ, Shape: f.shape}, "adding a receive from %v after %s", d, o.line)
			}
		}
	}
	for _, o := range sends {
		for _, d := range s.outs {
			if d != o.dir {
				on(o, tl.Edit{Do: tl.Redirect, To: d}, "sending to %v instead of %v at %s", d, o.dir, o.line)
			}
		}
	}
	for _, o := range recvs {
		for _, d := range s.ins {
			if d != o.dir && o.dir != tl.AnyDir {
				on(o, tl.Edit{Do: tl.Redirect, To: d}, "receiving from %v instead of %v at %s", d, o.dir, o.line)
			}
		}
	}
	for _, o := range notes {
		on(o, tl.Edit{Do: tl.Twice}, "notifying twice at %s", o.line)
		on(o, tl.Edit{Do: tl.Change, Add: 1}, "notifying with a value higher by 1 at %s", o.line)
	}
	for _, o := range slices.Concat(puts, notes) {
		for _, w := range waits {
			for _, word := range w.side.Words {
				on(o, tl.Edit{Do: tl.AddNotify, Word: word},
					"adding, after %s, a notification of the word for which %s waits", o.line, w.line)
			}
		}
	}
	for _, o := range s.ringOps() {
		for _, d := range s.outs {
			on(o, tl.Edit{Do: tl.AddSend, To: d}, "adding a send to %v after %s", d, o.line)
		}
	}
	for _, o := range sends {
		on(o, tl.Edit{Do: tl.Omit}, "leaving out the send to %v at %s", o.dir, o.line)
	}
	for _, o := range recvs {
		on(o, tl.Edit{Do: tl.Omit}, "leaving out the receive from %v at %s", o.dir, o.line)
	}
	for _, o := range slices.Concat(waits, notes) {
		on(o, tl.Edit{Do: tl.Omit}, "leaving out the %v at %s", o.op, o.line)
	}
	return all
}

// rank puts the operations at which ranks are stuck before the others.
func (s *search) rank(o *op) int {
	if s.hang != nil && slices.ContainsFunc(s.hang.Blocked, func(b fault.Blocked) bool { return b.Line == o.line }) {
		return 0
	}
	return 1
}

// ringOps returns the operations after which a send or a receive may be missing.
func (s *search) ringOps() []*op {
	return slices.DeleteFunc(slices.Clone(s.ops), func(o *op) bool {
		return o.op != tl.OpSend && o.op != tl.OpRecv && o.op != tl.OpMath && o.op != tl.OpLoad
	})
}

// payloads returns the types and shapes of messages.
func (s *search) payloads(sends []*op) []*op {
	var all []*op
	for _, o := range sends {
		if !slices.ContainsFunc(all, func(p *op) bool { return p.typ == o.typ && p.shape == o.shape }) {
			all = append(all, o)
		}
	}
	return all
}

// shortBy returns numbers to add to the value of a wait. With each of the first ones, the wait has
// the value that its word holds on a stuck rank. The last ones are -1 and 1.
func (s *search) shortBy(o *op) []int64 {
	by := []int64{}
	if s.hang != nil {
		for _, b := range s.hang.Blocked {
			if d := b.Held - o.side.Value; b.Line == o.line && b.Want != "" && d != 0 && !slices.Contains(by, d) {
				by = append(by, d)
			}
		}
	}
	for _, d := range []int64{-1, 1} {
		if !slices.Contains(by, d) {
			by = append(by, d)
		}
	}
	return by
}

func lowerOrHigher(by int64) string {
	if by < 0 {
		return fmt.Sprintf("lower by %d", -by)
	}
	return fmt.Sprintf("higher by %d", by)
}
