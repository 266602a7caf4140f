package tl

import (
	"slices"

	"kernbench/dtype"
	"kernbench/mem"
)

// Edit is a change to what kernels do at a line of their source, in all iterations and on all ranks
// that run it. Where it cannot apply, such as on a rank without a ring in the direction, the kernel
// is left as it is.
type Edit struct {
	Line string // of the instruction, as faults name it
	Op   Op     // of the instruction
	Dir  Dir    // of a send or receive; AnyDir for other instructions
	Do   EditKind
	To   Dir    // Redirect, AddRecv, AddSend
	Cmp  Cmp    // Compare
	Add  int64  // Value
	Word int32  // AddNotify
	Call string // Again

	// AddRecv: what is received.
	Type  dtype.Type
	Shape Shape
}

// EditKind is the kind of an edit.
type EditKind uint8

// Edits.
const (
	Omit      EditKind = iota // a send, receive, notification or wait is left out
	Redirect                  // a send or receive takes another direction
	Later                     // a receive comes after the send that follows it
	AddRecv                   // a receive follows the instruction
	AddSend                   // a send of what the instruction makes or uses follows it
	AddNotify                 // a notification by 1 of the peer of a put or notification follows it
	Compare                   // a wait uses another comparison
	Change                    // the value of a wait or notification is another
	Twice                     // a notification is made twice
	Again                     // a call of a dialect is made once more; Op and Dir do not count
)

// Edits are the edits of a run, and the observers of its instructions.
type Edits struct {
	List []Edit
	Seen func(line string, dir Dir, in *Instr, w *Wiring) // in is valid during the call; it may be nil

	SeenCall func(line, call string) // calls of dialects that Again can repeat; it may be nil

	// Uses is called if a send uses the value of a receive that Later delays. The receive then
	// comes first. It may be nil.
	Uses func(send string, dir Dir)

	// Core puts another core between a kernel and that of its executor, in the place of all else;
	// it may be nil.
	Core func(Core, *Context) Core
}

// editing is the core of a rank whose kernel is edited. It wraps the executor's.
type editing struct {
	Core
	c      *Context
	edits  *Edits
	inside bool   // an instruction of an edit is in progress
	later  *Instr // receive that has been put off
	gen    uint32 // of its cell
	held   int32  // slot whose lifetime that receive ends, or None
}

// Do implements Core.
func (e *editing) Do(in *Instr) {
	if in.Op == OpDrop || e.inside {
		e.Core.Do(in)
		return
	}
	line, dir := DriverOf(e.c).Line(), e.dirOf(in)
	if e.edits.Seen != nil {
		e.edits.Seen(line, dir, in, e.c.wiring)
	}
	if e.later != nil && e.catchUp(in) {
		return
	}
	for i := range e.edits.List {
		x := &e.edits.List[i]
		if x.Line == line && x.Op == in.Op && x.Dir == dir && x.Do != Again {
			e.apply(x, in)
			return
		}
	}
	e.Core.Do(in)
}

// isDelayed reports whether an edit delays the current receive. If so, the slot received before
// stays valid until the receive is performed.
func (c *Context) isDelayed(port int) bool {
	e, ok := c.core.(*editing)
	if !ok || e.inside || e.later != nil {
		return false
	}
	line, dir := c.caller().Text(), c.wiring.In[port].Dir
	for i := range e.edits.List {
		if x := &e.edits.List[i]; x.Do == Later && x.Op == OpRecv && x.Line == line && x.Dir == dir {
			e.held, c.ports[port].held = c.ports[port].held, None
			return true
		}
	}
	return false
}

// Again reports whether an edit of the kernel asks a dialect to make the call that it is in, known
// by a name, once more.
func (d Driver) Again(call string) bool {
	e, ok := d.c.core.(*editing)
	if !ok {
		return false
	}
	line := d.c.caller().Text()
	if e.edits.SeenCall != nil {
		e.edits.SeenCall(line, call)
	}
	return slices.ContainsFunc(e.edits.List, func(x Edit) bool { return x.Do == Again && x.Line == line && x.Call == call })
}

// dirOf returns the direction of a send or receive; AnyDir for other instructions.
func (e *editing) dirOf(in *Instr) Dir {
	switch {
	case in.Op == OpSend:
		return e.c.wiring.Out[in.Port].Dir
	case in.Op == OpRecv && in.Port != AnyPort:
		return e.c.wiring.In[in.Port].Dir
	}
	return AnyDir
}

