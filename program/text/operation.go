package text

import (
	"math"
	"strconv"
	"strings"

	"kernbench/dtype"
	"kernbench/tl"
)

// wholeTensor is the N of an operand that names no elements, until it is checked.
const wholeTensor = -1

// operation reads a statement of a block.
func (p *parser) operation() error {
	s := Stmt{Line: int32(p.line), Dst: None, In: [3]Operand{{Tensor: None}, {Tensor: None}, {Tensor: None}}}
	if len(p.free) > 1 && p.free[1] == "=" {
		t, _ := p.next("a tensor")
		n, ok := tensorNumber(t)
		if !ok {
			return p.errorf("found %q before =, want a tensor, such as t3", t)
		}
		s.Dst, p.free = n, p.free[1:]
	}
	word, err := p.next("an operation")
	if err != nil {
		return err
	}
	read := operations[word]
	if read == nil {
		return p.errorf("found operation %q, want one of %s", word, operationNames)
	}
	if err := read(p, &s); err != nil {
		return err
	}
	if makes := s.Op.makes(); makes && s.Dst < 0 {
		return p.errorf("found no tensor for the result of %s, want one: tN = %[1]s ...", word)
	} else if !makes && s.Dst >= 0 {
		return p.errorf("found a tensor before %s, which makes none", word)
	}
	if len(p.free) > 0 {
		if _, err := p.word("as"); err != nil {
			return err
		}
		if s.Type != dtype.Invalid && s.Op != Convert {
			return p.errorf("found \"as\", but the statement has a type already")
		}
		typ := s.Type
		if err := p.typed(&s); err != nil {
			return err
		}
		if s.Op == Convert && s.Type != typ {
			return p.errorf("found as %v, want as %v: that is what it converts to", s.Type, typ)
		}
		if s.Op >= Notify {
			return p.errorf("found \"as\", but %s moves no elements", word)
		}
		s.said = true
	}
	if p.stmts++; p.stmts > mostStmts {
		return p.errorf("found more than %d statements in all blocks, want no more: join ranks that do the same in one block", mostStmts)
	}
	p.block.Stmts = append(p.block.Stmts, s)
	return p.done()
}

// makes reports whether an operation makes a tensor.
func (o Op) makes() bool { return o == Load || o == Recv || o >= Wait && o <= Dot || o == LoadReduce }

// operationNames are the words that begin an operation, for errors.
const operationNames = "load, store, send, recv, recv_async, wait, add, sub, mul, div, max, min, exp, log, sqrt, abs, neg, " +
	"fma, clamp, convert, full, reduce, softmax, transpose, dot, put, put_ll, put_ll128, put_nbi, put_combine, get, get_nbi, " +
	"load_reduce, store_multicast, reduce_multicast, notify, wait_until, wait_ll, wait_lines, " +
	"fence, quiet, pipe_barrier, sync"

