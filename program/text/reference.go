package text

import (
	"strconv"
	"strings"

	"kernbench/mem"
)

// tensorNumber returns the number of t3.
func tensorNumber(t string) (int32, bool) {
	digits, ok := strings.CutPrefix(t, "t")
	n, err := strconv.ParseInt(digits, 10, 32)
	return int32(n), ok && err == nil && n >= 0 && strconv.FormatInt(n, 10) == digits
}

// isOperand reports whether a token is a tensor and not a number.
func isOperand(t string) bool { return t == "empty" || strings.HasPrefix(t, "t") }

func (p *parser) operands(s *Stmt, n int) error {
	for i := range n {
		if err := p.operand(s, i); err != nil {
			return err
		}
	}
	return nil
}

// operand takes a tensor, or elements of one.
func (p *parser) operand(s *Stmt, i int) error {
	t, err := p.next("a tensor")
	if err != nil {
		return err
	}
	o := &s.In[i]
	if t == "empty" {
		o.Tensor = Empty
		return nil
	}
	name, within, sliced := strings.Cut(t, "[")
	n, ok := tensorNumber(name)
	if !ok {
		return p.errorf("found %q, want a tensor, such as t3 or t3[0:8], or empty", t)
	}
	if o.Tensor, o.N = n, wholeTensor; !sliced {
		return nil
	}
	if within, sliced = strings.CutSuffix(within, "]"); !sliced {
		return p.errorf("found %q, want a tensor, such as t3 or t3[0:8]", t)
	}
	return p.parseRange(within, &o.From, &o.N)
}

// parseRange reads LO:HI or LO:+N.
func (p *parser) parseRange(t string, from *Num, n *int32) error {
	lo, hi, ok := strings.Cut(t, ":")
	if !ok {
		return p.errorf("found [%s], want elements FROM:TO or FROM:+NUMBER", t)
	}
	if err := p.num(lo, "first element", mostElems, from); err != nil {
		return err
	}
	if length, ok := strings.CutPrefix(hi, "+"); ok {
		v, err := p.parseNumber(length, "elements", 0, mostElems)
		*n = int32(v)
		return err
	}
	if from.Col > 0 {
		return p.errorf("found [%s], want FROM:+NUMBER after a column", t)
	}
	end, err := p.parseNumber(hi, "end of elements", int64(from.N), mostElems)
	*n = int32(end) - from.N
	return err
}

// num reads a number or a column.
func (p *parser) num(t, what string, most int64, to *Num) error {
	if c, ok := strings.CutPrefix(t, "c"); ok {
		if len(p.block.Columns) == 0 {
			return p.errorf("found column %q, but the block has no columns", t)
		}
		n, err := p.parseNumber(c, "column", 0, int64(len(p.block.Columns))-1)
		*to = Num{Col: int32(n) + 1}
		return err
	}
	n, err := p.parseNumber(t, what, 0, most)
	*to = Num{N: int32(n)}
	return err
}

// memory parts NAME[within]@peer.
func (p *parser) memory(t string, far *bool, peer *Num) (name, within string, err error) {
	name, rest, ok := strings.Cut(t, "[")
	within, at, ok2 := strings.Cut(rest, "]")
	if !ok || !ok2 {
		return "", "", p.errorf("found %q, want memory, such as in[0:8] or w0.scratch.data[0:8]@3", t)
	}
	if at == "" {
		return name, within, nil
	}
	rank, ok := strings.CutPrefix(at, "@")
	if !ok {
		return "", "", p.errorf("found %q after %s[%s], want @ and a rank, or nothing", at, name, within)
	}
	*far = true
	return name, within, p.num(rank, "rank", mostRanks-1, peer)
}

