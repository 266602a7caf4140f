package tl_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

func TestDirNames(t *testing.T) {
	user := tl.RegisterDir("api_test.E")
	if again := tl.RegisterDir("api_test.E"); again != user {
		t.Errorf("registered twice: %v and %v", user, again)
	}
	if tl.RegisterDir("E") != tl.East {
		t.Error("a built-in name got a direction of its own")
	}
	for _, d := range []tl.Dir{tl.AnyDir, tl.East, tl.West, tl.North, tl.South, tl.Parent, tl.Child0, tl.Child1,
		tl.Dim(0), tl.Dim(15), user} {
		if got, err := tl.ParseDir(d.String()); got != d || err != nil {
			t.Errorf("ParseDir(%v) = %v, %v", d, got, err)
		}
	}
	for _, s := range []string{"", "e", "dim16", "dir(9)", "api_test.W"} {
		if _, err := tl.ParseDir(s); err == nil || !strings.Contains(err.Error(), "dim0..dim15 ") ||
			!strings.Contains(err.Error(), " api_test.E") {
			t.Errorf("ParseDir(%q): %v, want an error that lists the directions", s, err)
		}
	}
	if got := tl.Dir(9).String(); got != "dir(9)" {
		t.Errorf("Dir(9) = %s", got)
	}
}

func TestOpposite(t *testing.T) {
	cubeE, cubeW := tl.RegisterDir("cube.E"), tl.RegisterDir("cube.W")
	alone, plain := tl.RegisterDir("alone.N"), tl.RegisterDir("forward")
	odd := tl.RegisterDir("cube.parent")
	tests := []struct {
		d, want tl.Dir
		ok      bool
	}{
		{tl.East, tl.West, true}, {tl.West, tl.East, true}, {tl.North, tl.South, true}, {tl.South, tl.North, true},
		{tl.Child0, tl.Parent, true}, {tl.Child1, tl.Parent, true}, {tl.Parent, 0, false}, {tl.AnyDir, 0, false},
		{tl.Dim(3), tl.Dim(3), true}, {cubeE, cubeW, true}, {cubeW, cubeE, true},
		{alone, 0, false}, {plain, 0, false}, {odd, 0, false},
	}
	for _, tt := range tests {
		if got, ok := tt.d.Opposite(); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%v faces %v, %v; want %v, %v", tt.d, got, ok, tt.want, tt.ok)
		}
	}
}

func TestReduceOps(t *testing.T) {
	for _, o := range tl.ReduceOps() {
		if got, err := tl.ParseReduceOp(o.String()); got != o || err != nil {
			t.Errorf("ParseReduceOp(%v) = %v, %v", o, got, err)
		}
	}
	if _, err := tl.ParseReduceOp("mean"); err == nil || !strings.Contains(err.Error(), "sum, prod, max, min, avg") {
		t.Errorf("ParseReduceOp(mean): %v", err)
	}
}

func TestShapes(t *testing.T) {
	s := tl.Dims(2, 3, 4)
	if s.Len() != 3 || s.Elems() != 24 || s.Dim(1) != 3 || s.Dim(-1) != 4 || s.String() != "[2 3 4]" {
		t.Errorf("%v: %d dimensions, %d elements", s, s.Len(), s.Elems())
	}
	if s != tl.Dims(2, 3, 4) || tl.Dims(2, 3) == tl.Dims(3, 2) || tl.Dims(6) == tl.Dims(2, 3) || tl.Dims(1) == tl.Dims() {
		t.Error("shapes compare wrongly")
	}
	if tl.Dims().Elems() != 1 || tl.Dims(5, 0).Elems() != 0 {
		t.Error("a scalar has one element, an empty shape none")
	}
	panics := map[string]func(){
		"five dimensions": func() { tl.Dims(1, 1, 1, 1, 1) },
		"negative":        func() { tl.Dims(-1) },
		"too long":        func() { tl.Dims(1 << 31) },
		"slice of a ref":  func() { tl.Ref{Shape: tl.Dims(4), DType: dtype.F16}.Slice(2, 3) },
		"dim":             func() { tl.Dim(16) },
	}
	for name, f := range panics {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestRefs(t *testing.T) {
	r := tl.Ref{Addr: mem.At(mem.HBM, 1, 64), Shape: tl.Dims(5, 2), DType: dtype.F16}
	if r.Len() != 10 || r.Bytes() != 20 {
		t.Errorf("%d elements, %d bytes", r.Len(), r.Bytes())
	}
	if got, want := r.Slice(3, 4), (tl.Ref{Addr: mem.At(mem.HBM, 1, 70), Shape: tl.Dims(4), DType: dtype.F16}); got != want {
		t.Errorf("Slice = %v, want %v", got, want)
	}
	if got, want := r.Chunk(4, 3), r.Slice(8, 2); got != want {
		t.Errorf("Chunk = %v, want %v", got, want)
	}
}

// A slice that is too long is refused also where its end does not fit in an int.
func TestSlicesBeyondInt(t *testing.T) {
	for name, f := range map[string]func(){
		"tensor": func() { tl.Tensor{}.Slice(math.MaxInt, 1) },
		"ref":    func() { tl.Ref{Shape: tl.Dims(4), DType: dtype.F32}.Slice(1, math.MaxInt) },
	} {
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "Slice(") {
					t.Errorf("%s: recovered %v", name, v)
				}
			}()
			f()
		}()
	}
}

