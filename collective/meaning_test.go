package collective

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

var worlds = []int{1, 2, 3, 4, 5, 7, 8, 16, 31}

// Each row must be whole. Parts cover the output and contributors exist. The parts, the runs and
// the contributor lists describe the same.
func TestRowsAreWhole(t *testing.T) {
	h := NewHasher(11, true)
	for _, co := range All() {
		for _, world := range worlds {
			for _, elems := range []int{0, 1, 3, 8, 13, 3 * world} {
				if co.Blocks && elems%world != 0 {
					continue
				}
				c := Call{World: world, Elems: elems, Type: dtype.F16, Op: tl.Sum, Root: world / 2}
				e, err := co.Expect(h, c)
				if err != nil {
					t.Fatalf("%s: %v", co.Name, err)
				}
				for rank := range world {
					total := 0
					for _, p := range e.Parts(rank) {
						total += p.N
						for k := range p.From.N {
							if r := p.From.At(k); r < 0 || r >= world || int(p.Base)+p.N > co.In(c, r) {
								t.Fatalf("%s of %d: part %+v goes beyond rank %d's %d elements", co.Name, world, p, r, co.In(c, r))
							}
						}
						if p.From.N > 1 && !co.Reduces {
							t.Fatalf("%s copies, but %+v combines", co.Name, p)
						}
					}
					if total != co.Out(c, rank) {
						t.Fatalf("%s of %d, rank %d: parts cover %d of %d elements", co.Name, world, rank, total, co.Out(c, rank))
					}
					checkProv(t, h, e, rank)
				}
			}
		}
	}
}

// checkProv rebuilds the expected provenance out of labels, contributor by contributor.
func checkProv(t *testing.T, h *Hasher, e *Expectation, rank int) {
	t.Helper()
	want := e.Prov(nil, rank)
	var built Prov
	for i := range want.Len() {
		var one Prov
		for k, c := range e.Contributors(rank, i) {
			own := h.Own(nil, c.Rank, c.Index, 1)
			if k == 0 {
				one = own
				continue
			}
			one = h.Merge(nil, one, own, 1)
		}
		if e.Scaled() {
			one = Scale(nil, one, e.Call.World, 2)
		}
		built = Concat(built, one)
	}
	if !Equal(built, want) {
		t.Fatalf("%s of %d, rank %d: built %v, want %v", e.Collective.Name, e.Call.World, rank, built, want)
	}
}

