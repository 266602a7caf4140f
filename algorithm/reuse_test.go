package algorithm_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// series is a series of calls of one algorithm on the same ranks, on windows that alternate. Each
// call has its own part of a rank's contribution and of its result.
type series struct {
	a       *algorithm.Algorithm
	co      *collective.Collective
	world   int
	sizes   []int // elements of each call
	windows int
	apart   bool // the blocks of contributions and results are not contiguous
	levels  []int

	mu   sync.Mutex
	made map[*mem.Window][]*mem.Window
}

// gap is the distance between blocks that are not contiguous, in elements.
const gap = 3

// call returns call k.
func (x *series) call(k int) collective.Call {
	return collective.Call{World: x.world, Elems: x.sizes[k], Type: dtype.I32, Op: tl.Sum, Root: x.root(k)}
}

// root returns the root of call k. Three consecutive calls have one root, so that two of them use
// the same window.
func (x *series) root(k int) int { return k / 3 % x.world }

// blocks returns the positions of the blocks of the n elements that call k reads or writes.
func (x *series) blocks(k, n int, several bool) []mem.Chunk {
	if !several {
		return []mem.Chunk{{Lo: 0, N: n}}
	}
	bs := mem.Chunked(n, x.world)
	for j := range bs {
		if x.apart {
			bs[j].Lo = (x.world - 1 - j) * (tl.CDiv(n, x.world) + gap) // in reverse order
		}
	}
	return bs
}

func (x *series) in(k, rank int) []mem.Chunk {
	several := x.a.Collective == "reduce_scatter" || x.a.Collective == "scatter" || strings.HasPrefix(x.a.Collective, "all_to_all")
	return x.blocks(k, x.co.In(x.call(k), rank), several)
}

func (x *series) out(k, rank int) []mem.Chunk {
	several := x.a.Collective == "all_gather" || x.a.Collective == "gather" || strings.HasPrefix(x.a.Collective, "all_to_all")
	return x.blocks(k, x.co.Out(x.call(k), rank), several)
}

// reserved returns the number of elements that are reserved for a call in a contribution and in a
// result.
func (x *series) reserved(k int) int {
	c := x.call(k) // no rank has more than the root
	return x.co.Out(c, c.Root) + x.co.In(c, c.Root) + (gap+1)*x.world
}

// first returns the position of the first element of call k.
func (x *series) first(k int) int {
	lo := 0
	for i := range k {
		lo += x.reserved(i)
	}
	return lo
}

// layouts returns the layout of a call's window, and the layout of the memory of all windows.
func (x *series) layouts(t *testing.T) (one, all *mem.Layout) {
	t.Helper()
	// F32 has the size of the element type, I32.
	one, err := x.a.Window(x.world, slices.Max(x.sizes), dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	var buffers []mem.Buffer
	for i := range x.windows {
		b := mem.Buffer{Name: fmt.Sprint("w", i)}
		for _, p := range one.Parts {
			p.Name = strings.ReplaceAll(p.FullName(), ".", "_")
			p.Staging = p.Word == mem.NoWord // no kernel may read what no call has written
			b.Parts = append(b.Parts, p)
		}
		if len(b.Parts) == 0 {
			b.Parts = []mem.Part{mem.DataPart("nothing", dtype.I32, 1)}
		}
		buffers = append(buffers, b)
	}
	if all, err = mem.NewLayout(0, buffers); err != nil {
		t.Fatal(err)
	}
	return one, all
}

// window returns the window of call k, a part of the memory of all windows.
func (x *series) window(k int, one *mem.Layout, all *mem.Window) *mem.Window {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made[all] == nil {
		if x.made == nil {
			x.made = map[*mem.Window][]*mem.Window{}
		}
		per := len(all.Layout.Parts) / x.windows
		for i := range x.windows {
			x.made[all] = append(x.made[all], mem.NewWindow(fmt.Sprint("window", i), all.Team, one, all.Base+all.Layout.Parts[i*per].Off))
		}
	}
	return x.made[all][k%x.windows]
}

// kernel returns a kernel that makes all calls.
func (x *series) kernel(one *mem.Layout) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		uses := make([][]int, x.windows)
		for i := range uses {
			uses[i] = make([]int, 2*x.world)
		}
		for k := range x.sizes {
			own := a
			own.NElem, own.Ints, own.Uses, own.Levels = x.sizes[k], nil, uses[k%x.windows], x.levels
			if x.co.Rooted {
				own.Ints = []int{x.root(k)}
			}
			own.Windows = []*mem.Window{x.window(k, one, a.Windows[0])}
			own.Shards, own.Outs, own.OutElems = slices.Clone(a.Shards), slices.Clone(a.Outs), slices.Repeat([]int{x.reserved(k)}, x.world)
			for r := range x.world {
				own.Shards[r] += mem.Addr(x.first(k) * a.DType.Size())
				own.Outs[r] += mem.Addr(x.first(k) * a.DType.Size())
			}
			if in := x.in(k, c.Rank()); x.apart && len(in) == x.world {
				own.InBlocks = in
			}
			if out := x.out(k, c.Rank()); x.apart && len(out) == x.world {
				own.OutBlocks = out
			}
			x.a.Kernel(c, own)
			c.Quiet()
			c.PipeBarrier()
		}
	}
}

