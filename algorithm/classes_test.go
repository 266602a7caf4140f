package algorithm_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// launch returns a launch of one group.
func (s *scene) launch(a *algorithm.Algorithm, g launch.Group) *launch.Launch {
	return &launch.Launch{
		Name: a.Name, Kernel: a.Kernel, Groups: []launch.Group{g}, Addrs: &mem.Map{}, Scratch: s.scratch,
		Ring: tl.Ring{Slots: s.slots, SlotBytes: s.slotBytes, Space: mem.TCM, Strict: true},
	}
}

// record returns the program of a launch as replay needs it, or nil if a kernel fails or cannot be
// recorded.
func record(t *testing.T, l *launch.Launch) *program.Program {
	t.Helper()
	p, err := program.RecordLaunch(t.Context(), l, program.Options{Own: unit.Bytes(mem.MaxOffset), Places: true})
	if errors.Is(err, program.ErrBudget) {
		t.Fatal(l.Name, err)
	}
	return p
}

// recordable reports whether an algorithm can be replayed in a world of 8 ranks.
func recordable(t *testing.T, a *algorithm.Algorithm) bool {
	t.Helper()
	s := scene{world: 8, w: 4, n: 64, typ: dtype.F32, slots: 4, slotBytes: 512, scratch: 1 << 20, place: apart, levels: []int{4}}
	g, ok := s.group(t, a)
	return ok && record(t, s.launch(a, g)) != nil
}

// TestRecordable: all algorithms without a window can be replayed, except three, which receive into
// memory. Those with a window cannot, except five that use only their own part of it.
func TestRecordable(t *testing.T) {
	receive := []*algorithm.Algorithm{algorithm.HypercubeExchange, algorithm.RecursiveDoublingAllGather,
		algorithm.ScatterAllGatherBroadcast}
	own := []*algorithm.Algorithm{
		algorithm.BucketReduceScatter, algorithm.MeshReduceScatter,
		algorithm.MultiRingReduceScatter, algorithm.RecursiveHalvingReduceScatter,
		algorithm.TorusReduceScatter,
	}
	for _, a := range algorithm.All() {
		want := a.Window == nil && !slices.Contains(receive, a) || slices.Contains(own, a)
		if got := recordable(t, a); got != want {
			t.Errorf("%s: recordable %v, want %v", a.Name, got, want)
		}
	}
}

