package text

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// names holds the words of operations that have one word each. printer.op has the others.
var names = map[Op]string{
	Load: "load", Store: "store", Send: "send", SendRef: "send", Recv: "recv", RecvTo: "recv", RecvAsync: "recv_async", Wait: "wait",
	FMA: "fma", Clamp: "clamp", Convert: "convert", Full: "full", Reduce: "reduce", Softmax: "softmax", Transpose: "transpose", Dot: "dot",
	Put: "put", PutRef: "put", Get: "get",
	LoadReduce: "load_reduce", StoreMulticast: "store_multicast", ReduceMulticast: "reduce_multicast",
	Notify: "notify", WaitUntil: "wait_until", Fence: "fence", Quiet: "quiet", PipeBarrier: "pipe_barrier", Sync: "sync",
}

// Name returns the word of an operation. If several operations have their own words, it describes
// them all.
func (o Op) Name() string {
	switch o {
	case Binary:
		return "an operation with two operands"
	case Scale:
		return "an operation with a constant"
	case Unary:
		return "an operation with one operand"
	}
	return names[o]
}

// Write prints the file as text.
func (f *File) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, line := range f.header() {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	for _, block := range f.Blocks {
		fmt.Fprintf(b, "\n%s\n", block.title())
		for _, c := range block.columns() {
			fmt.Fprintf(b, "  %s\n", c)
		}
		for s := range f.lines(block) {
			b.WriteString("  ")
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// header returns all that stands before the blocks.
func (f *File) header() []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	add("kernbench program %d", Version)
	add("algorithm %s", f.Algorithm)
	add("collective %s", f.Collective)
	what, err := collective.Lookup(f.Collective)
	if err == nil && what.Reduces {
		add("operator %v", f.Op)
	}
	if err == nil && what.Rooted {
		add("root %d", f.Root)
	}
	add("type %v", f.Type)
	add("elements %d", f.Elems)
	if f.Results > 0 {
		add("results apart %d", f.Results)
	} else {
		add("results in place")
	}
	if f.Idempotent {
		add("idempotent")
	}
	add("world %d", f.World)
	add("slots %d of %d bytes", f.Slots, f.SlotBytes)
	add("scratch %d bytes", f.Scratch)
	for i, l := range f.Windows {
		add("window w%d %d bytes", i, l.Bytes)
		for k := range l.Parts {
			add("part w%d %s", i, partLine(&l.Parts[k]))
		}
	}
	for i, ranks := range f.Groups {
		add("group g%d %s", i, ranges(ranks))
	}
	for r := range f.Wiring {
		if line := f.wireLine(r); line != "" {
			add("wire %s", line)
		}
	}
	return all
}

func partLine(p *mem.Part) string {
	s := fmt.Sprintf("%s %s[%d]", p.FullName(), partType(p), p.Count)
	if p.Staging {
		s += " staging"
	}
	return s
}

// wireLine returns the rings that a rank sends into, or "" if there is none.
func (f *File) wireLine(rank int) string {
	if len(f.Wiring[rank].Out) == 0 {
		return ""
	}
	line := strconv.Itoa(rank)
	for _, o := range f.Wiring[rank].Out {
		r := ring{out: o.Dir, to: o.Peer, in: f.Wiring[o.Peer].In[o.PeerIn].Dir}
		line += " " + r.String()
	}
	return line
}

// title begins a block.
func (b *Block) title() string {
	s := "rank " + ranges(b.Ranks)
	if b.Number > 0 {
		s += fmt.Sprintf(" block %d", b.Number)
	}
	return s
}

// ranges returns a list of numbers with ranges lo:hi.
func ranges(all []int32) string {
	var s []string
	for lo := 0; lo < len(all); {
		hi := lo + 1
		for hi < len(all) && all[hi] == all[hi-1]+1 {
			hi++
		}
		if hi-lo > 1 {
			s = append(s, fmt.Sprintf("%d:%d", all[lo], all[hi-1]+1))
		} else {
			s = append(s, strconv.Itoa(int(all[lo])))
		}
		lo = hi
	}
	return strings.Join(s, " ")
}

// columns returns the statements that declare the columns of a block.
func (b *Block) columns() []string {
	var all []string
	for i, c := range b.Columns {
		line := fmt.Sprintf("column c%d", i)
		for _, v := range c {
			line += " " + strconv.Itoa(int(v))
		}
		all = append(all, line)
	}
	return all
}

// lines prints the statements of a block.
func (f *File) lines(b *Block) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		p := printer{scope: f.newScope()}
		for i := range b.Stmts {
			s := &b.Stmts[i]
			text := p.stmt(s)
			p.apply(s)
			if !yield(text) {
				return
			}
		}
	}
}