func (e *editing) apply(x *Edit, in *Instr) {
	switch x.Do {
	case Omit:
		e.omit(in)
		return
	case Redirect:
		e.redirect(x, in)
	case Later:
		if in.Dst != None && in.Port != AnyPort {
			own := *in
			e.later, e.gen = &own, e.c.cells[in.Dst].gen
			in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
			return
		}
		e.releaseSlot()
	case Compare:
		in.Side.Cmp = x.Cmp
	case Change:
		in.Side.Value += x.Add
	}
	e.Core.Do(in)
	switch x.Do {
	case AddRecv:
		e.extra(func() {
			if port := e.c.wiring.InIndex(x.To); port >= 0 {
				var r Tensor
				e.c.takeFrom("recv", port, x.Shape, x.Type, nil, &r)
			}
		})
	case AddSend:
		e.addSend(x, in)
	case AddNotify:
		e.extra(func() {
			s := in.Side
			e.c.side = OneSided{Win: s.Win, Peer: s.Peer, Word: x.Word, Words: []int32{x.Word},
				WordType: wordType(s, x.Word), Op: SignalAdd, Value: 1}
			e.c.signal(OpNotify)
		})
	case Twice:
		e.Core.Do(in)
	}
}

// extra carries out instructions that the kernel did not issue, and leaves the one at hand as it
// was.
func (e *editing) extra(do func()) {
	c := e.c
	in, usual, side, words := c.in, c.usual, c.side, append([]int32(nil), c.words...)
	e.inside = true
	do()
	e.inside = false
	c.in, c.usual, c.side = in, usual, side
	c.words = append(c.words[:0], words...)
}

// omit skips an instruction. The result of an omitted receive is zeros.
func (e *editing) omit(in *Instr) {
	if in.Op != OpRecv {
		return
	}
	in.GotPort, in.GotShape, in.GotType, in.GotN = max(0, in.Port), in.Shape, in.Type, in.N
	if in.Dst != None {
		e.Core.Do(&Instr{Op: OpMath, Math: MathFill, Type: in.Type, N: in.N, Shape: in.Shape, Dst: in.Dst, A: None, B: None, C: None})
	}
}

func (e *editing) redirect(x *Edit, in *Instr) {
	port := e.c.wiring.OutIndex(x.To)
	if in.Op == OpRecv {
		port = e.c.wiring.InIndex(x.To)
	}
	if port >= 0 {
		in.Port = port
	}
}

// addSend sends the tensor that an instruction has made, or that it uses.
func (e *editing) addSend(x *Edit, in *Instr) {
	port, a, off := e.c.wiring.OutIndex(x.To), in.A, in.AOff
	if in.Dst != None {
		a, off = in.Dst, 0
	}
	if port < 0 || a == None || in.N == 0 {
		return
	}
	e.Core.Do(&Instr{Op: OpSend, Port: port, Type: in.Type, N: in.N, Shape: in.Shape, Dst: None, A: a, AOff: off, B: None, C: None})
}

// catchUp performs the delayed receive: after a send, or before an instruction that uses its result
// or takes a message. It reports whether the instruction is done.
func (e *editing) catchUp(in *Instr) bool {
	d := e.later.Dst
	uses := in.A == d || in.B == d || in.C == d
	if !uses && in.Op != OpSend && in.Op != OpRecv {
		return false
	}
	recv := e.later
	e.later = nil
	if e.c.cells[d].gen != e.gen {
		e.c.misuse("recv", "the receive that was put off is no longer wanted")
	}
	if uses && in.Op == OpSend && e.edits.Uses != nil {
		e.edits.Uses(DriverOf(e.c).Line(), e.dirOf(in))
	}
	first := !uses && in.Op == OpSend
	if first {
		e.Core.Do(in)
	}
	e.releaseSlot()
	e.Core.Do(recv)
	return first
}

// releaseSlot ends the lifetime of the slot that was received before.
func (e *editing) releaseSlot() {
	if e.held != None {
		e.c.drop(e.held)
		e.held = None
	}
}

// wordType returns the type of a word of the window that an operation concerns.
func wordType(s *OneSided, word int32) mem.WordType {
	for i := range s.Win.Layout.Parts {
		if p := &s.Win.Layout.Parts[i]; p.Word != mem.NoWord && word >= p.First && int(word-p.First) < p.Count {
			return p.Word
		}
	}
	return s.WordType
}