var operations = map[string]func(p *parser, s *Stmt) error{
	"load": func(p *parser, s *Stmt) error { return p.place(&s.Mem) },
	"store": func(p *parser, s *Stmt) error {
		s.Op = Store
		if err := p.place(&s.Mem); err != nil {
			return err
		}
		return p.operand(s, 0)
	},
	"send": func(p *parser, s *Stmt) (err error) {
		s.Op = Send
		if s.Dir, err = p.nextDir(); err != nil {
			return err
		}
		if p.atPlace() {
			s.Op = SendRef
			err = p.place(&s.Mem)
		} else {
			err = p.operand(s, 0)
		}
		if err != nil {
			return err
		}
		return p.channels(s)
	},
	"recv": func(p *parser, s *Stmt) (err error) {
		s.Op = Recv
		if s.Dir, err = p.nextDir(); err != nil {
			return err
		}
		if p.atPlace() {
			s.Op = RecvTo
			return p.place(&s.Mem)
		}
		return p.typed(s)
	},
	"recv_async": func(p *parser, s *Stmt) (err error) {
		s.Op = RecvAsync
		if s.Dir, err = p.nextDir(); err != nil {
			return err
		}
		return p.typed(s)
	},
	"wait": func(p *parser, s *Stmt) (err error) {
		s.Op = Wait
		s.Dir, err = p.nextDir()
		return err
	},
	"fma": func(p *parser, s *Stmt) error {
		s.Op = FMA
		return p.operands(s, 3)
	},
	"clamp": func(p *parser, s *Stmt) error {
		s.Op = Clamp
		if err := p.operand(s, 0); err != nil {
			return err
		}
		if err := p.float(&s.Value[0]); err != nil {
			return err
		}
		if err := p.float(&s.Value[1]); err != nil {
			return err
		}
		if !(s.Value[0] <= s.Value[1]) {
			return p.errorf("found limits %g and %g, want the first not to exceed the second", s.Value[0], s.Value[1])
		}
		return nil
	},
	"convert": func(p *parser, s *Stmt) error {
		s.Op = Convert
		if err := p.operand(s, 0); err != nil {
			return err
		}
		t, err := p.next("an element type")
		if err == nil {
			s.Type, err = p.parseType(t)
		}
		return err
	},
	"full": func(p *parser, s *Stmt) error {
		s.Op = Full
		if err := p.typed(s); err != nil {
			return err
		}
		return p.float(&s.Value[0])
	},
	"reduce": func(p *parser, s *Stmt) error {
		s.Op = Reduce
		op, err := p.word("add", "max")
		if err != nil {
			return err
		}
		s.Sub = uint8(binaryOf(op))
		return p.over(s)
	},
	"softmax": func(p *parser, s *Stmt) error {
		s.Op = Softmax
		return p.over(s)
	},
	"transpose": func(p *parser, s *Stmt) error {
		s.Op = Transpose
		return p.operand(s, 0)
	},
	"dot": func(p *parser, s *Stmt) error {
		s.Op = Dot
		if err := p.operands(s, 2); err != nil {
			return err
		}
		if _, err := p.word("inner"); err != nil {
			return err
		}
		n, err := p.number("elements", 0, mostElems)
		s.Over[0] = int32(n)
		return err
	},
	"put":       func(p *parser, s *Stmt) error { return p.put(s) },
	"put_ll":    func(p *parser, s *Stmt) error { s.Lines = tl.LineLL; return p.put(s) },
	"put_ll128": func(p *parser, s *Stmt) error { s.Lines = tl.LineLL128; return p.put(s) },
	"put_nbi":   func(p *parser, s *Stmt) error { s.NBI = true; return p.put(s) },
	"put_combine": func(p *parser, s *Stmt) error {
		s.Atom = true
		if err := p.combining(s); err != nil {
			return err
		}
		return p.put(s)
	},
	"get":     func(p *parser, s *Stmt) error { return p.get(s) },
	"get_nbi": func(p *parser, s *Stmt) error { s.NBI = true; return p.get(s) },
	"load_reduce": func(p *parser, s *Stmt) error {
		s.Op = LoadReduce
		if err := p.combining(s); err != nil {
			return err
		}
		if err := p.copies(&s.Mem); err != nil {
			return err
		}
		return p.among(s)
	},
	"store_multicast": func(p *parser, s *Stmt) error {
		s.Op = StoreMulticast
		if err := p.copies(&s.Mem); err != nil {
			return err
		}
		if err := p.operand(s, 0); err != nil {
			return err
		}
		return p.among(s)
	},
	"reduce_multicast": func(p *parser, s *Stmt) error {
		s.Op = ReduceMulticast
		if err := p.combining(s); err != nil {
			return err
		}
		if err := p.copies(&s.Mem); err != nil {
			return err
		}
		if err := p.copies(&s.From); err != nil {
			return err
		}
		return p.among(s)
	},
	"notify": func(p *parser, s *Stmt) error {
		s.Op, s.Words = Notify, &Words{}
		return p.update(s.Words)
	},
	"wait_ll": func(p *parser, s *Stmt) error { return p.flag(s) },
	"wait_lines": func(p *parser, s *Stmt) error {
		if err := p.flag(s); err != nil {
			return err
		}
		if _, err := p.word("lines"); err != nil {
			return err
		}
		t, err := p.next("lines FROM:TO")
		if err != nil {
			return err
		}
		lo, hi, ok := strings.Cut(t, ":")
		if !ok {
			return p.errorf("found %q, want lines FROM:TO", t)
		}
		from, err := p.parseNumber(lo, "first line", 0, tl.MostLines-1)
		if err != nil {
			return err
		}
		to, err := p.parseNumber(hi, "end of lines", from+1, tl.MostLines)
		s.Span = [2]int32{int32(from), int32(to - from)}
		return err
	},
	"wait_until": func(p *parser, s *Stmt) error {
		s.Op, s.Words = WaitUntil, &Words{}
		if err := p.words(s.Words); err != nil {
			return err
		}
		t, err := p.next("a comparison")
		if err != nil {
			return err
		}
		for s.Words.Cmp = tl.EQ; s.Words.Cmp.String() != t; s.Words.Cmp++ {
			if s.Words.Cmp == tl.LE {
				return p.errorf("found comparison %q, want one of == != > >= < <=", t)
			}
		}
		s.Words.Value, err = p.number("value", math.MinInt64, math.MaxInt64)
		return err
	},
	"fence":        func(p *parser, s *Stmt) error { s.Op = Fence; return nil },
	"quiet":        func(p *parser, s *Stmt) error { s.Op = Quiet; return nil },
	"pipe_barrier": func(p *parser, s *Stmt) error { s.Op = PipeBarrier; return nil },
	"sync": func(p *parser, s *Stmt) error {
		t, err := p.next("a window")
		if err != nil {
			return err
		}
		w, err := p.windowNumber(t)
		s.Op, s.Words = Sync, &Words{Window: w}
		return err
	},
}