// Statement returns the text of a block's statement, for errors.
func (f *File) Statement(b *Block, index int) string {
	for s := range f.lines(b) {
		if index == 0 {
			return s
		}
		index--
	}
	return ""
}

// printer prints statements.
type printer struct{ *scope }

func (p printer) stmt(s *Stmt) string {
	var b strings.Builder
	if s.Dst >= 0 {
		fmt.Fprintf(&b, "t%d = ", s.Dst)
	}
	b.WriteString(p.op(s))
	for _, a := range p.args(s) {
		b.WriteByte(' ')
		b.WriteString(a)
	}
	switch t, ok := p.implied(s); {
	case s.Op == Recv || s.Op == RecvAsync || s.Op == Full || s.Op == Convert && ok && t.shape == s.Shape:
	case !ok || t != typed{s.Type, s.Shape}:
		b.WriteString(" as ")
		b.WriteString(typedText(s.Type, s.Shape))
	}
	return b.String()
}

// op returns the word that begins a statement.
func (p printer) op(s *Stmt) string {
	name := names[s.Op]
	switch {
	case s.Op == Binary || s.Op == Scale:
		return dtype.BinaryOp(s.Sub).String()
	case s.Op == Unary:
		return dtype.UnaryOp(s.Sub).String()
	case s.Op == Reduce:
		return name + " " + dtype.BinaryOp(s.Sub).String()
	case s.Op == LoadReduce || s.Op == ReduceMulticast:
		return name + " " + tl.ReduceOp(s.Sub).String()
	case s.Atom:
		return "put_combine " + tl.ReduceOp(s.Sub).String()
	case s.NBI:
		return name + "_nbi"
	case s.Span[1] > 0:
		return "wait_lines"
	case s.Lines != tl.NoLine && s.Op == WaitUntil:
		return "wait_ll"
	case s.Lines == tl.LineLL128:
		return "put_ll128"
	case s.Lines == tl.LineLL:
		return "put_ll"
	}
	return name
}

func (p printer) args(s *Stmt) []string {
	switch s.Op {
	case Load:
		return []string{p.place(&s.Mem)}
	case Store:
		return []string{p.place(&s.Mem), p.operand(s.In[0])}
	case Send:
		return append([]string{s.Dir.String(), p.operand(s.In[0])}, channels(s)...)
	case SendRef, RecvTo:
		return append([]string{s.Dir.String(), p.place(&s.Mem)}, channels(s)...)
	case Recv, RecvAsync:
		return []string{s.Dir.String(), typedText(s.Type, s.Shape)}
	case Wait:
		return []string{s.Dir.String()}
	case Binary:
		return []string{p.operand(s.In[0]), p.operand(s.In[1])}
	case Scale:
		return []string{p.operand(s.In[0]), number(s.Value[0])}
	case Unary, Transpose:
		return []string{p.operand(s.In[0])}
	case FMA:
		return []string{p.operand(s.In[0]), p.operand(s.In[1]), p.operand(s.In[2])}
	case Clamp:
		return []string{p.operand(s.In[0]), number(s.Value[0]), number(s.Value[1])}
	case Convert:
		return []string{p.operand(s.In[0]), s.Type.String()}
	case Full:
		return []string{typedText(s.Type, s.Shape), number(s.Value[0])}
	case Reduce, Softmax:
		return []string{p.operand(s.In[0]), fmt.Sprintf("over %d %d %d", s.Over[0], s.Over[1], s.Over[2])}
	case Dot:
		return []string{p.operand(s.In[0]), p.operand(s.In[1]), fmt.Sprintf("inner %d", s.Over[0])}
	}
	return p.sided(s)
}