// Block s of rank r is block r of rank s. The expected elements are computed by hand.
func TestAllToAll(t *testing.T) {
	c := Call{World: 3, Elems: 6, Type: dtype.F32}
	e, err := AllToAll.Expect(NewHasher(1, true), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []Contributor
	for i := range c.Elems {
		got = append(got, e.Contributors(1, i)...)
	}
	if want := []Contributor{{0, 2, 1}, {0, 3, 1}, {1, 2, 1}, {1, 3, 1}, {2, 2, 1}, {2, 3, 1}}; !slices.Equal(got, want) {
		t.Errorf("rank 1 ends with %v, want %v", got, want)
	}
}

// The pairs of a vendor's example, by hand: three elements or so from each rank to each.
func TestAllToAllV(t *testing.T) {
	h := NewHasher(1, true)
	c := Call{World: 4, Type: dtype.F16, Counts: [][]int{{3, 3, 3, 3}, {2, 2, 3, 2}, {1, 4, 4, 4}, {0, 3, 3, 3}}}
	e, err := AllToAllV.Expect(h, c)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Part{ // by receiver: the number of elements from each sender, and the first of them
		{{3, onlyRank(0), 0}, {2, onlyRank(1), 0}, {1, onlyRank(2), 0}, {0, onlyRank(3), 0}},
		{{3, onlyRank(0), 3}, {2, onlyRank(1), 2}, {4, onlyRank(2), 1}, {3, onlyRank(3), 0}},
		{{3, onlyRank(0), 6}, {3, onlyRank(1), 4}, {4, onlyRank(2), 5}, {3, onlyRank(3), 3}},
		{{3, onlyRank(0), 9}, {2, onlyRank(1), 7}, {4, onlyRank(2), 9}, {3, onlyRank(3), 6}},
	}
	ins, outs := []int{12, 9, 13, 9}, []int{6, 12, 13, 12}
	for r := range want {
		if got := e.Parts(r); !slices.Equal(got, want[r]) {
			t.Errorf("rank %d ends with %v, want %v", r, got, want[r])
		}
		if in, out := AllToAllV.In(c, r), AllToAllV.Out(c, r); in != ins[r] || out != outs[r] {
			t.Errorf("rank %d brings %d elements and ends with %d, want %d, %d", r, in, out, ins[r], outs[r])
		}
		checkProv(t, h, e, r)
	}
	if got, want := AllToAllV.Demand(c), unit.Bytes(2*(43-3-2-4-3)); got != want {
		t.Errorf("demand %d, want %d", got, want)
	}
	if got, want := AllToAllV.Bytes(c), unit.Bytes(2*13); got != want {
		t.Errorf("size %d, want %d", got, want)
	}
}

// Where there is a root, each rank has what is its own to bring or to end with, by hand.
func TestRoots(t *testing.T) {
	c := Call{World: 3, Elems: 6, Type: dtype.F16, Root: 2}
	all := Ranks{N: 3, Stride: 1}
	tests := []struct {
		co    *Collective
		in    [3]int
		parts [3][]Part
	}{
		{Reduce, [3]int{6, 6, 6}, [3][]Part{2: {{6, all, 0}}}},
		{Gather, [3]int{6, 6, 6}, [3][]Part{2: {{6, onlyRank(0), 0}, {6, onlyRank(1), 0}, {6, onlyRank(2), 0}}}},
		{Scatter, [3]int{0, 0, 6}, [3][]Part{{{2, onlyRank(2), 0}}, {{2, onlyRank(2), 2}}, {{2, onlyRank(2), 4}}}},
		{Broadcast, [3]int{6, 6, 6}, [3][]Part{{{6, onlyRank(2), 0}}, {{6, onlyRank(2), 0}}, {{6, onlyRank(2), 0}}}},
	}
	for _, tt := range tests {
		for r := range c.World {
			if got := tt.co.Parts(nil, c, r); !slices.Equal(got, tt.parts[r]) || tt.co.In(c, r) != tt.in[r] {
				t.Errorf("%s: rank %d brings %d elements and ends with %v, want %d, %v", tt.co.Name, r,
					tt.co.In(c, r), got, tt.in[r], tt.parts[r])
			}
		}
	}
}

func TestExpectationOfGroups(t *testing.T) {
	h := NewHasher(2, true)
	c := Call{World: 3, Elems: 4, Type: dtype.F32, Op: tl.Avg, Labels: Ranks{First: 5, Stride: 128}}
	e, err := AllReduce.Expect(h, c)
	if err != nil {
		t.Fatal(err)
	}
	want := []Contributor{{5, 2, 1}, {133, 2, 1}, {261, 2, 1}}
	if got := e.Contributors(1, 2); !slices.Equal(got, want) {
		t.Errorf("contributors %v, want %v", got, want)
	}
	checkProv(t, h, e, 1)
	if own := AllReduce.Own(h, nil, c, 2); own[0].Contributors()[0].Rank != 261 {
		t.Errorf("rank 2's own label is %v, want rank 261", own[0].Contributors())
	}
}

func TestDemandAndBusFactor(t *testing.T) {
	tests := []struct {
		name   string
		demand unit.Bytes // 8 ranks, 104 f16 elements
		size   unit.Bytes
		factor float64
	}{
		{"all_reduce", 2 * 7 * 208, 208, 1.75},
		{"all_gather", 7 * 1664, 1664, 0.875},
		{"reduce_scatter", 7 * 208, 208, 0.875},
		{"broadcast", 7 * 208, 208, 1},
		{"all_to_all", 7 * 208, 208, 0.875},
		{"all_to_all_v", 7 * 208, 208, 0.875},
		{"reduce", 7 * 208, 208, 1},
		{"gather", 7 * 208, 1664, 0.875},
		{"scatter", 7 * 26, 208, 0.875},
		{"shift", 8 * 208, 208, 1},
		{"sendrecv", 8 * 208, 208, 1},
		{"hypercube", 7 * 1664, 7 * 208, 1},
		{"barrier", 0, 0, 0},
	}
	for _, tt := range tests {
		co, err := Lookup(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		c := Call{World: 8, Elems: 104, Type: dtype.F16}
		if co.Rooted {
			c.Root = 3
		}
		if got := co.Demand(c); got != tt.demand {
			t.Errorf("%s: demand %d, want %d", tt.name, got, tt.demand)
		}
		if got := co.Bytes(c); got != tt.size {
			t.Errorf("%s: size %d, want %d", tt.name, got, tt.size)
		}
		if got := co.BusFactor(8); got != tt.factor {
			t.Errorf("%s: bus factor %v, want %v", tt.name, got, tt.factor)
		}
		if c.World, c.Root = 1, 0; co.Demand(c) != 0 {
			t.Errorf("%s: one rank alone must move %v", tt.name, co.Demand(c))
		}
	}
	if known := len(All()) - 1; len(tests) != known { // one is of a test
		t.Errorf("%d rows, %d tested", known, len(tests))
	}
}

func TestImpossibleCalls(t *testing.T) {
	ok := Call{World: 4, Elems: 8, Type: dtype.F16}
	tests := []struct {
		name   string
		co     *Collective
		change func(*Call)
		want   string
	}{
		{"no ranks", AllReduce, func(c *Call) { c.World = 0 }, "at least one"},
		{"negative count", AllReduce, func(c *Call) { c.Elems = -1 }, "negative"},
		{"no type", AllReduce, func(c *Call) { c.Type = dtype.Invalid }, "no element type"},
		{"no such operation", AllReduce, func(c *Call) { c.Op = 99 }, "unknown reduction"},
		{"blocks that do not divide", AllToAll, func(c *Call) { c.Elems = 9 },
			"all_to_all of 9 elements among 4 ranks: each rank gets a block"},
		{"unequal blocks without counts", AllToAllV, func(c *Call) { c.Elems = 9 }, "all_to_all_v of 9 elements among 4 ranks"},
		{"too few rows", AllToAllV, func(c *Call) { c.Counts = make([][]int, 3) }, "4 ranks with 3 rows of counts"},
		{"too short a row", AllToAllV, func(c *Call) { c.Counts = [][]int{{1, 2, 3, 4}, {1, 2, 3}, nil, nil} }, "rank 1 has 3 counts"},
		{"a negative count", AllToAllV, func(c *Call) { c.Counts = [][]int{{1, 2, 3, 4}, {1, 2, -3, 4}, nil, nil} },
			"rank 1 sends -3 elements to rank 2"},
		{"more than can be", AllToAllV, func(c *Call) { c.Counts = [][]int{{1, math.MaxInt, 0, 0}, nil, nil, nil} },
			"rank 0 sends 9223372036854775807 elements to rank 1: that is more elements than a call can have"},
		{"counts of equal blocks", AllToAll, func(c *Call) { c.Counts = [][]int{} }, "its blocks are equal"},
		{"no such root", Broadcast, func(c *Call) { c.Root = 4 }, "root 4"},
		{"no such root of a reduction", Reduce, func(c *Call) { c.Root = -1 }, "reduce with root -1: the ranks are 0 to 3"},
		{"blocks of a root that do not divide", Scatter, func(c *Call) { c.Elems = 9 }, "scatter of 9 elements among 4 ranks"},
	}
	for _, tt := range tests {
		c := ok
		tt.change(&c)
		if _, err := tt.co.Expect(NewHasher(1, false), c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want it to contain %q", tt.name, err, tt.want)
		}
	}
	if _, err := Lookup("allreduce"); err == nil || !strings.Contains(err.Error(), "all_reduce") {
		t.Errorf("Lookup of an unknown name: %v", err)
	}
}

func TestOperationsOfTheCollective(t *testing.T) {
	for _, tt := range []struct {
		reduce tl.ReduceOp
		op     dtype.BinaryOp
	}{{tl.Sum, dtype.Add}, {tl.Avg, dtype.Add}, {tl.Prod, dtype.Mul}, {tl.Max, dtype.Max}, {tl.Min, dtype.Min}} {
		for op := dtype.Add; op <= dtype.Min; op++ {
			if got := Combines(tt.reduce, op); got != (op == tt.op) {
				t.Errorf("Combines(%v, %v) = %v", tt.reduce, op, got)
			}
		}
	}
}

func TestScales(t *testing.T) {
	f16 := Call{World: 3, Type: dtype.F16, Op: tl.Avg}
	i32 := Call{World: 3, Type: dtype.I32, Op: tl.Avg}
	sum := Call{World: 3, Type: dtype.F16, Op: tl.Sum}
	var third [2]byte
	dtype.Set(dtype.F16, third[:], 0, 1.0/3)
	tests := []struct {
		name string
		c    Call
		op   dtype.BinaryOp
		s    float64
		want bool
	}{
		{"division by the world size", f16, dtype.Div, 3, true},
		{"times its reciprocal", f16, dtype.Mul, 1.0 / 3, true},
		{"times its float32 reciprocal", f16, dtype.Mul, float64(float32(1.0 / 3)), true},
		{"times its f16 reciprocal", f16, dtype.Mul, dtype.At(dtype.F16, third[:], 0), true},
		{"division by something else", f16, dtype.Div, 4, false},
		{"times something else", f16, dtype.Mul, 0.5, false},
		{"adding", f16, dtype.Add, 3, false},
		{"integers divide", i32, dtype.Div, 3, true},
		{"integers have no reciprocal", i32, dtype.Mul, 1.0 / 3, false},
		{"a sum is not divided", sum, dtype.Div, 3, false},
	}
	for _, tt := range tests {
		if got := Scales(tt.c, tt.op, tt.s); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// An element that Neutral accepts must not change any other element; checked on the ends of the
// range of each type.
func TestNeutralIsNeutral(t *testing.T) {
	candidates := []float64{0, 1, -1, 255, -128, 127, 32767, -32768, 1<<31 - 1, -1 << 31, 0x1p63, -0x1p63, math.Inf(1), math.Inf(-1)}
	for _, typ := range dtype.Types() {
		for _, op := range tl.ReduceOps() {
			found := false
			for _, v := range candidates {
				if !Neutral(op, typ, v) {
					continue
				}
				found = true
				size := typ.Size()
				x, fill, out := make([]byte, len(candidates)*size), make([]byte, len(candidates)*size), make([]byte, len(candidates)*size)
				for i, w := range candidates {
					dtype.Set(typ, x, i, w)
				}
				dtype.Fill(typ, fill, v)
				dtype.Binary(op.Binary(), typ, out, fill, x)
				if !slices.Equal(out, x) {
					t.Errorf("%v %v: %v is called neutral, but %v became %v", op, typ, v, x, out)
				}
			}
			if !found {
				t.Errorf("%v %v has no neutral element among the candidates", op, typ)
			}
		}
	}
}