// Packages of one program may register a name from several goroutines at once.
func TestRegisterDirOnce(t *testing.T) {
	got := make(chan tl.Dir)
	for range 64 {
		go func() { got <- tl.RegisterDir("at.once.E") }()
	}
	first := <-got
	for range 63 {
		if d := <-got; d != first {
			t.Errorf("one name, two directions: %d and %d", d, first)
		}
	}
}

func TestCDiv(t *testing.T) {
	for _, tt := range [][3]int{{0, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}} {
		if got := tl.CDiv(tt[0], tt[1]); got != tt[2] {
			t.Errorf("CDiv(%d, %d) = %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
}

// A call that is wrong in any state of the machine is a Misuse with the reason.
func TestMisuse(t *testing.T) {
	kernel := func(f func(c *tl.Context, x tl.Tensor, mine tl.Ref)) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			if mine := a.Shard(c.Rank()); c.Rank() == 0 {
				f(c, c.Load(mine), mine)
			}
		}
	}
	var foreign tl.Tensor // the ninth that another launch made
	kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
		for range 9 {
			foreign = c.Load(a.Shard(0))
		}
	}, kerneltest.Config{Inputs: [][]float64{{1}}})
	tests := []struct {
		name string
		f    func(c *tl.Context, x tl.Tensor, mine tl.Ref)
		text string
	}{
		{"axis", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.ProgramID(2) }, "axis 2: there are axes 0 (PE in cube) and 1 (cube)"},
		{"zero tensor", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Add(x, tl.Tensor{}) }, "zero Tensor"},
		{"types", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Add(x, c.Convert(x, dtype.F64)) }, "operands are f32 and f64"},
		{"sizes", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Mul(x, x.Slice(0, 2)) }, "operands have shapes [4] and [2]"},
		{"fma", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.FMA(x, x, x.Slice(0, 1)) }, "f32[4], f32[4] and f32[1]"},
		{"clamp", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Clamp(x, 2, 1) }, "must not exceed"},
		{"reduce axis", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Sum(x, 1) }, "axis 1 of a tensor of shape [4]"},
		{"reduce nothing", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Max(x.Slice(0, 0), 0) }, "axis 0 of [0] is empty"},
		{"softmax of integers", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Softmax(c.Convert(x, dtype.I8), 0) }, "floating type"},
		{"transpose", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Transpose(x) }, "needs a matrix"},
		{"dot", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Dot(x.Reshape(2, 2), x.Reshape(1, 4)) },
			"cannot multiply shapes [2 2] and [1 4]"},
		{"store", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Store(mine, x.Slice(0, 3)) },
			"the destination is f32[4], the tensor f32[3]"},
		{"ref", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Ref(mine.Addr, tl.Dims(1), dtype.Invalid) }, "no element type"},
		{"recv", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Recv(tl.West, tl.Dims(1), dtype.Invalid) }, "no element type"},
		{"recv_async", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.RecvAsync(tl.West, x.Shape(), dtype.Invalid) }, "no element type"},
		{"zero ref", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Load(tl.Ref{}) }, "no element type"},
		{"send of the zero ref", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.SendRef(tl.East, tl.Ref{}) }, "no element type"},
		{"zero composite", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Composite(tl.Composite{}) }, "no element type"},
		{"full", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Full(tl.Dims(1), dtype.Type(200), 1) }, "no element type"},
		{"convert", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Convert(x, dtype.Invalid) }, "no element type"},
		{"send of too much", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.SendRef(tl.East, c.Ref(mine.Addr, tl.Dims(1<<16, 1<<16), dtype.I8))
		}, "at most 2147483647 elements"},
		{"future of any", func(c *tl.Context, x tl.Tensor,
			mine tl.Ref) {
			c.RecvAsync(tl.AnyDir, x.Shape(), x.DType())
		}, "name a direction"},
		{"zero future", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Wait(tl.Future{}) }, "the zero Future"},
		{"futures out of order", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.RecvAsync(tl.West, x.Shape(), x.DType())
			c.Wait(c.RecvAsync(tl.West, x.Shape(), x.DType()))
		}, "comes after 1 earlier future(s) of direction W"},
		{"recv past a future", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.RecvAsync(tl.West, x.Shape(), x.DType())
			c.RecvAny(x.Shape(), x.DType())
		}, "direction W has 1 announced receive(s)"},
		{"zero handle", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Await(tl.Handle{}) }, "the zero Handle"},
		{"handle twice", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			h := c.Composite(tl.Composite{A: mine, Out: mine})
			c.Await(h)
			c.Await(h)
		}, "was waited for before"},
		{"composite output", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.Composite(tl.Composite{A: mine, Out: mine.Slice(0, 2)})
		}, "the output is f32[2], the result f32[1 4]"},
		{"composite of two kinds of A", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.Composite(tl.Composite{A: mine, LoadedA: x, B: mine, Out: mine})
		}, "both A and LoadedA are given"},
		{"composite of a tensor alone", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.Composite(tl.Composite{LoadedA: x, Out: mine})
		}, "without B its operand lies in memory"},
		{"composite of other shapes", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.Composite(tl.Composite{LoadedA: x, LoadedB: x, Out: mine})
		}, "cannot multiply shapes [4] and [4]"},
		{"bias per K tile", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.Composite(tl.Composite{A: mine, Out: mine, Epilogue: []tl.Epilogue{{Op: tl.EpilogueReLU, Scope: tl.PerKTile}}})
		}, "only a scale can run after every K tile"},
		{"bias of another size", func(c *tl.Context, x tl.Tensor, mine tl.Ref) {
			c.Composite(tl.Composite{A: mine, Out: mine, Epilogue: []tl.Epilogue{{Op: tl.EpilogueBias, Bias: x.Slice(0, 2)}}})
		}, "the bias is f32[2], a row has f32[4]"},
		{"tensor of another rank", func(c *tl.Context, x tl.Tensor, mine tl.Ref) { c.Neg(foreign) }, "another rank or launch"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := kerneltest.Try(kernel(tt.f), kerneltest.Config{Inputs: [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}}})
			var f *fault.Misuse
			if !errors.As(err, &f) || !strings.Contains(f.Reason, tt.text) {
				t.Fatalf("%v, want a misuse: %s", err, tt.text)
			}
			if f.Rank != 0 || !strings.HasPrefix(f.Line, "tl/api_test.go:") {
				t.Errorf("place %v", f.Place)
			}
		})
	}
}

