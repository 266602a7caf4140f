package oplog_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a log with a context, so that tests can make the calls of a kernel.
type bench struct {
	*oplog.Log
	c      *tl.Context
	origin oplog.Origin
	addrs  *mem.Map
}

func newBench(t interface {
	Fatal(...any)
	Cleanup(func())
}, o oplog.Options) *bench {
	b := &bench{Log: oplog.New(o), origin: oplog.Origin{Rank: 3, PE: 7, Line: "lib/kernel.go:5"}, addrs: &mem.Map{}}
	t.Cleanup(b.Close)
	b.c = tl.NewContext(tl.Setup{
		Core: b, World: 1, Wiring: &tl.Wiring{}, Ring: &tl.Ring{}, Addrs: b.addrs, Scratch: 1 << 20,
	})
	return b
}

// Do is an executor without rings.
func (b *bench) Do(in *tl.Instr) {
	o := b.origin
	switch in.Op {
	case tl.OpLoad:
		cell := tl.DriverOf(b.c).Cell(in.Dst)
		if in.Piece == 0 {
			cell.Value = b.NewValue()
		}
		b.Load(o, cell.Value, int(in.DstOff), in.N, in.Shape.Elems(), in.Type, in.Addr)
	case tl.OpStore:
		cell := tl.DriverOf(b.c).Cell(in.A)
		b.Store(o, in.Addr, cell.Value, cell.Off+in.AOff, in.N, in.Type)
	case tl.OpMath, tl.OpGemm:
		v := b.Math(o, in, b.c)
		tl.DriverOf(b.c).Cell(in.Dst).Value = v
	case tl.OpDrop:
		b.Release(tl.DriverOf(b.c).Cell(in.A).Value)
	}
}

func at(i int) mem.Addr { return mem.At(mem.HBM, i, 0) }

func (b *bench) ref(i, n int, t dtype.Type) tl.Ref { return b.c.Ref(at(i), tl.Dims(n), t) }

// put maps memory i with values.
func (b *bench) put(t interface{ Fatal(...any) }, i int, typ dtype.Type, values ...float64) tl.Ref {
	data := make([]byte, len(values)*typ.Size())
	for k, v := range values {
		dtype.Set(typ, data, k, v)
	}
	if err := errors.Join(b.Map(at(i), typ, len(values)), b.Write(at(i), typ, data)); err != nil {
		t.Fatal(err)
	}
	return b.ref(i, len(values), typ)
}

func (b *bench) get(t interface{ Fatal(...any) }, r tl.Ref) []float64 {
	data, err := b.Read(r.Addr, r.DType, r.Len())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, r.Len())
	for i := range out {
		out[i] = dtype.At(r.DType, data, i)
	}
	return out
}

// both runs a test on a log that replays in place and on one that replays in parallel.
func both(t *testing.T, o oplog.Options, f func(t *testing.T, b *bench)) {
	for _, inline := range []bool{true, false} {
		t.Run(fmt.Sprintf("inline=%v", inline), func(t *testing.T) {
			o.Inline = inline
			f(t, newBench(t, o))
		})
	}
}

