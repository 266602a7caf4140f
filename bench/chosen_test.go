package bench

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/tl"
)

// Named inputs follow their formula, in every type; integers wrap.
func TestChosenInputs(t *testing.T) {
	tests := []struct {
		name string
		want func(rank, index int) int64
	}{
		{"rank", func(r, _ int) int64 { return int64(r + 1) }},
		{"ones", func(int, int) int64 { return 1 }},
		{"index", func(_, i int) int64 { return int64(i) }},
	}
	const world, n = 300, 300
	for _, typ := range dtype.Types() {
		for _, tt := range tests {
			chosen, err := ParseInput(tt.name, typ)
			if err == nil {
				err = chosen.check(typ, world, n)
			}
			if err != nil {
				t.Fatal(err)
			}
			in := Inputs{World: world, Type: typ, Op: tl.Sum, Chosen: chosen, Elems: n}
			for _, rank := range []int{0, 127, 299} {
				data, want := make([]byte, 40*typ.Size()), make([]byte, 8)
				in.writer().write(data, rank, 250)
				for i := range 40 {
					dtype.SetInt(typ, want, 0, tt.want(rank, 250+i))
					if got, want := dtype.At(typ, data, i), dtype.At(typ, want, 0); got != want || in.At(rank, 250+i) != want {
						t.Fatalf("%v %s: element %d of rank %d is %v, want %v", typ, tt.name, 250+i, rank, got, want)
					}
				}
			}
		}
	}
	if in, err := ParseInput("random", dtype.F16); err != nil || !in.bySeed() {
		t.Errorf("random is %+v, %v", in, err)
	}
	if in, err := ParseInput("", dtype.F16); err != nil || in != nil || !in.bySeed() {
		t.Errorf("no choice is %+v, %v", in, err)
	}
}

// A file has the elements of the ranks one after the other.
func TestInputOfAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.txt")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# of two ranks\n1, 2.5 -3\n+Inf\tnan 65504 # the largest\n")
	chosen, err := ParseInput(name, dtype.F16)
	if err != nil {
		t.Fatal(err)
	}
	in := Inputs{World: 2, Type: dtype.F16, Chosen: chosen, Elems: 3}
	if got, want := in.Vector(0, 3), []float64{1, 2.5, -3}; !slices.Equal(got, want) {
		t.Errorf("rank 0 brings %v, want %v", got, want)
	}
	if got := in.Vector(1, 3); !math.IsInf(got[0], 1) || !math.IsNaN(got[1]) || got[2] != 65504 {
		t.Errorf("rank 1 brings %v", got)
	}
	write("9223372036854775807 -9223372036854775808")
	if chosen, err = ParseInput(name, dtype.I64); err != nil || dtype.AtInt(dtype.I64, chosen.data, 0) != math.MaxInt64 {
		t.Errorf("64 bits: %v", err)
	}

	for _, tt := range []struct {
		text string
		typ  dtype.Type
		want string
	}{
		{"1 2\n3 four", dtype.F16, `x.txt:2: "four" is not a number`},
		{"1 2\n70000", dtype.F16, `x.txt:2: "70000" does not fit f16: its largest number is 65504`},
		{"1e400", dtype.F64, "does not fit f64"},
		{"1.5", dtype.I8, `"1.5" is not a whole number`},
		{"128", dtype.I8, `"128" does not fit i8`},
		{"-1", dtype.U8, `"-1" does not fit u8`},
		{strings.Repeat("x", 200), dtype.F16, "x\" is not a number"},
	} {
		write(tt.text)
		if _, err := ParseInput(name, tt.typ); err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 300 {
			t.Errorf("%.20q as %v: %v, want %q", tt.text, tt.typ, err, tt.want)
		}
	}
	if _, err := ParseInput("rnak", dtype.F16); err == nil || !strings.Contains(err.Error(), "rank") {
		t.Errorf("no file of that name: %v", err)
	}
	if _, err := ParseInput("/dev/zero", dtype.F16); err == nil {
		t.Error("an endless file is read")
	}
}

// An input that does not fit the number of ranks is refused.
func TestInputIsChecked(t *testing.T) {
	for _, tt := range []struct {
		in       Input
		typ      dtype.Type
		world, n int
		want     string
	}{
		{Input{Name: "x", Formula: "x", data: make([]byte, 8)}, dtype.F16, 2, 2, ""},
		{Input{Name: "x", Formula: "x", data: make([]byte, 8)}, dtype.F16, 2, 3, "the file has 4 numbers; 2 ranks of 3 elements need 6"},
		{Input{Name: "x", Formula: "x"}, dtype.F16, 2, 3, "the file has 0 numbers"},
		{chosen[3], dtype.F16, 2, 65505, ""},
		{chosen[3], dtype.F16, 2, 70000, "69999 does not fit f16"},
		{chosen[3], dtype.I8, 2, 70000, ""},
		{chosen[1], dtype.F16, 70000, 2, "70000 does not fit f16"},
	} {
		err := tt.in.check(tt.typ, tt.world, tt.n)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of %d × %d %v: %v, want %q", tt.in.Name, tt.world, tt.n, tt.typ, err, tt.want)
		}
	}
}

// NaN agrees only with NaN and an infinity only with itself, for any bound.
func TestAgrees(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		got, want, bound float64
		agrees           bool
	}{
		{1, 1, 0, true}, {1, 1.5, 0.5, true}, {1, 2, 0.5, false},
		{inf, 1, inf, false}, {nan, 1, inf, false}, {1, inf, inf, false}, {1, nan, inf, false},
		{inf, inf, 0, true}, {inf, -inf, inf, false}, {nan, nan, 0, true},
	} {
		if got := agrees(tt.got, tt.want, tt.bound); got != tt.agrees {
			t.Errorf("agrees(%v, %v, %v) = %v", tt.got, tt.want, tt.bound, got)
		}
	}
}
