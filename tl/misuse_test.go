package tl_test

import (
	"errors"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// A place that a kernel names far outside of a window, or of a list, must not wrap around to an
// existing one.
func TestOutOfRange(t *testing.T) {
	layout, err := mem.NewLayout(0, []mem.Buffer{{Name: "b", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, 8), mem.SignalPart("words", mem.Int32, 4),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	matrix := func(c *tl.Context, d tl.Sym) tl.Desc { return c.Desc(c.Local(d), 4, 2, 2, 2) }
	bounds := func(err error) bool { _, ok := errors.AsType[*fault.OutOfBounds](err); return ok }
	misuse := func(err error) bool { _, ok := errors.AsType[*fault.Misuse](err); return ok }
	for _, tt := range []struct {
		name string
		do   func(c *tl.Context, d tl.Sym, s tl.Signal)
		is   func(error) bool
		text string
	}{
		{"slice that overflows", func(c *tl.Context, d tl.Sym, _ tl.Signal) { c.Load(c.At(d.Slice(1<<62, 4), 0)) },
			bounds, "address at tl/misuse_test.go:"},
		{"slices that overflow together", func(c *tl.Context, d tl.Sym, _ tl.Signal) {
			for range 1 << 10 {
				d = d.Slice(1<<56, 4)
			}
			c.Load(c.Local(d))
		}, bounds, "b.data, which has 0 to 7"},
		{"there and back", func(c *tl.Context, d tl.Sym, _ tl.Signal) { c.Load(c.Local(d.Slice(1<<40, 4).Slice(4-1<<40, 4))) }, nil, ""},
		{"one word", func(c *tl.Context, _ tl.Sym, s tl.Signal) { c.WaitUntil(s.At(4), tl.GE, 0) }, bounds,
			"out of bounds: word 4 of window.b.words, which has 0 to 3"},
		{"words that overflow", func(c *tl.Context, _ tl.Sym,
			s tl.Signal) {
			c.WaitUntil(s.At(1<<62).At(1<<62).At(1<<62), tl.GE, 0)
		}, bounds, "out of bounds"},
		{"stride that overflows", func(c *tl.Context, _ tl.Sym,
			s tl.Signal) {
			c.WaitUntil(s.Grid([]int{2}, []int{1 << 40}), tl.GE, 0)
		}, misuse, "words and strides are at most"},
		{"extent that overflows", func(c *tl.Context, _ tl.Sym,
			s tl.Signal) {
			c.WaitUntil(s.Grid([]int{1<<32 + 1}, []int{0}), tl.GE, 0)
		}, misuse, "words and strides are at most 16777216"},
		{"extents that overflow together", func(c *tl.Context, _ tl.Sym, s tl.Signal) {
			c.WaitUntil(s.Grid([]int{1 << 20, 1 << 20, 1 << 20}, []int{0, 0, 0}), tl.GE, 0)
		}, misuse, "words and strides are at most 16777216"},
		{"negative channels", func(c *tl.Context, _ tl.Sym, _ tl.Signal) { c.UseChannels(-1) }, misuse, "a message has 0 to 1024"},
		{"too many channels", func(c *tl.Context, _ tl.Sym, _ tl.Signal) { c.UseChannels(tl.MostChannels + 1) }, misuse,
			"use_channels"},
		{"most channels", func(c *tl.Context, _ tl.Sym, _ tl.Signal) { c.UseChannels(tl.MostChannels) }, nil, ""},
		{"signal operation", func(c *tl.Context, _ tl.Sym, s tl.Signal) { c.Notify(s.At(0), 0, 9, 1) }, misuse,
			"SignalOp(9): one of SignalSet, SignalAdd"},
		{"signal operation of a put", func(c *tl.Context, d tl.Sym, s tl.Signal) {
			c.PutTensorSignal(d.Slice(0, 1), 0, c.Full(tl.Dims(1), dtype.F32, 1), s.At(0), 9, 1)
		}, misuse, "SignalOp(9)"},
		{"operation of a put", func(c *tl.Context, d tl.Sym, _ tl.Signal) {
			c.PutTensorCombine(d.Slice(0, 1), 0, c.Full(tl.Dims(1), dtype.F32, 1), 9)
		}, misuse, "reduceop(9): one of sum, prod, max, min, avg"},
		{"operation of combine", func(c *tl.Context, _ tl.Sym, _ tl.Signal) {
			one := c.Full(tl.Dims(1), dtype.F32, 1)
			c.Combine(9, one, one)
		}, misuse, "reduceop(9)"},
		{"rows before the first", func(c *tl.Context, d tl.Sym,
			_ tl.Signal) {
			c.LoadTile(matrix(c, d).Sub(-2, 4), 2, 0)
		}, misuse, "Sub takes rows of the matrix"},
		{"rows behind the last", func(c *tl.Context, d tl.Sym,
			_ tl.Signal) {
			c.LoadTile(matrix(c, d).Sub(5, 1), 0, 0)
		}, misuse, "Sub takes rows of the matrix"},
		{"rows as far as there are", func(c *tl.Context, d tl.Sym, _ tl.Signal) { c.LoadTile(matrix(c, d).Sub(2, 9), 0, 0) }, nil, ""},
		{"matrix that overflows", func(c *tl.Context, d tl.Sym,
			_ tl.Signal) {
			c.Desc(c.Local(d.Slice(0, 0)), 1<<32, 1<<32, 1, 1)
		}, misuse, "the reference has 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
				tt.do(c, c.Data(a.Window(0), "b.data"), c.Signals(a.Window(0), "b.words"))
			}, kerneltest.Config{World: 1, Layout: layout})
			switch {
			case tt.is == nil && err != nil:
				t.Errorf("got %v, want no error", err)
			case tt.is != nil && (err == nil || !tt.is(err) || !strings.Contains(err.Error(), tt.text)):
				t.Errorf("got %v, want one that contains %q", err, tt.text)
			}
		})
	}
}