func TestValuesFollowTheLog(t *testing.T) {
	both(t, oplog.Options{}, func(t *testing.T, b *bench) {
		x := b.put(t, 0, dtype.F32, 1, 2, 3, 4)
		c := b.c
		before := c.Load(x)
		c.Store(x, c.Scale(dtype.Mul, before, 10)) // what was loaded stays as it was
		c.Store(x.Slice(0, 2), before.Slice(2, 2))
		if got, want := b.get(t, x), []float64{3, 4, 30, 40}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		// More than a segment of records.
		acc := c.Load(x)
		for range 3000 {
			next := c.Add(acc, before)
			c.Free(acc)
			acc = next
		}
		c.Store(x, acc)
		if got, want := b.get(t, x), []float64{3003, 6004, 9030, 12040}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestPartsAndCasts(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	x := b.put(t, 0, dtype.F32, 1, 2, 3, 4)
	o := oplog.Origin{}
	dst := b.NewValue()
	b.Load(o, dst, 2, 2, 4, dtype.F32, x.Addr)
	b.Load(o, dst, 0, 2, 4, dtype.F32, x.Addr+8)
	b.Store(o, x.Addr, dst, 0, 4, dtype.F32)
	if got, want := b.get(t, x), []float64{3, 4, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("parts: %v, want %v", got, want)
	}
	bits := b.Cast(o, dst, 1, dtype.F32, 2, dtype.I32)
	y := b.put(t, 1, dtype.I32, 0, 0)
	b.Store(o, y.Addr, bits, 0, 2, dtype.I32)
	if got, want := b.get(t, y), []float64{0x40800000, 0x3f800000}; !slices.Equal(got, want) {
		t.Errorf("cast: %v, want %v", got, want)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		f    func(t *testing.T, b *bench) error
		want string
	}{
		{"kernel reads what was never written", func(t *testing.T, b *bench) error {
			if err := b.Map(at(1), dtype.F32, 4); err != nil {
				return err
			}
			x := b.put(t, 0, dtype.F32, 1, 2)
			b.c.Store(b.ref(1, 2, dtype.F32), b.c.Load(x))
			b.c.Load(b.ref(1, 4, dtype.F32))
			return b.Flush()
		}, "rank 3 load at lib/kernel.go:5: reads hbm[1]:0x0: element 2 of the access was never written"},
		{"kernel reads named memory that was never written", func(t *testing.T, b *bench) error {
			b.Names(func(a mem.Addr) string { return fmt.Sprintf("x[%d]", a.Unit()) })
			if err := b.Map(at(1), dtype.F32, 4); err != nil {
				return err
			}
			b.c.Load(b.ref(1, 4, dtype.F32))
			return b.Flush()
		}, "rank 3 load at lib/kernel.go:5: reads x[1] (hbm[1]:0x0): element 0 of the access was never written"},
		{"host reads what was never written", func(t *testing.T, b *bench) error {
			if err := b.Map(at(1), dtype.F32, 4); err != nil {
				return err
			}
			_, err := b.Read(at(1), dtype.F32, 4)
			return err
		}, "host read: reads hbm[1]:0x0: element 0"},
		{"label of what was never written", func(t *testing.T, b *bench) error {
			if err := b.Map(at(1), dtype.F32, 4); err != nil {
				return err
			}
			return b.Label(2, 0, at(1), dtype.F32, 4)
		}, "rank 2 contribution: reads hbm[1]:0x0"},
		{"store beyond", func(t *testing.T, b *bench) error {
			x := b.put(t, 0, dtype.F32, 1, 2)
			b.c.Store(b.c.Ref(x.Addr+4, tl.Dims(2), dtype.F32), b.c.Load(x))
			return b.Flush()
		}, "rank 3 store at lib/kernel.go:5: bad address hbm[0]:0x4, 8 bytes: only 4 bytes are mapped from there on"},
		{"load of nothing", func(t *testing.T, b *bench) error {
			b.c.Load(b.ref(5, 1, dtype.F32))
			return b.Flush()
		}, "bad address hbm[5]:0x0, 4 bytes: nothing is mapped there"},
		{"elements of another size", func(t *testing.T, b *bench) error {
			x := b.put(t, 0, dtype.F32, 1, 2)
			b.c.Load(b.c.Ref(x.Addr, tl.Dims(4), dtype.F16))
			return b.Flush()
		}, "holds f32: access as f16 would split elements"},
		{"mapped twice", func(t *testing.T, b *bench) error {
			b.put(t, 0, dtype.F32, 1, 2)
			return b.Map(at(0)+4, dtype.F32, 1)
		}, "in use from hbm[0]:0x0 on"},
		{"runs into another", func(t *testing.T, b *bench) error {
			if err := b.Map(at(0)+8, dtype.F32, 1); err != nil {
				return err
			}
			return b.Map(at(0), dtype.F32, 3)
		}, "12 bytes at hbm[0]:0x0 overlap memory in use from hbm[0]:0x8 on"},
		{"unmapped", func(t *testing.T, b *bench) error {
			b.put(t, 0, dtype.F32, 1, 2)
			if err := b.Unmap(at(0)); err != nil {
				return err
			}
			_, err := b.Read(at(0), dtype.F32, 1)
			return err
		}, "1 elements of f32 at hbm[0]:0x0: nothing is mapped there"},
		{"unmapped twice", func(t *testing.T, b *bench) error { return b.Unmap(at(0)) }, "no memory was mapped at hbm[0]:0x0"},
		{"host writes beyond", func(t *testing.T, b *bench) error {
			b.put(t, 0, dtype.F32, 1, 2)
			return b.Write(at(0), dtype.F32, make([]byte, 12))
		}, "only 8 bytes are mapped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, oplog.Options{}, func(t *testing.T, b *bench) {
				if err := tt.f(t, b); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v\nwant %s", err, tt.want)
				}
			})
		})
	}
}