func init() {
	for op := dtype.Add; op <= dtype.Min; op++ {
		operations[op.String()] = func(p *parser, s *Stmt) error {
			s.Op, s.Sub = Binary, uint8(op)
			if err := p.operand(s, 0); err != nil {
				return err
			}
			if len(p.free) > 0 && !isOperand(p.free[0]) {
				s.Op = Scale
				return p.float(&s.Value[0])
			}
			return p.operand(s, 1)
		}
	}
	for _, op := range []dtype.UnaryOp{dtype.Exp, dtype.Log, dtype.Sqrt, dtype.Abs, dtype.Neg} {
		operations[op.String()] = func(p *parser, s *Stmt) error {
			s.Op, s.Sub = Unary, uint8(op)
			return p.operand(s, 0)
		}
	}
}

func binaryOf(name string) dtype.BinaryOp {
	for op := dtype.Add; op < dtype.Min; op++ {
		if op.String() == name {
			return op
		}
	}
	return dtype.Min
}

func (p *parser) nextDir() (tl.Dir, error) {
	t, err := p.next("a direction")
	if err != nil {
		return tl.AnyDir, err
	}
	if t == tl.AnyDir.String() {
		return tl.AnyDir, p.errorf("found direction any, want a named direction: a kernel that asks is not a program")
	}
	return p.dir(t)
}

// atPlace reports whether the next token is memory.
func (p *parser) atPlace() bool {
	if len(p.free) == 0 {
		return false
	}
	name, _, _ := strings.Cut(p.free[0], "[")
	return name == "in" || name == "out" || name == "data" || strings.Contains(name, ".")
}

