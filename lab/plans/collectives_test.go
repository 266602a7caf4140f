package plans

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kernbench/frontend/chakra"
	"kernbench/unit"
)

// call is a collective of a group of ranks.
type call struct {
	kind  chakra.CollectiveType
	group string
	ranks []int
	bytes int64
}

// traces writes the traces of ranks that compute for 5 µs, and then call collectives in order.
func traces(t *testing.T, world int, calls ...call) string {
	t.Helper()
	dir := t.TempDir()
	for rank := range world {
		x := &chakra.Trace{Nodes: []chakra.Node{{Name: "compute", Type: chakra.CompNode, Duration: 5}}}
		for _, c := range calls {
			if !slices.Contains(c.ranks, rank) {
				continue
			}
			id := uint64(len(x.Nodes))
			x.Nodes = append(x.Nodes, chakra.Node{ID: id, Name: c.kind.String(), Type: chakra.CommCollNode,
				CtrlDeps: []uint64{id - 1}, Attrs: []chakra.Attr{
					{Name: "comm_type", Value: chakra.NewInt(chakra.Int64, int64(c.kind))},
					{Name: "comm_size", Value: chakra.NewInt(chakra.Uint64, c.bytes)},
					{Name: "pg_name", Value: chakra.NewText(c.group)},
				}})
		}
		var b bytes.Buffer
		if err := chakra.Write(&b, x); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("x.%d.et", rank)), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A collective takes the time of the library's fastest algorithm alone, from the arrival of the
// last rank to the departure of the first.
func TestCollectivesAreTimedByTheLibrary(t *testing.T) {
	all := []int{0, 1, 2, 3}
	var calls []call
	for kind := chakra.AllReduce; kind <= chakra.Barrier; kind++ {
		calls = append(calls, call{kind, "all", all, 64 << 10})
	}
	r := timed(t, traces(t, 4, calls...), "dgx-h100", 0)
	sum := r.Model.Launch + 5*unit.Microsecond
	for _, p := range r.Performed {
		if sum += p.Time * unit.Time(p.Calls); p.Time < unit.Microsecond || p.Algorithm == "" {
			t.Errorf("%+v: want an algorithm and a time", p)
		}
	}
	if want := len(calls) - 1; len(r.Performed) != want { // both forms of reduce_scatter count once
		t.Errorf("%d different collectives, want %d", len(r.Performed), want)
	}
	if r.Time != sum {
		t.Errorf("time %v, want launch, computation and all collectives, %v", r.Time, sum)
	}
}

// Groups of ranks do not wait for each other, and one rank alone waits for nothing.
func TestGroupsOfCollectives(t *testing.T) {
	const small, large = 1 << 10, 4 << 20
	r := timed(t, traces(t, 8,
		call{chakra.AllReduce, "low", []int{0, 1, 2, 3}, small}, call{chakra.AllReduce, "high", []int{4, 5, 6, 7}, large},
		call{chakra.AllReduce, "one", []int{3}, large}), "mi300x-8", 0)
	if len(r.Performed) != 3 {
		t.Fatalf("collectives %+v, want 3", r.Performed)
	}
	most := unit.Time(0)
	for _, p := range r.Performed {
		most = max(most, p.Time)
		if alone := len(p.Ranks) == 1; alone != (p.Time == 0) {
			t.Errorf("%+v: only a group of one takes no time", p)
		}
	}
	if want := r.Model.Launch + 5*unit.Microsecond + most; r.Time != want {
		t.Errorf("time %v, want that of the longer one, %v", r.Time, want)
	}
}

// The chosen algorithm is the fastest of those that can perform the call.
func TestCollectivesTakeTheFastest(t *testing.T) {
	ranks := []int{1, 4, 6}
	file := traces(t, 8, call{chakra.AllGather, "x", ranks, 96 << 10})
	l, err := Load(Spec{File: file, Topology: "dgx-h100"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Time(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"ring_allgather", "direct_allgather", r.Performed[0].Algorithm} {
		l.fastest = map[string]string{}
		for bits := range 64 {
			l.fastest[fmt.Sprint("all_gather", ranks, bits)] = other
		}
		o, err := l.Time(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if o.Time < r.Time || other == r.Performed[0].Algorithm && o.Time != r.Time {
			t.Errorf("%s takes %v, %s was chosen and takes %v", other, o.Time, r.Performed[0].Algorithm, r.Time)
		}
	}
}
