package program_test

import (
	"math"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
)

// usual returns what all ranks do: loads, messages both ways, arithmetic and stores.
func usual(c *tl.Context, a tl.Args) tl.Tensor {
	mine := a.Shard(c.Rank())
	x := c.Load(mine.Slice(0, 16))
	c.Send(tl.East, x)
	y := c.Recv(tl.West, x.Shape(), x.DType())
	z := c.Add(x, y)
	c.Send(tl.West, z.Slice(4, 8))
	w := c.Recv(tl.East, tl.Dims(8), x.DType())
	c.Store(mine.Slice(16, 8), w)
	return z
}

// variant is an operation that one rank does and the others do not, or otherwise.
type variant struct {
	name   string
	others func(c *tl.Context, a tl.Args, x tl.Tensor) // nil: nothing
	one    func(c *tl.Context, a tl.Args, x tl.Tensor)
}

func mine(c *tl.Context, a tl.Args) tl.Ref { return a.Shard(c.Rank()) }

// over returns a virtual place of a rank that spans a number of extents, from the first or second
// one on.
func over(c *tl.Context, first, extents int) tl.Ref {
	return tl.Ref{Addr: virtual(c.Rank()) + mem.Addr(64*first), Shape: tl.Dims(32 * extents), DType: dtype.F16}
}

