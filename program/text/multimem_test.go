package text_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/program/text"
	"kernbench/tl"
)

// switched is settings of a machine of nodes of SIPs with one PE. Switches in and between nodes
// reduce and copy.
func switched(nodes, width int) []string {
	const types = ".reduce.types=[f16, bf16, f32, f64, i32, i64]"
	sets := []string{
		fmt.Sprintf("system.sips.count=%d", width), "system.sips.topology=switch", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]", "system.switch.multicast=true", "system.switch" + types,
		"system.switch.reduce.latency_ns=70",
	}
	if nodes > 1 {
		sets = append(sets, fmt.Sprintf("system.nodes.count=%d", nodes), "system.nodes.network=switch", "system.nodes.join=each",
			"system.nodes.link.bw_gbs=50", "system.nodes.link.latency_ns=1000", "system.nodes.switch.multicast=true",
			"system.nodes.switch"+types)
	}
	return sets
}

// TestSwitchesRoundTrip: algorithms that reduce and copy in switches are read back from their
// programs. These run with their verdicts and times, on one node and on several.
func TestSwitchesRoundTrip(t *testing.T) {
	turn := 0
	for _, a := range algorithm.All() {
		if !a.Multimem {
			continue
		}
		what, err := collective.Lookup(a.Collective)
		if err != nil {
			t.Fatal(err)
		}
		for _, on := range []struct{ nodes, width int }{{1, 1}, {1, 2}, {1, 5}, {2, 2}, {3, 2}, {2, 4}} {
			if on.nodes > 1 && a.Groups == nil {
				continue
			}
			turn++
			s := run.Spec{
				Algorithm: a.Name, NElem: []int{1, 13, 32}[turn%3] * on.nodes * on.width, DType: dtype.F32,
				VerifyData: true, Sets: switched(on.nodes, on.width),
			}
			if a.Types != nil {
				s.DType = a.Types[turn%len(a.Types)]
			}
			if a.Ops != nil && !s.DType.IsInt() {
				s.Op = a.Ops[turn%len(a.Ops)]
			}
			f, err := run.Record(t.Context(), s)
			if err != nil {
				t.Fatalf("%s, %+v: %v", a.Name, on, err)
			}
			name := fmt.Sprintf("%s, %d nodes of %d, %d %v %v", a.Name, on.nodes, on.width, s.NElem, s.DType, s.Op)
			read := readsBack(t, name, f)
			if groups := len(read.Groups); (groups > 0) != (on.nodes > 1) {
				t.Errorf("%s: %d groups", name, groups)
			}
			for _, s.Executor = range []string{"mock", "sim"} {
				race := what.Reduces // an all-gather runs without it too
				s.Race = &race
				runsSame(t, name+" on "+s.Executor, s, read, s.Sets...)
			}
		}
	}
	if turn < 20 {
		t.Errorf("%d programs: too few to judge it by", turn)
	}
}

// groups makes groups that overlap, of all ranks and of two.
func groups(c *tl.Context, w *tl.Args) (pair, all tl.Sym) {
	me, n := c.Rank(), c.WorldSize()
	data := c.Data(w.Window(0), "data")
	two := []int{me &^ 1, min(me|1, n-1)}
	return data.Among(c.Group(w.Window(0), slices.Compact(two)...)), data
}

func init() {
	calls["switches"] = func(c *tl.Context, a tl.Args) {
		pair, all := groups(c, &a)
		wide := c.Data(a.Window(0), "mixed.wide")
		x := c.LoadReduce(all.Slice(2, 8), tl.Sum)
		c.StoreMulticast(all.Slice(0, 8), x)
		c.StoreMulticast(pair.Slice(0, 3), x.Slice(c.Rank(), 3))
		c.Add(x, c.LoadReduce(pair.Slice(c.Rank(), 8), tl.Max))
		c.LoadReduce(pair.Slice(0, 4).As(dtype.I16), tl.Min)
		c.ReduceMulticast(all.Slice(8, 8), all.Slice(0, 8), tl.Avg)
		c.ReduceMulticast(pair.Slice(8, 2), pair.Slice(c.Rank(), 2), tl.Prod)
		c.ReduceMulticast(wide.Slice(0, 4), wide.Slice(4, 4), tl.Max)
		c.PipeBarrier()
	}
}

// TestSpoiledSwitchProgram: without a wait a switch combines copies that are not there yet. On both
// executors the judge names the line.
func TestSpoiledSwitchProgram(t *testing.T) {
	f, err := run.Record(t.Context(), run.Spec{Algorithm: "sharp_allreduce", NElem: 8, Sets: switched(2, 2)})
	if err != nil {
		t.Fatal(err)
	}
	f.Classes()
	plain := string(textOf(t, f))
	for _, wait := range []string{"wait_until w0.scratch.signals[c1] >= 1\n", "wait_until w0.scratch.signals[c6] >= 1\n",
		"wait_until w0.scratch.signals[c6] >= 2\n", "wait_until w0.scratch.signals[c1] >= 4\n"} {
		if strings.Count(plain, wait) != 1 {
			t.Fatalf("the program has no %q\n%s", wait, plain)
		}
		spoiled, err := text.Parse("x.txt", []byte(strings.Replace(plain, wait, "fence\n", 1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []string{"mock", "sim"} {
			race := true
			r, err := run.OfProgram(t.Context(), run.Spec{Executor: x, Sets: switched(2, 2), Race: &race, VerifyData: true}, spoiled)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Hazards) == 0 || !strings.Contains(fmt.Sprint(r.Hazards), "x.txt:") {
				t.Errorf("without %q, on %s: %v", wait, x, r.Hazards)
			}
		}
	}
}