func (p printer) sided(s *Stmt) []string {
	switch s.Op {
	case Put, PutRef:
		all := []string{p.place(&s.Mem)}
		if s.Op == Put {
			all = append(all, p.operand(s.In[0]))
		} else {
			all = append(all, p.place(&s.From))
		}
		if s.Words != nil {
			w := *s.Words
			w.Far = false // it is that of the destination
			all = append(all, "signal", p.words(&w), w.Op.String(), strconv.FormatInt(w.Value, 10))
		}
		return append(all, channels(s)...)
	case Get:
		return []string{p.place(&s.Mem), p.place(&s.From)}
	case LoadReduce, StoreMulticast, ReduceMulticast:
		return p.switched(s)
	case Notify:
		return []string{p.words(s.Words), s.Words.Op.String(), strconv.FormatInt(s.Words.Value, 10)}
	case WaitUntil:
		all := []string{p.words(s.Words), s.Words.Cmp.String(), strconv.FormatInt(s.Words.Value, 10)}
		if n := s.Span[1]; n > 0 {
			all = append(all, "lines", fmt.Sprintf("%d:%d", s.Span[0], s.Span[0]+n))
		}
		return all
	case Sync:
		return []string{fmt.Sprintf("w%d", s.Words.Window)}
	}
	return nil
}

// channels returns the channels of a message, if the statement names them.
func channels(s *Stmt) []string {
	if s.Channels == 0 {
		return nil
	}
	return []string{"channels", strconv.Itoa(int(s.Channels))}
}

func (p printer) switched(s *Stmt) []string {
	all := []string{p.place(&s.Mem)}
	switch s.Op {
	case StoreMulticast:
		all = append(all, p.operand(s.In[0]))
	case ReduceMulticast:
		all = append(all, p.place(&s.From))
	}
	switch {
	case s.Grouped && s.Group.Col > 0:
		all = append(all, "among", s.Group.String())
	case s.Grouped:
		all = append(all, "among", fmt.Sprintf("g%d", s.Group.N))
	}
	return all
}

func (p printer) operand(o Operand) string {
	switch {
	case o.Tensor == Empty:
		return "empty"
	case p.whole(o):
		return fmt.Sprintf("t%d", o.Tensor)
	}
	return fmt.Sprintf("t%d[%s]", o.Tensor, rangeText(o.From, o.N))
}

// rangeText returns a range of n elements as text.
func rangeText(from Num, n int32) string {
	if from.Col > 0 {
		return fmt.Sprintf("%v:+%d", from, n)
	}
	return fmt.Sprintf("%d:%d", from.N, from.N+n)
}

func (n Num) String() string {
	if n.Col > 0 {
		return fmt.Sprintf("c%d", n.Col-1)
	}
	return strconv.Itoa(int(n.N))
}

func (p printer) place(x *Place) string {
	var b strings.Builder
	switch x.Buffer {
	case In:
		b.WriteString("in")
	case Out:
		b.WriteString("out")
	case Data:
		b.WriteString("data")
	default:
		fmt.Fprintf(&b, "w%d.%s", x.Buffer-Window, p.f.part(x).FullName())
	}
	fmt.Fprintf(&b, "[%s", rangeText(x.From, x.N))
	if x.Rows > 0 {
		fmt.Fprintf(&b, "; %d by %d", x.Rows, x.Pitch)
	}
	b.WriteByte(']')
	if x.Far {
		fmt.Fprintf(&b, "@%v", x.Peer)
	}
	return b.String()
}

func (p printer) words(w *Words) string {
	var b strings.Builder
	fmt.Fprintf(&b, "w%d.%s[", w.Window, p.f.Windows[w.Window].Parts[w.Part].FullName())
	if len(w.Extent) == 1 && w.Stride[0] == 1 {
		b.WriteString(rangeText(w.First, w.Extent[0]))
	} else {
		fmt.Fprintf(&b, "%v", w.First)
		for i, n := range w.Extent {
			fmt.Fprintf(&b, "; %d by %d", n, w.Stride[i])
		}
	}
	b.WriteByte(']')
	if w.Far {
		fmt.Fprintf(&b, "@%v", w.Peer)
	}
	return b.String()
}

// typedText returns a type and shape: f16[4 8].
func typedText(t dtype.Type, s tl.Shape) string { return t.String() + s.String() }

// number prints a number so that it is read as the same bits.
func number(v float64) string {
	if v != v && math.Float64bits(v) != math.Float64bits(math.NaN()) {
		return fmt.Sprintf("nan(%#x)", math.Float64bits(v))
	}
	return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+"))
}
