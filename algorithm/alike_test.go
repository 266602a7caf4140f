package algorithm_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// The kernel of a row that calls its ranks alike does the same on all of them, on rings and tori of any
// form, with counts that nearly divide, wherever results go.
func TestAlike(t *testing.T) {
	const scenes = 200
	for _, a := range algorithm.All() {
		if !a.Local || a.Alike == nil && !testing.Verbose() {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, uint64(len(a.Name))))
			tried, said, sorted, more := 0, 0, 0, 0
			for tried < scenes {
				s := anyScene(rng, a)
				g, ok := s.group(t, a)
				if !ok {
					continue
				}
				tried++
				groups := []tl.Group{g}
				alike := a.IsAlike(groups)
				differs := s.differs(a, &groups[0])
				switch {
				case alike && differs != "":
					t.Fatalf("%+v: %s", s, differs)
				case s.world == 1 || s.n == 0: // nothing to tell apart
				case alike && groups[0].Kinds != nil:
					sorted++
				case alike:
					said++
				case differs == "":
					more++
				}
			}
			t.Logf("%d of %d said, %d sorted, %d more", said, tried, sorted, more)
			if a.Kinds != nil && sorted < 12 {
				t.Errorf("ranks are sorted in %d of %d scenes: too few to judge it by", sorted, tried)
			}
			if a.Alike != nil && said < 20 {
				t.Errorf("ranks are called alike in %d of %d scenes: too few to judge it by", said, tried)
			}
		})
	}
}

// Rows call their ranks alike where that saves most: with many of them, and round numbers of elements.
func TestAlikeWhereItPays(t *testing.T) {
	alike := []string{
		"bidirectional_ring_allreduce", "bine_allreduce", "halving_doubling_allreduce", "hello_send", "hierarchical_ring_allreduce",
		"multi_ring_allgather", "multi_ring_allreduce", "multi_ring_reduce_scatter", "recursive_doubling_allreduce",
		"recursive_halving_reduce_scatter", "ring_allgather", "ring_allreduce", "ring_allreduce_chunked", "ring_reduce_scatter",
		"swing_allreduce", "torus_allgather", "torus_allreduce", "torus_reduce_scatter",
	}
	for _, name := range alike {
		a, err := algorithm.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1 << 12, 1 << 15, 3 << 20} {
			s := scene{world: 1024, n: n, typ: dtype.F16, slots: 4, slotBytes: 4096, scratch: 1 << 20, place: apart, w: 32, levels: []int{8, 16}}
			g, ok := s.group(t, a)
			if !ok {
				t.Fatalf("%s: no rings for %+v", name, s)
			}
			if !a.IsAlike([]tl.Group{g}) {
				t.Errorf("%s of %d elements: ranks are not called alike", name, n)
			}
		}
	}
}

// Where vectors do not fall into equal chunks there are few kinds of ranks, as most levels make no difference.
func TestFewKinds(t *testing.T) {
	for name, want := range map[string][3]int32{
		"halving_doubling_allreduce": {2, 3, 107}, "swing_allreduce": {6, 11, 0}, "hierarchical_ring_allreduce": {8, 8, 0}, "hierarchical_pipelined_allreduce": {275, 51, 506},
	} {
		a, err := algorithm.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range []int{512, 1024 + 256, 100003} {
			s := scene{world: 1024, n: n, typ: dtype.F16, slots: 4, slotBytes: 4096, scratch: 1 << 20, place: apart, levels: []int{8, 16}}
			g, ok := s.group(t, a)
			groups, kinds := []tl.Group{g}, int32(0) // 0: there are too many
			if ok && a.IsAlike(groups) {
				kinds = slices.Max(groups[0].Kinds) + 1
			}
			if kinds != want[i] {
				t.Errorf("%s of %d elements: %d kinds, want %d", name, n, kinds, want[i])
			}
		}
	}
}