// The first fault remains, whatever follows; what was recorded after it changes nothing.
func TestFirstFaultStays(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	x := b.put(t, 0, dtype.F32, 1, 2)
	b.c.Load(b.ref(8, 1, dtype.F32))
	b.c.Store(x, b.c.Full(tl.Dims(2), dtype.F32, 9))
	b.c.Load(b.ref(9, 1, dtype.F32))
	var f *fault.BadAddress
	for range 2 {
		if err := b.Flush(); !errors.As(err, &f) || f.Addr != "hbm[8]:0x0" {
			t.Errorf("%v, want that of hbm[8]", err)
		}
	}
}

// In explain mode the first operation that makes an infinity of finite operands is named.
func TestOverflow(t *testing.T) {
	for _, explain := range []bool{true, false} {
		b := newBench(t, oplog.Options{Inline: true, Explain: explain})
		x := b.put(t, 0, dtype.F16, 1, 60000, 3)
		b.put(t, 1, dtype.F16, 1, math.Inf(1), 3)
		y := b.c.Load(b.ref(1, 3, dtype.F16))
		b.c.Add(y, y)           // was infinite before
		sum := b.c.Load(x)      //
		sum = b.c.Add(sum, sum) // 120000 is no f16
		b.c.Add(sum, sum)
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		want := "rank 3 add at lib/kernel.go:5 makes +Inf of 60000 and 60000 in f16, element 1"
		if !explain {
			want = ""
		}
		if got := b.Overflow(0); got != want {
			t.Errorf("explain %v: %q, want %q", explain, got, want)
		}
	}
}

// The element that overflows is named with its contributions, whose count sticks.
func TestOverflowOfContributions(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true, Explain: true})
	x := b.put(t, 0, dtype.BF16, 1, 2, 0x1p90)
	b.own(t, 0, x)
	b.Begin(tl.Sum, 2)
	sum := b.c.Load(x)
	for range 40 {
		sum = b.c.Add(sum, sum)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "makes +Inf of 1.70141183e+38 and 1.70141183e+38 in bf16, element 2, the partial result of at least 2147483647 contributions"
	if got := b.Overflow(0); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.Begin(tl.Sum, 2)
	if err := b.Flush(); err != nil || b.Overflow(0) != "" {
		t.Errorf("the next collective has that of the one before: %q, %v", b.Overflow(0), err)
	}
}