// TestFewClasses: the ranks of a large world form few classes if chunks are equal. Unequal chunks
// need more classes.
func TestFewClasses(t *testing.T) {
	const world = 256
	for _, tt := range []struct {
		name string
		want [3]int // of 4096, 1280 and 10007 elements
	}{
		{"ring_allreduce_chunked", [3]int{1, 1, world}},
		{"bidirectional_ring_allreduce", [3]int{1, world, world}},
		{"recursive_doubling_allreduce", [3]int{1, 1, 1}},
		{"halving_doubling_allreduce", [3]int{1, 1, 32}},
		{"swing_allreduce", [3]int{1, 2, 134}},
		{"torus_allreduce", [3]int{1, 1, world}},
		{"hierarchical_ring_allreduce", [3]int{1, 4, world}},
		{"hierarchical_pipelined_allreduce", [3]int{4, 23, 235}},
		{"tree_allreduce", [3]int{4, 4, 4}},
		{"mesh_allreduce", [3]int{4, 4, 4}},
	} {
		a, err := algorithm.Lookup(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		var got [3]int
		for i, n := range []int{4096, 1280, 10007} {
			s := scene{world: world, w: 16, n: n, typ: dtype.F16, slots: 4, slotBytes: 4096, scratch: 1 << 20,
				place: apart, levels: []int{8, 8}}
			g, ok := s.group(t, a)
			if !ok {
				t.Fatalf("%s: no rings", a.Name)
			}
			got[i] = len(record(t, s.launch(a, g)).Records)
		}
		if got != tt.want {
			t.Errorf("%s: %v classes, want %v", a.Name, got, tt.want)
		}
	}
}

// TestClassesOfScenes: for random launches, the record of each rank equals the instructions that
// its kernel issues alone.
func TestClassesOfScenes(t *testing.T) {
	scenes := 5
	if exhaustive.On() {
		scenes = 20
	}
	for _, a := range algorithm.All() {
		rng := rand.New(rand.NewPCG(7, uint64(len(a.Name))))
		for range scenes {
			s := anyScene(rng, a)
			if g, ok := s.group(t, a); ok {
				if d := s.differs(t, a, g); d != "" {
					t.Errorf("%s %+v: %s", a.Name, s, d)
				}
			}
		}
	}
}

// listener is a Core that completes each instruction immediately and stores it.
type listener struct {
	idle
	c   *tl.Context
	all []tl.Instr
}

func (l *listener) Do(in *tl.Instr) {
	l.idle.Do(in)
	if in.Op == tl.OpDrop {
		return
	}
	did := *in
	did.GotPort, did.GotN, did.GotShape, did.GotType = 0, 0, tl.Shape{}, dtype.Invalid
	for _, operand := range []*int32{&did.A, &did.B, &did.C} {
		if *operand != tl.None && !tl.DriverOf(l.c).Cell(*operand).Filled {
			*operand = tl.None
		}
	}
	if did.Dst != tl.None {
		tl.DriverOf(l.c).Cell(did.Dst).Filled = true
	}
	l.all = append(l.all, did)
}

// differs describes the first difference between a rank's record and the instructions that its
// kernel issues alone. It returns "" if there is none.
func (s *scene) differs(t *testing.T, a *algorithm.Algorithm, g launch.Group) string {
	p := record(t, s.launch(a, g))
	if p == nil {
		return ""
	}
	for rank := range g.PEs {
		l := &listener{c: &tl.Context{}}
		tl.DriverOf(l.c).Reset(s.setup(l, &g, rank))
		if _, err := tl.DriverOf(l.c).Run(a.Kernel, g.Args); err != nil {
			return fmt.Sprintf("rank %d: the launch was recorded, but the kernel alone fails: %v", rank, err)
		}
		b := &p.Blocks[rank]
		k := &p.Records[b.Record]
		if len(k.Ops) != len(l.all)+1 || k.Ops[len(l.all)].Code != program.End {
			return fmt.Sprintf("rank %d: %d operations recorded, %d issued alone", rank, len(k.Ops)-1, len(l.all))
		}
		if traffic := tl.DriverOf(l.c).Traffic(); k.Traffic.Sent != traffic.Sent {
			return fmt.Sprintf("rank %d: %d bytes sent as recorded, %d sent alone", rank, k.Traffic.Sent, traffic.Sent)
		}
		addrs, offs, at, operand := program.Read(b.Places.Addrs), program.Read(b.Places.Offs), 0, 0
		for i := range l.all {
			in := p.Instr(&k.Ops[i])
			if k.Ops[i].Accesses() {
				in.Addr = mem.At(mem.HBM, rank, 0) + k.Base[at] + mem.Addr(addrs.Next())
				at++
			}
			for _, o := range []struct {
				tensor int32
				off    *int32
			}{{in.A, &in.AOff}, {in.B, &in.BOff}} {
				if o.tensor != tl.None {
					*o.off = k.Offs[operand] + int32(offs.Next())
					operand++
				}
			}
			if want := l.all[i]; !same(&in, &want) {
				return fmt.Sprintf("rank %d, operation %d: recorded\n%+v\nissued alone\n%+v", rank, i, in, want)
			}
		}
	}
	return ""
}

// same reports whether a recorded instruction equals one that a kernel issued.
func same(in, want *tl.Instr) bool {
	w := *want
	if w.A == tl.None {
		w.AOff = 0
	}
	if w.B == tl.None {
		w.BOff = 0
	}
	if in.Piece > 0 && w.Piece > 0 {
		w.Piece = in.Piece // a record distinguishes only the first piece from the others
	}
	w.Pieces = max(1, w.Pieces)
	return *in == w
}