// Where ranks do not bring and get the same, in the same places, nothing is said of them.
func TestAlikeNeedsEvenCalls(t *testing.T) {
	other := mem.At(mem.HBM, 1, 4096)
	for name, change := range map[string]func(a *tl.Args){
		"":                         func(*tl.Args) {},
		"blocks brought":           func(a *tl.Args) { a.InBlocks = mem.Chunked(12, 2) },
		"blocks got":               func(a *tl.Args) { a.OutBlocks = mem.Chunked(12, 2) },
		"one result longer":        func(a *tl.Args) { a.OutElems[1]++ },
		"a chunk longer, in group": func(a *tl.Args) { a.NElem++ },
	} {
		groups := make([]tl.Group, 2)
		for i := range groups {
			groups[i] = tl.Group{PEs: []int32{0, 1}, Args: tl.Args{
				DType: dtype.F16, NElem: 12, Shards: []mem.Addr{mem.At(mem.HBM, 0, 0), mem.At(mem.HBM, 1, 0)},
				Outs: []mem.Addr{mem.At(mem.HBM, 0, 4096), other}, OutElems: []int{12, 12},
			}}
		}
		change(&groups[1].Args)
		if got := algorithm.RingAllReduceChunked.IsAlike(groups); got != (name == "") {
			t.Errorf("%q: %v", name, got)
		}
	}
	if algorithm.MeshAllReduce.IsAlike([]tl.Group{{PEs: []int32{0}}}) {
		t.Error("a row that says nothing")
	}
}

// listener is a Core that hears what the kernel of each rank does: of the first all, of others where
// they do something else.
type listener struct {
	c       *tl.Context
	known   []uint32 // generation of the tensor that something fills, by cell
	lead    []tl.Instr
	at      int // instruction of a rank after the first
	leading bool
	differs string
}

func (l *listener) Do(in *tl.Instr) {
	if in.Op == tl.OpRecv {
		in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
	}
	did := *in
	did.Addr, did.DstOff, did.AOff, did.BOff, did.COff = 0, 0, 0, 0, 0
	did.A, did.B, did.C = l.reads(in.A), l.reads(in.B), l.reads(in.C)
	if in.Dst != tl.None {
		for int(in.Dst) >= len(l.known) {
			l.known = append(l.known, 0)
		}
		cell := l.c.Cell(in.Dst)
		l.known[in.Dst], cell.Value = cell.Gen(), 1 // so that its end is told
	}
	switch {
	case l.leading:
		l.lead = append(l.lead, did)
		return
	case l.at >= len(l.lead):
		l.differs = fmt.Sprintf("after the first one's end %v", fields(&did))
	case l.lead[l.at] != did:
		l.differs = fmt.Sprintf("instruction %d: %v, the first one's %v", l.at, fields(&did), fields(&l.lead[l.at]))
	}
	l.at++
	if l.differs != "" {
		l.c.Abandon()
	}
}

// reads is an operand's cell, if anything has filled it.
func (l *listener) reads(i int32) int32 {
	if i == tl.None || int(i) >= len(l.known) || l.known[i] != l.c.Cell(i).Gen() {
		return tl.None
	}
	return i
}

// fields are those of an instruction that are not zero.
func fields(in *tl.Instr) string {
	s := in.Op.String()
	v := reflect.ValueOf(*in)
	for i := 1; i < v.NumField(); i++ {
		if !v.Field(i).IsZero() {
			s += fmt.Sprintf(" %s=%v", v.Type().Field(i).Name, v.Field(i))
		}
	}
	return s
}

// differs says what some rank does that the first one of its kind does not.
func (s *scene) differs(a *algorithm.Algorithm, g *tl.Group) string {
	kinds := g.Kinds
	if kinds == nil {
		kinds = make([]int32, len(g.PEs))
	}
	for kind := range slices.Max(kinds) + 1 {
		if differs := s.differsIn(a, g, kinds, kind); differs != "" {
			return differs
		}
	}
	return ""
}

func (s *scene) differsIn(a *algorithm.Algorithm, g *tl.Group, kinds []int32, kind int32) string {
	l := &listener{c: &tl.Context{}}
	lead := slices.Index(kinds, kind)
	var first error
	var traffic tl.Traffic
	for r := range g.PEs {
		if kinds[r] != kind {
			continue
		}
		clear(l.known)
		l.at, l.leading = 0, r == lead
		l.c.Reset(s.setup(l, a, g, r))
		_, err := l.c.Run(a.Kernel, g.Args)
		did := l.c.Traffic()
		did.Rank = 0
		if l.leading {
			first, traffic = err, did
			continue
		}
		switch {
		case l.differs != "":
			return fmt.Sprintf("rank %d: %s", r, l.differs)
		case l.at != len(l.lead):
			return fmt.Sprintf("rank %d: ends after %d of %d instructions", r, l.at, len(l.lead))
		case (err == nil) != (first == nil):
			return fmt.Sprintf("rank %d: %v, the first one %v", r, err, first)
		case did != traffic:
			return fmt.Sprintf("rank %d: %+v, the first one %+v", r, did, traffic)
		}
	}
	return ""
}
