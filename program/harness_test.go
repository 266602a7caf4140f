package program_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// ring returns a launch of a kernel on a ring, whose ranks run on PEs of other numbers. Each has a
// shard of 64 elements, at an address of its own, and virtual memory of three extents.
func ring(world int, k tl.Kernel) *launch.Launch {
	g := launch.Group{PEsPerCube: 4, Args: tl.Args{DType: dtype.F16, NElem: 64}}
	addrs := &mem.Map{}
	for r := range int32(world) {
		n := int32(world)
		g.PEs = append(g.PEs, peOf(int(r)))
		g.Args.Shards = append(g.Args.Shards, shardOf(int(r)))
		east, west := (r+1)%n, (r+n-1)%n
		g.Wiring = append(g.Wiring, tl.Wiring{
			Out: []tl.OutPort{{Peer: east, Dir: tl.East, PeerIn: 1}, {Peer: west, Dir: tl.West, PeerIn: 0}},
			In:  []tl.InPort{{Peer: east, Dir: tl.East, PeerOut: 1}, {Peer: west, Dir: tl.West, PeerOut: 0}},
		})
		for i := range int64(3) {
			e := mem.Extent{VA: virtual(int(r)) + mem.Addr(64*i), Bytes: 64, PA: mem.At(mem.HBM, int(peOf(int(r))), 1<<20+i<<12)}
			if err := addrs.Insert(e); err != nil {
				panic(err)
			}
		}
	}
	return &launch.Launch{
		Name: "test", Kernel: k, Groups: []launch.Group{g}, Addrs: addrs, Scratch: 1 << 16,
		Ring: tl.Ring{Slots: 4, SlotBytes: 64, Space: mem.TCM, Strict: true},
	}
}

func peOf(rank int) int32 { return int32(3*rank + 2) }

func shardOf(rank int) mem.Addr { return mem.At(mem.HBM, int(peOf(rank)), int64(rank%3)<<8) }

func virtual(rank int) mem.Addr { return mem.At(mem.Virtual, 0, int64(rank)<<12) }

// own is the memory that replay allows: that of the PE alone.
const own = unit.Bytes(4 << 20)

// record records a launch whose kernels do not fail.
func record(t testing.TB, l *launch.Launch, o program.Options) *program.Program {
	t.Helper()
	p, err := program.RecordLaunch(t.Context(), l, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// listener is a Core on which everything is done at once, and written down: a recording of one
// rank that compares it with no other.
type listener struct {
	c   *tl.Context
	all []tl.Instr
}

func (l *listener) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		return
	}
	if in.Op == tl.OpRecv {
		in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
	}
	did := *in
	did.GotPort, did.GotN, did.GotShape, did.GotType = 0, 0, tl.Shape{}, dtype.Invalid
	for _, operand := range []struct {
		tensor *int32
		off    *int32
	}{{&did.A, &did.AOff}, {&did.B, &did.BOff}, {&did.C, &did.COff}} {
		if *operand.tensor != tl.None && !tl.DriverOf(l.c).Cell(*operand.tensor).Filled {
			*operand.tensor, *operand.off = tl.None, 0 // no operation has filled it
		}
	}
	if did.Dst != tl.None {
		tl.DriverOf(l.c).Cell(did.Dst).Filled = true
	}
	if did.Op == tl.OpSend && did.N == 0 {
		did.Addr = 0 // it is not accessed
	}
	if did.Pieces = max(1, did.Pieces); did.Piece > 0 {
		did.Piece = 1 // a program tells the first one from the others
	}
	if did.Side != nil {
		side := *did.Side
		did.Side = &side
	}
	l.all = append(l.all, did)
}

// alone returns what rank i of a group issues, and its traffic.
func alone(t testing.TB, l *launch.Launch, g *launch.Group, i int) ([]tl.Instr, tl.Traffic) {
	t.Helper()
	core := &listener{}
	core.c = tl.NewContext(tl.Setup{
		Core: core, Rank: i, World: len(g.PEs), PE: int(g.PEs[i]), PEsPerCube: g.PEsPerCube, Wiring: &g.Wiring[i],
		Ring: &l.Ring, Addrs: l.Addrs, Scratch: l.Scratch,
	})
	if _, err := tl.DriverOf(core.c).Run(l.Kernel, g.Args.Fresh()); err != nil {
		t.Fatal(err)
	}
	traffic := tl.DriverOf(core.c).Traffic()
	traffic.Rank = 0
	return core.all, traffic
}

// differs returns what some rank issues alone, and its block does not, or "".
func differs(t testing.TB, l *launch.Launch, p *program.Program) string {
	t.Helper()
	rank := 0
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i := range g.PEs {
			want, traffic := alone(t, l, g, i)
			b := &p.Blocks[rank]
			k := &p.Records[b.Record]
			got := slices.Collect(p.Instrs(b, int(g.PEs[i])))
			if int(b.Rank) != rank || k.Ops[len(k.Ops)-1].Code != program.End {
				return fmt.Sprintf("rank %d: block of rank %d, which ends with %v", rank, b.Rank, k.Ops[len(k.Ops)-1])
			}
			for j := range min(len(got), len(want)) {
				if !equal(&got[j], &want[j]) {
					return fmt.Sprintf("rank %d, operation %d:\n%s\nalone\n%s", rank, j, fields(&got[j]), fields(&want[j]))
				}
			}
			if len(got) != len(want) {
				return fmt.Sprintf("rank %d: %d operations, alone %d", rank, len(got), len(want))
			}
			if k.Traffic != traffic {
				return fmt.Sprintf("rank %d: traffic %+v, alone %+v", rank, k.Traffic, traffic)
			}
			rank++
		}
	}
	if len(p.Blocks) != rank {
		return fmt.Sprintf("%d blocks of %d ranks", len(p.Blocks), rank)
	}
	return ""
}

// equal compares two instructions to the bit.
func equal(a, b *tl.Instr) bool {
	x, y := *a, *b
	if x.Side != nil && y.Side != nil {
		if fmt.Sprintf("%+v", *x.Side) != fmt.Sprintf("%+v", *y.Side) {
			return false
		}
		x.Side, y.Side = nil, nil
	}
	return x.Side == y.Side && fmt.Sprintf("%+v", x) == fmt.Sprintf("%+v", y) // NaN is NaN, and -0 is not 0
}

// fields returns those of an instruction that are set.
func fields(in *tl.Instr) string {
	s := in.Op.String()
	v := reflect.ValueOf(*in)
	for i := 1; i < v.NumField(); i++ {
		if text := fmt.Sprint(v.Field(i)); text != fmt.Sprint(reflect.Zero(v.Field(i).Type())) {
			s += fmt.Sprintf(" %s=%s", v.Type().Field(i).Name, text)
		}
	}
	return s
}

// classes returns the numbers of the records of all ranks.
func classes(p *program.Program) []int32 {
	var all []int32
	for i := range p.Blocks {
		all = append(all, p.Blocks[i].Record)
	}
	return all
}
