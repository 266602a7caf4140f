package tl

import (
	"reflect"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
)

// anyGroup is a group on some PEs, of which each has its tensor in the same place. Its virtual addresses begin with one.
func anyGroup(t *testing.T, l *Launch, va mem.Addr, pes ...int32) Group {
	t.Helper()
	n := int32(len(pes))
	g := Group{PEs: pes, PEsPerCube: 2, Kinds: make([]int32, n), Args: Args{
		Op: Max, DType: dtype.F32, NElem: 8, Tensors: []Ref{{Shape: Dims(3)}}, Ints: []int{4}, ChunkBytes: 64, LatencyBytes: 5, Levels: []int{2},
		InBlocks: mem.Chunked(8, 2), OutBlocks: mem.Chunked(8, 2),
	}}
	for r := range n {
		at := va + mem.Addr(r)*128
		put(t, l, at, mem.At(mem.HBM, int(pes[r]), 4096))
		put(t, l, at+64, mem.At(mem.HBM, int(pes[r]), 8192))
		g.Args.Shards, g.Args.Outs, g.Args.OutElems = append(g.Args.Shards, at), append(g.Args.Outs, at+64), append(g.Args.OutElems, 8)
		g.Wiring = append(g.Wiring, Wiring{Out: []OutPort{{(r + 1) % n, East, 0}}, In: []InPort{{(r + n - 1) % n, West, 0}}})
	}
	return g
}

// put has virtual addresses stand for some memory, and no longer for another.
func put(t *testing.T, l *Launch, va, at mem.Addr) {
	t.Helper()
	l.Addrs.Remove(va, va+1)
	if err := l.Addrs.Insert(mem.Extent{VA: va, Bytes: 64, PA: at}); err != nil {
		t.Fatal(err)
	}
}

// TestLike: nothing that a kernel could go by may differ, but for the PEs.
func TestLike(t *testing.T) {
	here := func(g *Group, r int, off int64) mem.Addr { return mem.At(mem.HBM, int(g.PEs[r]), off) }
	for name, change := range map[string]func(l *Launch, g *Group){
		"rank":                    func(_ *Launch, g *Group) { g.PEs = g.PEs[:3] },
		"PEs of a cube":           func(_ *Launch, g *Group) { g.PEsPerCube = 1 },
		"kinds":                   func(_ *Launch, g *Group) { g.Kinds[2] = 1 },
		"no kinds":                func(_ *Launch, g *Group) { g.Kinds = nil },
		"direction":               func(_ *Launch, g *Group) { g.Wiring[3].Out[0].Dir = South },
		"peer":                    func(_ *Launch, g *Group) { g.Wiring[3].In[0].Peer = 1 },
		"ring more":               func(_ *Launch, g *Group) { g.Wiring[0].In = append(g.Wiring[0].In, InPort{}) },
		"no result":               func(_ *Launch, g *Group) { g.Args.Outs = nil },
		"no blocks":               func(_ *Launch, g *Group) { g.Args.InBlocks = nil },
		"block":                   func(_ *Launch, g *Group) { g.Args.OutBlocks[1].N = 1 },
		"place in memory":         func(l *Launch, g *Group) { put(t, l, g.Args.Shards[3], here(g, 3, 4096+64)) },
		"place of a result":       func(l *Launch, g *Group) { put(t, l, g.Args.Outs[3], here(g, 3, 8192+64)) },
		"memory":                  func(l *Launch, g *Group) { put(t, l, g.Args.Shards[3], mem.At(mem.TCM, int(g.PEs[3]), 4096)) },
		"room":                    func(l *Launch, g *Group) { g.Args.Shards[1] = here(g, 1, 4096); g.Args.Outs[1] = g.Args.Shards[1] + 64 },
		"distance":                func(l *Launch, g *Group) { put(t, l, 1<<30, here(g, 3, 8192)); g.Args.Outs[3] = 1 << 30 },
		"nothing there":           func(l *Launch, g *Group) { l.Addrs.Remove(g.Args.Outs[2], g.Args.Outs[2]+1) },
		"memory of the neighbour": func(l *Launch, g *Group) { put(t, l, g.Args.Shards[1], here(g, 0, 4096)) },
	} {
		l := &Launch{Addrs: &mem.Map{}}
		a, b := anyGroup(t, l, 0, 0, 1, 2, 3), anyGroup(t, l, 1<<20, 8, 5, 7, 6)
		if !l.Like(&a, &b) || !l.Like(&b, &a) {
			t.Fatal("groups that differ in nothing but their PEs")
		}
		if change(l, &b); l.Like(&a, &b) || l.Like(&b, &a) {
			t.Errorf("another %s, and they are alike", name)
		}
	}
}

// TestLikeArgs: of the arguments everything counts, and what is to come will.
func TestLikeArgs(t *testing.T) {
	for i := range reflect.TypeFor[Args]().NumField() {
		l := &Launch{Addrs: &mem.Map{}}
		a, b := anyGroup(t, l, 0, 0, 1), anyGroup(t, l, 1<<20, 2, 3)
		switch v := reflect.ValueOf(&b.Args).Elem().Field(i); v.Kind() {
		case reflect.Slice:
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			} else {
				v.Set(v.Slice(0, v.Len()-1))
			}
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		default:
			v.SetUint(v.Uint() + 1)
		}
		if l.Like(&a, &b) || l.Like(&b, &a) {
			t.Errorf("another %s, and they are alike", reflect.TypeFor[Args]().Field(i).Name)
		}
	}
}