// A kernel may read an argument that the launch does not have. The error then names the line, the
// arguments of the launch, and where they are set.
func TestMissingArgument(t *testing.T) {
	for name, k := range map[string]tl.Kernel{
		"Window(0): the launch has 0 of these": func(_ *tl.Context, a tl.Args) { a.Window(0) },
		"Tensor(7): the launch has ":           func(_ *tl.Context, a tl.Args) { a.Tensor(7) },
		"Int(-1): the launch has 0 of these":   func(_ *tl.Context, a tl.Args) { a.Int(-1) },
		"Slice(3, 2) of a reference to 4":      func(_ *tl.Context, a tl.Args) { a.Shard(0).Slice(3, 2) },
	} {
		_, err := kerneltest.Try(k, kerneltest.Config{Inputs: [][]float64{{1, 2, 3, 4}}})
		p, ok := errors.AsType[*fault.Panic](err)
		if !ok || !strings.HasPrefix(err.Error(), "rank 0 at tl/misuse_test.go:") || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want one of this file that contains %q", err, name)
		} else if p.Stack == "" {
			t.Errorf("%s: without its stack", name)
		}
	}
}

// Each mistake of a turn is named.
func TestTurnMisuse(t *testing.T) {
	begin := func(c *tl.Context, turn *tl.Turn) { tl.DriverOf(c).BeginTurn(turn) }
	for _, tt := range []struct {
		name string
		do   func(c *tl.Context)
		want string
	}{
		{"before the last one ended", func(c *tl.Context) {
			begin(c, &tl.Turn{ID: 3, World: 1})
			begin(c, &tl.Turn{ID: 4, World: 1})
		}, "turn 3 has not ended: end it first"},
		{"none", func(c *tl.Context) { begin(c, nil) }, "there is no turn"},
		{"number", func(c *tl.Context) { begin(c, &tl.Turn{World: 1}) }, "turn number 0: a turn has a number of at least 1"},
		{"operation", func(c *tl.Context) { begin(c, &tl.Turn{ID: 1, World: 1, Op: tl.Avg + 1}) }, "is no reduction"},
		{"end", func(c *tl.Context) { tl.DriverOf(c).EndTurn() }, "no turn has begun"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := kerneltest.Try(func(c *tl.Context, _ tl.Args) { tt.do(c) }, kerneltest.Config{World: 1, Collective: kerneltest.None})
			if _, misuse := errors.AsType[*fault.Misuse](err); !misuse || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
