package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// SignalOp is the operation of a notification on a control word.
type SignalOp uint8

// The signal operations.
const (
	SignalSet SignalOp = iota // the word becomes the value
	SignalAdd                 // the value is added to the word
)

func (o SignalOp) String() string { return [...]string{"set", "add"}[min(o, SignalAdd)] }

// Cmp compares a control word with a value.
type Cmp uint8

// The comparisons.
const (
	EQ Cmp = iota
	NE
	GT
	GE
	LT
	LE
)

var cmpNames = [...]string{"==", "!=", ">", ">=", "<", "<="}

func (c Cmp) String() string {
	if int(c) < len(cmpNames) {
		return cmpNames[c]
	}
	return fmt.Sprintf("Cmp(%d)", uint8(c))
}

// Holds reports whether a word of type t that holds v satisfies the comparison with want.
func (c Cmp) Holds(t mem.WordType, v, want int64) bool {
	switch c {
	case EQ:
		return v == want
	case NE:
		return v != want
	case GT:
		return t.Less(want, v)
	case GE:
		return !t.Less(v, want)
	case LT:
		return t.Less(v, want)
	}
	return !t.Less(want, v)
}

// signalDims is the most extents that a tensor of signals can have.
const signalDims = 5

// Signal names control words of a window, in every member's copy. They are one word, or a strided
// tensor of them; a wait requires all of them to satisfy it.
type Signal struct {
	win    *mem.Window
	part   *mem.Part
	first  int // word of the part
	extent [signalDims]int32
	stride [signalDims]int32
	dims   int
}

// At returns word i, counted from the first word of s.
func (s Signal) At(i int) Signal {
	s.first = clamp(s.first + clamp(i))
	s.dims = 0
	return s
}

// Slice returns n words from word lo on.
func (s Signal) Slice(lo, n int) Signal { return s.At(lo).Grid([]int{n}, []int{1}) }

// mostWords is the largest number of words of a tensor of signals, and its largest stride.
const mostWords = 1 << 24

// Grid returns a tensor of words: extents and strides, in words, of up to five dimensions. The
// first word is that of s.
func (s Signal) Grid(extents, strides []int) Signal {
	s.dims = -1 // an error where it is used
	if len(extents) != len(strides) || len(extents) > signalDims {
		return s
	}
	words := 1
	for i, n := range extents {
		if n < 1 || n > mostWords/words || strides[i] < -mostWords || strides[i] > mostWords {
			return s
		}
		words *= n
		s.extent[i], s.stride[i] = int32(n), int32(strides[i])
	}
	s.dims = len(extents)
	return s
}

// Len returns the number of words.
func (s Signal) Len() int {
	n := 1
	for i := range s.dims {
		n *= int(s.extent[i])
	}
	return n
}

// Type returns the type of the words.
func (s Signal) Type() mem.WordType {
	if s.part == nil {
		return mem.NoWord
	}
	return s.part.Word
}

// Signals finds control words of a window by the name of their part.
func (c *Context) Signals(w *mem.Window, name string) Signal {
	p := c.part("signals", w, name)
	if p.Word == mem.NoWord {
		c.misuse("signals", fmt.Sprintf("%s.%v holds data: signals are parts that are declared as control words", w.Name, p))
	}
	return Signal{win: w, part: p}.Slice(0, p.Count)
}

// wordsOf checks a signal for an operation and lists its words into c.words. The operation
// concerns the copy of member peer.
func (c *Context) wordsOf(op string, s Signal, peer int) {
	if s.win == nil {
		c.misuse(op, "the zero Signal: use what Context.Signals returns")
	}
	c.member(op, s.win, peer)
	if s.dims < 0 {
		c.misuse(op,
			fmt.Sprintf("a tensor of signals has at most %d extents, each at least 1, and one stride for each; words and strides are at most %d",
				signalDims, mostWords))
	}
	c.words = c.words[:0]
	n := s.Len()
	for i := range n {
		w, rest := s.first, i
		for d := s.dims - 1; d >= 0; d-- {
			w += rest % int(s.extent[d]) * int(s.stride[d])
			rest /= int(s.extent[d])
		}
		if w < 0 || w >= s.part.Count {
			c.fail(&fault.OutOfBounds{
				Place: c.place(op), Window: s.win.Name, Buffer: s.part.FullName(), Unit: "word",
				From: int64(w), To: int64(w) + 1, Size: int64(s.part.Count),
			})
		}
		c.words = append(c.words, s.part.First+int32(w))
	}
}

// oneWord is wordsOf for operations on a single word.
func (c *Context) oneWord(op string, s Signal, peer int) {
	if s.win != nil && s.dims > 0 && s.Len() != 1 {
		c.misuse(op, fmt.Sprintf("it takes one word, and %d were named: choose one with At", s.Len()))
	}
	c.wordsOf(op, s, peer)
}