// at returns the position of element i of the elements in blocks.
func at(blocks []mem.Chunk, i int) int {
	for _, b := range blocks {
		if i < b.N {
			return b.Lo + i
		}
		i -= b.N
	}
	panic("no such element")
}

// value returns element i of a rank's contribution to call k.
func value(k, rank, i int) int { return 1000*k + 100*rank + i%100 + i/100*7 }

// run makes the calls under the schedule of a seed. It returns an error for a wrong value or a
// hazard.
func (x *series) run(t *testing.T, seed uint64) error {
	t.Helper()
	one, all := x.layouts(t)
	total := x.first(len(x.sizes))
	in := filled(x.world, total, func(int, int) float64 { return -1 })
	for r := range in {
		for k := range x.sizes {
			for i := range x.co.In(x.call(k), r) {
				in[r][x.first(k)+at(x.in(k, r), i)] = float64(value(k, r, i))
			}
		}
	}
	grid := someGrid(t, x.a, x.world)
	got, rep, err := kerneltest.Races(x.kernel(one), kerneltest.Config{
		Topology: x.a.Topology, W: grid.W, H: grid.H, Inputs: in, DType: dtype.I32, Layout: all,
		OutElems: slices.Repeat([]int{total}, x.world), Seed: seed,
	})
	if err != nil {
		return err
	}
	if rep.Total > 0 || rep.Unsettled {
		return fmt.Errorf("%d hazards, unsettled %v: %v", rep.Total, rep.Unsettled, rep)
	}
	for k := range x.sizes {
		for r := range x.world {
			i := 0
			for _, p := range x.co.Parts(nil, x.call(k), r) {
				for j := range p.N {
					want := 0
					for f := range p.From.N {
						want += value(k, p.From.At(f), int(p.Base)+j)
					}
					if v := got[r][x.first(k)+at(x.out(k, r), i)]; v != float64(want) {
						return fmt.Errorf("call %d: rank %d has %v for element %d, not %d", k, r, v, i, want)
					}
					i++
				}
			}
		}
	}
	return nil
}

// Calls follow one another without a barrier, on two windows that alternate, with any number of
// elements that fits. No call reads or overwrites data of another call.
func TestAlternatingWindows(t *testing.T) {
	for _, a := range overWindows() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			co, err := collective.Lookup(a.Collective)
			if err != nil {
				t.Fatal(err)
			}
			for _, world := range []int{1, 2, 3, 4, 7} {
				sizes := []int{5, 12, 1, 0, 9, 12}
				if co.Blocks {
					for i := range sizes {
						sizes[i] *= world
					}
				}
				if a.Check != nil && a.Check(world, world) != nil {
					continue
				}
				for i, apart := range []bool{false, true} {
					for seed := range uint64(5) {
						if !exhaustive.On() && (seed > 1 && world < 7 || seed%2 != uint64(i)) {
							continue
						}
						x := &series{a: a, co: co, world: world, sizes: sizes, windows: 2, apart: apart}
						if err := x.run(t, seed); err != nil {
							t.Fatalf("%d ranks, blocks apart: %v, schedule %d: %v", world, apart, seed, err)
						}
					}
				}
			}
		})
	}
}

// The same on nodes: the ranks of a node have a barrier of their own, and roots are in different
// nodes.
func TestAlternatingWindowsOnNodes(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{
		algorithm.RailAllReduce, algorithm.RailAllGather, algorithm.RailReduceScatter, algorithm.RailBroadcast,
	} {
		co, err := collective.Lookup(a.Collective)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []struct{ world, node int }{{4, 2}, {6, 2}, {6, 3}, {3, 1}} {
			sizes := []int{5 * l.world, 12 * l.world, l.world, 0, 9 * l.world, 12 * l.world, 7 * l.world, 2 * l.world}
			for _, apart := range []bool{false, true} {
				for seed := range uint64(4) {
					x := &series{a: a, co: co, world: l.world, sizes: sizes, windows: 2, apart: apart, levels: []int{l.node}}
					if err := x.run(t, seed); err != nil {
						t.Fatalf("%s: %d ranks in nodes of %d, apart: %v, schedule %d: %v", a.Name, l.world, l.node, apart, seed, err)
					}
				}
			}
		}
	}
}

// On one window a rank overwrites its contribution to the first call while others still read it.
func TestOneWindowIsNotEnough(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{
		algorithm.WindowAllGather, algorithm.WindowAllGatherRing, algorithm.WindowReduceScatter, algorithm.WindowReduceScatterRing,
		algorithm.WindowAllToAll, algorithm.WindowBroadcast, algorithm.WindowAllReduceOnePhase, algorithm.WindowAllReduceTwoPhase,
	} {
		co, err := collective.Lookup(a.Collective)
		if err != nil {
			t.Fatal(err)
		}
		x := &series{a: a, co: co, world: 3, sizes: []int{12, 12}, windows: 1}
		if err := x.run(t, 1); err == nil {
			t.Errorf("%s: no error with one window", a.Name)
		}
	}
}