// Names of values are used again once their last holder has let go, and never before.
func TestValuesAreRecycled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t, oplog.Options{Inline: true})
		x := b.put(t, 0, dtype.I32, 0)
		refs := map[tl.Value]int{}
		holds := map[tl.Value]float64{}
		var alive []tl.Value
		next := 0.
		most := 0
		t.Repeat(map[string]func(*rapid.T){
			"new": func(t *rapid.T) {
				next++
				b.Write(x.Addr, x.DType, []byte{byte(next), byte(int(next) >> 8), 0, 0})
				v := b.NewValue()
				if refs[v] > 0 {
					t.Fatalf("value %d is alive and given out again", v)
				}
				b.Load(oplog.Origin{}, v, 0, 1, 1, dtype.I32, x.Addr)
				refs[v], holds[v] = 1, next
				alive = append(alive, v)
				most = max(most, len(alive))
				if int(v) > most {
					t.Fatalf("value %d, though never more than %d were alive", v, most)
				}
			},
			"retain": func(t *rapid.T) {
				if len(alive) > 0 {
					v := rapid.SampledFrom(alive).Draw(t, "v")
					refs[v]++
					b.Retain(v)
				}
			},
			"release": func(t *rapid.T) {
				if len(alive) == 0 {
					return
				}
				v := rapid.SampledFrom(alive).Draw(t, "v")
				b.Release(v)
				if refs[v]--; refs[v] == 0 {
					alive = slices.DeleteFunc(alive, func(w tl.Value) bool { return w == v })
				}
			},
			"": func(t *rapid.T) {
				for _, v := range alive {
					b.Store(oplog.Origin{}, x.Addr, v, 0, 1, dtype.I32)
					if got := b.get(t, x); got[0] != holds[v] {
						t.Fatalf("value %d holds %v, want %v", v, got[0], holds[v])
					}
				}
			},
		})
	})
	b := oplog.New(oplog.Options{Inline: true})
	defer b.Close()
	b.Retain(0)
	b.Release(0) // no value: nothing to let go
}

// A composite, by its parts.
func TestPipe(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	x, y := b.put(t, 0, dtype.F32, 1, 2, 3, 4), b.put(t, 1, dtype.F32, 0, 1, 1, 0)
	bias := b.c.Load(b.put(t, 2, dtype.F32, -9, 1))
	out := b.put(t, 3, dtype.F32, 0, 0, 0, 0)
	v := b.Composite(oplog.Origin{}, &tl.Instr{A: tl.None, B: tl.None, Pipe: &tl.Pipe{
		Gemm: true, M: 2, K: 2, N: 2, Type: dtype.F32, A: x, B: y,
		Epilogue: []tl.Epilogue{{Op: tl.EpilogueScale, Factor: 2}, {Op: tl.EpilogueBias, Bias: bias}, {Op: tl.EpilogueReLU}},
		BiasCell: []int32{tl.None, 0, tl.None},
	}}, b.c)
	b.Store(oplog.Origin{}, out.Addr, v, 0, 4, dtype.F32)
	b.Release(v)
	// A·B turns columns: [2 1; 4 3], doubled [4 2; 8 6], plus [-9 1]: [-5 3; -1 7], cut off.
	if got, want := b.get(t, out), []float64{0, 3, 0, 7}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// BenchmarkAdd measures recording and replaying one addition of 128 float16.
func BenchmarkAdd(b *testing.B) {
	l := newBench(b, oplog.Options{Inline: true})
	x := l.c.Load(l.put(b, 0, dtype.F16, make([]float64, 128)...))
	l.Begin(tl.Sum, 2)
	b.ReportAllocs()
	for b.Loop() {
		l.c.Free(l.c.Add(x, x))
	}
}

// BenchmarkAccess loads and stores few elements, so that finding them dominates.
func BenchmarkAccess(b *testing.B) {
	l := newBench(b, oplog.Options{Inline: true})
	const pieces = 64
	for i := range pieces {
		l.put(b, i, dtype.F32, 1, 2, 3, 4)
	}
	for b.Loop() {
		for i := range pieces {
			x := l.ref(i, 4, dtype.F32)
			v := l.c.Load(x)
			l.c.Store(x, v)
			l.c.Free(v)
		}
	}
}