var variants = []variant{
	{"one more load", nil, func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.Load(mine(c, a)) }},
	{"one more store", nil, func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Store(mine(c, a).Slice(0, 16), x) }},
	{"one more send", nil, func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Send(tl.East, x) }},
	{"one more receive", nil, func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, x.Shape(), x.DType()) }},
	{"announced",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, x.Shape(), x.DType()) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Wait(c.RecvAsync(tl.East, x.Shape(), x.DType())) }},
	{"one more sum", nil, func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(x, x) }},
	{"load or store",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Load(mine(c, a).Slice(0, 16)) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Store(mine(c, a).Slice(0, 16), x) }},
	{"length of a load",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.Load(mine(c, a).Slice(0, 16)) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.Load(mine(c, a).Slice(0, 15)) }},
	{"shape of a load",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.Load(mine(c, a).Slice(0, 16)) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) {
			r := mine(c, a).Slice(0, 16)
			r.Shape = tl.Dims(4, 4)
			c.Load(r)
		}},
	{"type of a load",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.Load(mine(c, a).Slice(0, 16)) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) {
			r := mine(c, a).Slice(0, 16)
			r.DType = dtype.I16
			c.Load(r)
		}},
	{"pieces of a load",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.Load(over(c, 0, 1)) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) {
			r := over(c, 0, 1)
			r.Addr += 32
			c.Load(r)
		}},
	{"where pieces of a load end",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { r := over(c, 0, 2); r.Addr += 16; c.Load(r.Slice(0, 56)) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { r := over(c, 0, 2); r.Addr += 8; c.Load(r.Slice(0, 56)) }},
	{"rows of a load",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.LoadTile(c.Desc(mine(c, a), 8, 8, 4, 4), 0, 0) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) {
			r := mine(c, a)
			r.Shape = tl.Dims(4, 4)
			c.Load(r)
		}},
	{"pitch of a load",
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.LoadTile(c.Desc(mine(c, a), 8, 8, 4, 4), 0, 0) },
		func(c *tl.Context, a tl.Args, _ tl.Tensor) { c.LoadTile(c.Desc(mine(c, a), 4, 16, 4, 4), 0, 0) }},
	{"pitch of a store",
		func(c *tl.Context, a tl.Args, x tl.Tensor) {
			c.StoreTile(c.Desc(mine(c, a), 8, 8, 2, 4), 0, 0, c.Load(tile(c, a)))
		},
		func(c *tl.Context, a tl.Args, x tl.Tensor) {
			c.StoreTile(c.Desc(mine(c, a), 4, 16, 2, 4), 0, 0, c.Load(tile(c, a)))
		}},
	{"direction of a send",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Send(tl.East, x) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Send(tl.West, x) }},
	{"length of a send",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Send(tl.East, x) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Send(tl.East, x.Slice(0, 3)) }},
	{"operand of a send",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Add(x, x); c.Send(tl.East, x); c.Free(y) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Add(x, x); c.Send(tl.East, y); c.Free(y) }},
	{"send from memory",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Send(tl.East, x) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.SendRef(tl.East, mine(c, a).Slice(0, 16)) }},
	{"direction of a receive",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, x.Shape(), x.DType()) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.West, x.Shape(), x.DType()) }},
	{"direction of an announced one",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Wait(c.RecvAsync(tl.East, x.Shape(), x.DType())) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Wait(c.RecvAsync(tl.West, x.Shape(), x.DType())) }},
	{"length of a receive",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, tl.Dims(8), x.DType()) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, tl.Dims(9), x.DType()) }},
	{"assembled", // of which length and type agree
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, tl.Dims(32), dtype.F16) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Recv(tl.East, tl.Dims(33), dtype.F16) }},
	{"operation",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(x, x) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Sub(x, x) }},
	{"operands of a sum",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.Add(x, y) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.Add(x, x); _ = y }},
	{"first operand of a sum",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.Add(x, y) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.Add(y, y) }},
	{"third operand",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.FMA(x, x, y) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Abs(x); c.FMA(x, x, x) }},
	{"where the third operand begins",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.FMA(x.Slice(0, 8), x.Slice(0, 8), x.Slice(4, 8)) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.FMA(x.Slice(0, 8), x.Slice(0, 8), x.Slice(5, 8)) }},
	{"one element for all",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(x.Slice(0, 1), x.Slice(0, 1)) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(x.Slice(0, 2), x.Slice(0, 1)) }},
	{"which one is for all",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(x.Slice(0, 2), x.Slice(0, 1)) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Add(x.Slice(0, 1), x.Slice(0, 2)) }},
	{"arithmetic",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Scale(dtype.Add, x, 0) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Clamp(x, 0, 0) }},
	{"function",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Exp(x) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Log(x) }},
	{"factor",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Scale(dtype.Mul, x, 0.5) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Scale(dtype.Mul, x, 0.25) }},
	{"sign of zero",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Scale(dtype.Div, x, 0) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Scale(dtype.Div, x, math.Copysign(0, -1)) }},
	{"upper limit",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Clamp(x, 0, 1) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Clamp(x, 0, 2) }},
	{"contents",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Full(tl.Dims(3), dtype.F16, 1) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Full(tl.Dims(3), dtype.F16, 2) }},
	{"type converted to",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Convert(x, dtype.F32) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Convert(x, dtype.I32) }},
	{"axis",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Sum(square(c), 0) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Sum(square(c), 1) }},
	{"reduction",
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Sum(square(c), 0) },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { c.Max(square(c), 0) }},
	{"product",
		func(c *tl.Context, a tl.Args, x tl.Tensor) {
			c.Dot(c.Full(tl.Dims(2, 4), dtype.F16, 1), c.Full(tl.Dims(4, 2), dtype.F16, 1))
		},
		func(c *tl.Context, a tl.Args, x tl.Tensor) {
			c.Dot(c.Full(tl.Dims(2, 4), dtype.F16, 1), c.Full(tl.Dims(4, 3), dtype.F16, 1))
		}},
	{"where a result goes", // the tensors that are alive differ
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.Neg(x); _ = y },
		func(c *tl.Context, a tl.Args, x tl.Tensor) { y := c.Abs(x); c.Free(y); c.Neg(x) }},
}

func tile(c *tl.Context, a tl.Args) tl.Ref {
	r := mine(c, a).Slice(0, 8)
	r.Shape = tl.Dims(2, 4)
	return r
}