func TestBadAddresses(t *testing.T) {
	at := func(c *tl.Context, a mem.Addr, n int) tl.Ref { return c.Ref(a, tl.Dims(n), dtype.F32) }
	tests := []struct {
		name string
		f    func(c *tl.Context, mine tl.Ref)
		text string
	}{
		{"unmapped", func(c *tl.Context, mine tl.Ref) { c.Load(at(c, 4096, 1)) },
			"bad address va:0x1000, 4 bytes: nothing is mapped there for this PE"},
		{"negative unit", func(c *tl.Context, mine tl.Ref) { c.Load(at(c, mem.At(mem.HBM, -1, 0), 1)) }, "nothing is mapped there"},
		{"unaligned", func(c *tl.Context, mine tl.Ref) { c.Load(at(c, mine.Addr+2, 1)) }, "multiples of 4 bytes"},
		{"beyond the memory", func(c *tl.Context, mine tl.Ref) { c.Load(at(c, mem.At(mem.HBM, 0, mem.MaxOffset-3), 2)) }, "beyond the end"},
	}
	for _, tt := range tests {
		_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) { tt.f(c, a.Shard(0)) }, kerneltest.Config{Inputs: [][]float64{{1, 2}}})
		var f *fault.BadAddress
		if !errors.As(err, &f) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// Arithmetic means what its name says, on every executor: here the mock.
