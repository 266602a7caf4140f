package algorithm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

func TestRefuses(t *testing.T) {
	even := func(_, n int) error {
		if n%2 == 1 {
			return fmt.Errorf("%d elements are odd", n)
		}
		return nil
	}
	for _, c := range []struct {
		name string
		row  algorithm.Algorithm
		n    int
		typ  dtype.Type
		op   tl.ReduceOp
		want string
	}{
		{"all", algorithm.Algorithm{}, 1, dtype.I8, tl.Max, ""},
		{"operation of the row", algorithm.Algorithm{Ops: []tl.ReduceOp{tl.Sum, tl.Avg}}, 1, dtype.F32, tl.Avg, ""},
		{"another operation", algorithm.Algorithm{Ops: []tl.ReduceOp{tl.Sum, tl.Avg}}, 1, dtype.F32, tl.Max,
			"it supports the operation sum, avg, not max"},
		{"another type", algorithm.Algorithm{Types: []dtype.Type{dtype.F32}}, 1, dtype.F16, tl.Sum, "it supports the type f32, not f16"},
		{"size", algorithm.Algorithm{Check: even, Ops: []tl.ReduceOp{tl.Sum}}, 1, dtype.F16, tl.Sum, "1 elements are odd"},
	} {
		err := c.row.Refuses(collective.Call{World: 2, Elems: c.n, Type: c.typ, Op: c.op})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		some := c.row.SomeCall(4)
		if err := c.row.Supports(some.Type, some.Op); err != nil || some.World != 4 {
			t.Errorf("%s: SomeCall %+v: %v", c.name, some, err)
		}
		if limited := c.name != "all"; c.row.Limited() != limited {
			t.Errorf("%s: limited %v", c.name, !limited)
		}
	}
}

func TestConstraintsNameOpsAndTypes(t *testing.T) {
	row := algorithm.Algorithm{Topology: "ring_1d", Ops: []tl.ReduceOp{tl.Sum, tl.Avg}, Types: []dtype.Type{dtype.F32}}
	if got := row.Constraints(); !slices.Contains(got, "op sum, avg") || !slices.Contains(got, "dtype f32") {
		t.Errorf("got %q", got)
	}
}

func TestRegisterRefusesOpsAndTypes(t *testing.T) {
	for _, c := range []struct {
		row  algorithm.Algorithm
		want string
	}{
		{algorithm.Algorithm{Collective: "all_reduce", Ops: []tl.ReduceOp{}}, "Ops or Types is empty"},
		{algorithm.Algorithm{Collective: "all_reduce", Types: []dtype.Type{}}, "Ops or Types is empty"},
		{algorithm.Algorithm{Collective: "all_reduce", Ops: []tl.ReduceOp{200}}, "not an operation"},
		{algorithm.Algorithm{Collective: "all_reduce", Types: []dtype.Type{200}}, "not an element type"},
		{algorithm.Algorithm{Collective: "broadcast", Ops: []tl.ReduceOp{tl.Sum}}, "broadcast combines nothing"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%+v: panic %s", c.row, got)
				}
			}()
			c.row.Name, c.row.Topology, c.row.Kernel = "refused", "ring_1d", func(*tl.Context, tl.Args) {}
			algorithm.Register(c.row)
		}()
	}
}