// place takes elements of memory.
func (p *parser) place(x *Place) error {
	t, err := p.next("memory")
	if err != nil {
		return err
	}
	name, within, err := p.memory(t, &x.Far, &x.Peer)
	if err != nil {
		return err
	}
	switch name {
	case "in", "out":
		if x.Buffer = In; name == "out" {
			x.Buffer = Out
		}
		if p.f.Results == 0 {
			return p.errorf("found %s, want data: results replace the contributions", name)
		}
	case "data":
		if x.Buffer = Data; p.f.Results > 0 {
			return p.errorf("found data, want in or out: results and contributions are apart")
		}
	default:
		w, k, err := p.partOf(name)
		if err != nil {
			return err
		}
		if x.Buffer, x.Part = Window+Buffer(w), k; p.parts[w].parts[k].Word != mem.NoWord {
			return p.errorf("found %s, want data: its elements are control words", name)
		}
	}
	within, rows, ok := strings.Cut(within, ";")
	if err := p.parseRange(within, &x.From, &x.N); err != nil || !ok {
		return err
	}
	if x.Rows, x.Pitch, err = p.by(rows, 2, mostElems, int64(x.N)+1); err == nil && (x.N < 1 || int64(x.Rows) > mostElems/int64(x.N)) {
		err = p.errorf("found %d rows of %d elements, want at least one element and at most %d in all", x.Rows, x.N, mostElems)
	}
	return err
}

// by reads COUNT by STEP.
func (p *parser) by(t string, least, most, leastStep int64) (n, step int32, err error) {
	f := strings.Fields(t)
	if len(f) != 3 || f[1] != "by" {
		return 0, 0, p.errorf("found %q, want NUMBER by STEP", strings.TrimSpace(t))
	}
	a, err := p.parseNumber(f[0], "number", least, most)
	if err != nil {
		return 0, 0, err
	}
	b, err := p.parseNumber(f[2], "step", leastStep, mostElems)
	return int32(a), int32(b), err
}

// windowNumber returns the number of w0.
func (p *parser) windowNumber(t string) (int16, error) {
	digits, ok := strings.CutPrefix(t, "w")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n >= len(p.parts) || strconv.Itoa(n) != digits {
		return 0, p.errorf("found %q, want a window of the header: there are %d, from w0 on", t, len(p.parts))
	}
	return int16(n), nil
}

// partOf finds a part by its name: w0.scratch.data.
func (p *parser) partOf(name string) (w, part int16, err error) {
	win, full, ok := strings.Cut(name, ".")
	if !ok {
		return 0, 0, p.errorf("found memory %q, want in, out, data, or a part of a window, such as w0.scratch.data", name)
	}
	if w, err = p.windowNumber(win); err != nil {
		return 0, 0, err
	}
	for i := range p.parts[w].parts {
		if p.parts[w].parts[i].Name == full {
			return w, int16(i), nil
		}
	}
	return 0, 0, p.errorf("found part %q, want one that the header declares for w%d", full, w)
}

// words takes control words.
func (p *parser) words(w *Words) error {
	t, err := p.next("control words")
	if err != nil {
		return err
	}
	name, within, err := p.memory(t, &w.Far, &w.Peer)
	if err != nil {
		return err
	}
	if w.Window, w.Part, err = p.partOf(name); err != nil {
		return err
	}
	if p.parts[w.Window].parts[w.Part].Word == mem.NoWord {
		return p.errorf("found %s, want control words: its elements are data", name)
	}
	if strings.Contains(within, ":") {
		n := int32(0)
		if err := p.parseRange(within, &w.First, &n); err != nil {
			return err
		}
		if n < 1 {
			return p.errorf("found no words, want at least one")
		}
		w.Extent, w.Stride = []int32{n}, []int32{1}
		return nil
	}
	first, rest, more := strings.Cut(within, ";")
	if err := p.num(first, "word", mostElems, &w.First); err != nil {
		return err
	}
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ";")
		n, step, err := p.by(one, 1, mostElems, -mostElems)
		if err != nil {
			return err
		}
		if w.Extent, w.Stride = append(w.Extent, n), append(w.Stride, step); len(w.Extent) > 5 {
			return p.errorf("found more than 5 extents of words, want at most 5")
		}
	}
	return nil
}