func TestArithmetic(t *testing.T) {
	in := []float64{1, 4, 9, -2}
	tests := []struct {
		name string
		f    func(c *tl.Context, x tl.Tensor) tl.Tensor
		want []float64
	}{
		{"add", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Add(x, x) }, []float64{2, 8, 18, -4}},
		{"sub a scalar", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Sub(x, x.Slice(1, 1)) }, []float64{-3, 0, 5, -6}},
		{"scalar div", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Div(x.Slice(1, 1), x) },
			[]float64{4, 1, float64(float32(4. / 9)), -2}},
		{"mul", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Mul(x, x) }, []float64{1, 16, 81, 4}},
		{"maximum", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Maximum(x, c.Neg(x)) }, []float64{1, 4, 9, 2}},
		{"minimum", func(c *tl.Context, x tl.Tensor) tl.Tensor {
			return c.Minimum(x,
				c.Full(x.Shape(), x.DType(), 3))
		}, []float64{1, 3, 3, -2}},
		{"fma", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.FMA(x, x, x) }, []float64{2, 20, 90, 2}},
		{"clamp", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Clamp(x, 0, 5) }, []float64{1, 4, 5, 0}},
		{"sqrt of abs", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Sqrt(c.Abs(x)) },
			[]float64{1, 2, 3, float64(float32(1.4142135))}},
		{"exp and log", func(c *tl.Context, x tl.Tensor) tl.Tensor {
			return c.Log(c.Exp(c.Full(x.Shape(), x.DType(),
				0)))
		}, []float64{0, 0, 0, 0}},
		{"sum of rows", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Sum(x.Reshape(2, 2), 1) }, []float64{5, 7, 9, -2}},
		{"max of columns", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Max(x.Reshape(2, 2), -2) }, []float64{9, 4, 9, -2}},
		{"softmax", func(c *tl.Context, x tl.Tensor) tl.Tensor {
			return c.Softmax(c.Mul(x, c.Full(tl.Dims(1), x.DType(), 0)), 0)
		}, []float64{.25, .25, .25, .25}},
		{"transpose", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Transpose(x.Reshape(2, 2)) }, []float64{1, 9, 4, -2}},
		{"dot", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Dot(x.Reshape(2, 2), x.Reshape(2, 2)) }, []float64{37, -4, -9, 40}},
		{"convert", func(c *tl.Context, x tl.Tensor) tl.Tensor {
			return c.Convert(c.Convert(c.Scale(dtype.Div, x, 2), dtype.I32), dtype.F32)
		}, []float64{0, 2, 4, -1}},
		{"finish", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Finish(tl.Avg, x, 4) }, []float64{.25, 1, 2.25, -.5}},
		{"finish of one", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Finish(tl.Avg, x, 1) }, in},
		{"combine", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Combine(tl.Prod, x, x) }, []float64{1, 16, 81, 4}},
		{"empty", func(c *tl.Context, x tl.Tensor) tl.Tensor { return c.Add(x.Slice(2, 0), x.Slice(0, 0)) }, in},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
				y := tt.f(c, c.Load(a.Shard(0)))
				c.Store(a.Shard(0).Slice(0, y.Len()), y)
			}, kerneltest.Config{Inputs: [][]float64{in}})
			if !reflect.DeepEqual(got[0], tt.want) {
				t.Errorf("%v, want %v", got[0], tt.want)
			}
		})
	}
}

// Copy and Neighbor, on a rim.
func TestNeighbor(t *testing.T) {
	got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
		east, ok := c.Neighbor(tl.East)
		if !ok {
			east = -1
		}
		c.Store(a.Shard(c.Rank()).Slice(1, 1), c.Full(tl.Dims(1), a.DType, float64(east)))
		c.Copy(a.Shard(c.Rank()).Slice(0, 1), a.Shard(c.Rank()).Slice(1, 1))
	}, kerneltest.Config{Inputs: [][]float64{{9, 9}, {9, 9}, {9, 9}}, Topology: "mesh_2d", W: 3, H: 1})
	if want := [][]float64{{1, 1}, {2, 2}, {-1, -1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