// typed takes a type and shape: f16[4 8].
func (p *parser) typed(s *Stmt) error {
	t, err := p.next("a type and shape, such as f16[8]")
	if err != nil {
		return err
	}
	name, extents, ok := strings.Cut(strings.TrimSuffix(t, "]"), "[")
	if !ok || !strings.HasSuffix(t, "]") {
		return p.errorf("found %q, want a type and shape, such as f16[8]", t)
	}
	if s.Type, err = p.parseType(name); err != nil {
		return err
	}
	var dims []int
	for e := range strings.FieldsSeq(extents) {
		n, err := p.parseNumber(e, "extent", 0, mostElems)
		if err != nil {
			return err
		}
		if dims = append(dims, int(n)); len(dims) > tl.MaxDims {
			return p.errorf("found shape %s, want at most %d extents", t, tl.MaxDims)
		}
	}
	if s.Shape = tl.Dims(dims...); s.Shape.Elems() > mostElems {
		return p.errorf("found shape %s, want at most %d elements", t, mostElems)
	}
	return nil
}

// update takes a word and what happens to it.
func (p *parser) update(w *Words) error {
	if err := p.words(w); err != nil {
		return err
	}
	op, err := p.word("set", "add")
	if err != nil {
		return err
	}
	if w.Op = tl.SignalSet; op == "add" {
		w.Op = tl.SignalAdd
	}
	w.Value, err = p.number("value", math.MinInt64, math.MaxInt64)
	return err
}

// flag takes the words of packets and the flag that is awaited.
func (p *parser) flag(s *Stmt) error {
	s.Op, s.Lines, s.Words = WaitUntil, tl.LineLL, &Words{}
	if err := p.words(s.Words); err != nil {
		return err
	}
	_, err := p.word("==")
	if err == nil {
		s.Words.Value, err = p.number("flag", math.MinInt64, math.MaxInt64)
	}
	return err
}

func (p *parser) put(s *Stmt) error {
	s.Op = Put
	if err := p.place(&s.Mem); err != nil {
		return err
	}
	if p.atPlace() {
		s.Op = PutRef
		if err := p.place(&s.From); err != nil {
			return err
		}
	} else if err := p.operand(s, 0); err != nil {
		return err
	}
	if len(p.free) == 0 || p.free[0] != "signal" {
		return nil
	}
	p.free = p.free[1:]
	s.Words = &Words{}
	if err := p.update(s.Words); err != nil {
		return err
	}
	if s.Words.Far {
		return p.errorf("found a rank after the word of the signal, want none: it is that of the destination")
	}
	s.Words.Far, s.Words.Peer = s.Mem.Far, s.Mem.Peer
	return p.channels(s)
}

// channels takes the channels of a message, if the statement names them.
func (p *parser) channels(s *Stmt) error {
	if len(p.free) == 0 || p.free[0] != "channels" {
		return nil
	}
	p.free = p.free[1:]
	n, err := p.number("channels", 1, tl.MostChannels)
	s.Channels = int32(n)
	return err
}

func (p *parser) get(s *Stmt) error {
	s.Op = Get
	if err := p.place(&s.Mem); err != nil {
		return err
	}
	return p.place(&s.From)
}

// over takes an operand and its extents before, along and after an axis.
func (p *parser) over(s *Stmt) error {
	if err := p.operand(s, 0); err != nil {
		return err
	}
	if _, err := p.word("over"); err != nil {
		return err
	}
	for i := range s.Over {
		n, err := p.number("elements", 0, mostElems)
		if err != nil {
			return err
		}
		s.Over[i] = int32(n)
	}
	return nil
}

// float takes a number of any size.
func (p *parser) float(to *float64) error {
	t, err := p.next("a number")
	if err != nil {
		return err
	}
	if bits, ok := strings.CutPrefix(t, "nan("); ok {
		b, err := strconv.ParseUint(strings.TrimSuffix(bits, ")"), 0, 64)
		if *to = math.Float64frombits(b); err != nil || *to == *to {
			return p.errorf("found number %q, want nan(BITS) with the bits of one that is none", t)
		}
		return nil
	}
	if *to, err = strconv.ParseFloat(t, 64); err != nil || strings.Contains(t, "_") {
		return p.errorf("found number %q, want a decimal or hexadecimal number, inf, -inf or nan", t)
	}
	return nil
}