// signalOp checks that there is such an operation.
func (c *Context) signalOp(op string, o SignalOp) {
	if o > SignalAdd {
		c.misuse(op, fmt.Sprintf("SignalOp(%d): one of SignalSet, SignalAdd", uint8(o)))
	}
}

// wordValue checks that a word can hold a value.
func (c *Context) wordValue(op string, s Signal, v int64) int64 {
	if s.part.Word.Wrap(v) != v {
		c.misuse(op, fmt.Sprintf("%d does not fit in %v", v, s.part))
	}
	return v
}

// wordOperands sets the operands of an operation on words.
func (c *Context) wordOperands(s Signal, peer int) *OneSided {
	c.side = OneSided{Win: s.win, Peer: int32(peer), Word: c.words[0], Words: c.words, WordType: s.part.Word}
	return &c.side
}

// signal issues an operation on words.
func (c *Context) signal(kind Op) {
	c.prepare(kind, dtype.Invalid, 0, Shape{}).Side = &c.side
	c.issue()
}

// Notify updates a word of member peer and returns at once. It is ordered after nothing that
// this PE has done before: not its puts (Fence, or put with signal), not its own stores
// (PipeBarrier).
func (c *Context) Notify(s Signal, peer int, op SignalOp, v int64) {
	c.oneWord("notify", s, peer)
	c.signalOp("notify", op)
	v = c.wordValue("notify", s, v)
	x := c.wordOperands(s, peer)
	x.Op, x.Value = op, v
	c.counts.Notifies++
	c.signal(OpNotify)
}

// WaitUntil waits until all words of s in this PE's own copy satisfy cmp with v. It changes
// nothing. It orders later operations after the updates without which that value is impossible, and
// after all that came before those updates.
func (c *Context) WaitUntil(s Signal, cmp Cmp, v int64) {
	c.wait("wait_until", s, cmp, v)
	c.counts.Waits += int64(len(c.words))
	c.signal(OpWaitWord)
}

// Test reports whether all words of s in this PE's own copy satisfy cmp with v. It does not wait.
func (c *Context) Test(s Signal, cmp Cmp, v int64) bool {
	c.wait("test", s, cmp, v)
	c.signal(OpTestWord)
	return c.side.Hit
}

// wait sets the operands of a wait or test of words in this PE's own copy.
func (c *Context) wait(op string, s Signal, cmp Cmp, v int64) *OneSided {
	if s.win == nil {
		c.misuse(op, "the zero Signal: use what Context.Signals returns")
	}
	me := c.own(op, s.win)
	c.wordsOf(op, s, me)
	c.wordValue(op, s, v)
	if cmp > LE {
		c.misuse(op, fmt.Sprintf("%v: one of EQ, NE, GT, GE, LT, LE", cmp))
	}
	x := c.wordOperands(s, me)
	x.Cmp, x.Value = cmp, v
	return x
}

// LoadScalar reads a control word of this PE's own copy. A judge of races reports an update of the
// word that is not ordered before or after the read, unless the kernel polls the word. A kernel
// that branches on the value depends on the schedule.
func (c *Context) LoadScalar(s Signal) int64 { return c.readWord(s, false) }

// Peek is LoadScalar of a word that other ranks may change at the same time.
func (c *Context) Peek(s Signal) int64 { return c.readWord(s, true) }

func (c *Context) readWord(s Signal, changing bool) int64 {
	if s.win == nil {
		c.misuse("load_scalar", "the zero Signal: use what Context.Signals returns")
	}
	me := c.own("load_scalar", s.win)
	c.oneWord("load_scalar", s, me)
	c.wordOperands(s, me).NBI = changing
	c.signal(OpReadWord)
	return c.side.Got
}

// FetchAdd adds v to a word of member peer, and returns its former value.
func (c *Context) FetchAdd(s Signal, peer int, v int64) int64 {
	c.oneWord("fetch_add", s, peer)
	v = c.wordValue("fetch_add", s, v)
	x := c.wordOperands(s, peer)
	x.Op, x.Value = SignalAdd, v
	c.counts.Atomics++
	c.signal(OpFetchAdd)
	return c.side.Got
}

// CompareSwap sets a word of member peer to v if it holds old, and returns its former value: old if
// the swap was made.
func (c *Context) CompareSwap(s Signal, peer int, old, v int64) int64 {
	c.oneWord("compare_swap", s, peer)
	old, v = c.wordValue("compare_swap", s, old), c.wordValue("compare_swap", s, v)
	x := c.wordOperands(s, peer)
	x.Expect, x.Value = old, v
	c.counts.Atomics++
	c.signal(OpCompareSwap)
	return c.side.Got
}