func square(c *tl.Context) tl.Tensor { return c.Full(tl.Dims(4, 4), dtype.F16, 1) }

// TestClassOfOne: a rank that differs in one operation, early, in the middle or at the end, is a
// class of its own. All others are one class. Each rank has what it issues alone.
func TestClassOfOne(t *testing.T) {
	const world = 7
	at := func(v *variant, when string, odd int) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			x := c.Load(mine(c, a).Slice(0, 16))
			do := func(at string) {
				switch {
				case at != when:
				case c.Rank() == odd:
					v.one(c, a, x)
				case v.others != nil:
					v.others(c, a, x)
				}
			}
			do("early")
			x = usual(c, a)
			do("in the middle")
			x = usual(c, a)
			do("at the end")
		}
	}
	for i := range variants {
		v := &variants[i]
		for _, when := range []string{"early", "in the middle", "at the end"} {
			for _, odd := range []int{0, 3, world - 1} {
				t.Run(v.name+"/"+when, func(t *testing.T) {
					l := ring(world, at(v, when, odd))
					p := record(t, l, program.Options{Own: own, Places: true})
					want := make([]int32, world)
					switch {
					case odd > 0:
						want[odd] = 1
					default:
						want = []int32{0, 1, 1, 1, 1, 1, 1}
					}
					if got := classes(p); !slices.Equal(got, want) {
						t.Errorf("classes %v, want %v", got, want)
					}
					if d := differs(t, l, p); d != "" {
						t.Error(d)
					}
				})
			}
		}
	}
}

// TestOneClass: ranks that use other addresses, other parts of their tensors, and rings to other
// ranks are one class. So are those of several groups.
func TestOneClass(t *testing.T) {
	for name, k := range map[string]tl.Kernel{
		"usual":   func(c *tl.Context, a tl.Args) { usual(c, a) },
		"nothing": func(*tl.Context, tl.Args) {},
		"addresses": func(c *tl.Context, a tl.Args) {
			at := mine(c, a).Slice(c.Rank(), 8)
			c.Store(at, c.Load(at))
			c.SendRef(tl.East, at)
			c.Store(mine(c, a).Slice(0, 8), c.Recv(tl.West, tl.Dims(8), a.DType))
		},
		"offsets": func(c *tl.Context, a tl.Args) {
			x := c.Load(mine(c, a))
			c.Add(x.Slice(c.Rank(), 4), x.Slice(2*c.Rank(), 4))
			c.Send(tl.East, x.Slice(5, 3))
			c.FMA(x.Slice(c.Rank(), 4), x.Slice(2, 4), x.Slice(3, 4))
			c.Store(mine(c, a).Slice(0, 4), x.Slice(c.Rank()*c.Rank(), 4))
		},
		"rows": func(c *tl.Context, a tl.Args) {
			d := c.Desc(mine(c, a), 4, 16, 2, 4)
			c.StoreTile(d, 0, c.Rank(), c.LoadTile(d, 1, 2*c.Rank()%12))
		},
		"nothing in tensors": func(c *tl.Context, a tl.Args) {
			x := c.Load(mine(c, a).Slice(c.Rank(), 0))
			y := c.Add(x, x)
			c.Send(tl.East, y)
			c.Store(mine(c, a).Slice(0, 0), c.Recv(tl.West, tl.Dims(0), a.DType))
		},
		"not a number": func(c *tl.Context, a tl.Args) { c.Full(tl.Dims(3), a.DType, math.NaN()) },
	} {
		t.Run(name, func(t *testing.T) {
			l := ring(5, k)
			other := ring(8, k).Groups[0]
			other.PEs, other.Args.Shards = slices.Clone(other.PEs[5:]), slices.Clone(other.Args.Shards[5:])
			three := ring(3, k)
			other.Wiring = three.Groups[0].Wiring
			l.Groups = append(l.Groups, other)
			p := record(t, l, program.Options{Own: own, Places: true})
			if got := classes(p); !slices.Equal(got, make([]int32, 8)) || len(p.Records) != 1 {
				t.Errorf("classes %v", got)
			}
			if d := differs(t, l, p); d != "" {
				t.Error(d)
			}
			if bare := record(t, l, program.Options{Own: own}); len(bare.Records) != 1 ||
				bare.Records[0].Base != nil || bare.Blocks[3].Places != nil {
				t.Errorf("without places: %d records, %d addresses", len(bare.Records), len(bare.Records[0].Base))
			}
		})
	}
}

// TestTree: records branch off records that branched off others, and ranks return to earlier ones.
func TestTree(t *testing.T) {
	// Each word is the program of a rank; each letter is an operation.
	words := []string{"abcde", "abxde", "abxdf", "abcde", "abxyf", "ab", "abx", "", "abcde", "abcdeg", "abxdf", "ab",
		"b", "abxyf", "abcd", "b", ""}
	l := ring(len(words), func(c *tl.Context, a tl.Args) {
		for _, letter := range words[c.Rank()] {
			c.Load(mine(c, a).Slice(c.Rank(), 1+int(letter-'a')))
		}
	})
	p := record(t, l, program.Options{Own: own, Places: true, Lines: true})
	if d := differs(t, l, p); d != "" {
		t.Error(d)
	}
	first := map[string]int32{}
	for r, w := range words {
		k := p.Blocks[r].Record
		if _, ok := first[w]; !ok {
			first[w] = k
			if int(p.Records[k].First) != r {
				t.Errorf("record %d: first rank %d, want %d", k, p.Records[k].First, r)
			}
		}
		if first[w] != k {
			t.Errorf("rank %d: %q has records %d and %d", r, w, first[w], k)
		}
		if lines := p.Records[k].Lines; len(lines) != len(w)+1 {
			t.Errorf("record %d: lines %q", k, lines)
		}
	}
	if len(p.Records) != len(first) {
		t.Errorf("%d records of %d words", len(p.Records), len(first))
	}
}

// TestReceiveIntoMemory: where a message is copied to is each rank's own.
func TestReceiveIntoMemory(t *testing.T) {
	l := ring(3, func(c *tl.Context, a tl.Args) {
		c.Send(tl.East, c.Load(mine(c, a).Slice(0, 8)))
		c.RecvTo(tl.West, mine(c, a).Slice(8*c.Rank(), 8))
		c.Load(mine(c, a).Slice(1, 4))
	})
	p := record(t, l, program.Options{Places: true})
	if d := differs(t, l, p); d != "" {
		t.Error(d)
	}
	if len(p.Records) != 1 {
		t.Errorf("%d records of ranks that do the same", len(p.Records))
	}
}

// TestChannelsOfAClass: ranks of one class send through the same number of channels.
func TestChannelsOfAClass(t *testing.T) {
	for _, tt := range []struct {
		channels []int // by rank
		classes  int
	}{
		{[]int{0, 0, 0}, 1}, {[]int{2, 2, 2}, 1}, {[]int{2, 2, 3}, 2}, {[]int{0, 2, 0}, 2}, {[]int{2, 0, 2}, 2}, {[]int{1, 2, 3}, 3},
	} {
		l := ring(3, func(c *tl.Context, a tl.Args) {
			x := c.Load(mine(c, a).Slice(0, 16))
			c.UseChannels(tt.channels[c.Rank()])
			c.Send(tl.East, x)
			c.SendRef(tl.West, mine(c, a))
			c.UseChannels(0)
			c.Send(tl.East, x)
		})
		p := record(t, l, program.Options{Places: true})
		if n := len(p.Records); n != tt.classes {
			t.Errorf("%v channels: %d classes, want %d", tt.channels, n, tt.classes)
		}
		if d := differs(t, l, p); d != "" {
			t.Errorf("%v channels: %s", tt.channels, d)
		}
	}
}
