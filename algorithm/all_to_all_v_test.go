package algorithm_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	_ "kernbench/internal/fewcollections"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// exchanges describes consecutive all-to-all calls on one window, with blocks of different lengths.
type exchanges struct {
	kernel tl.Kernel
	counts [][][]int // by call: elements from rank (row) to rank (column)
	slot   int       // elements
	pieces [][]int   // Args.Ints of each part of a call; nil: one part
}

// blocks returns the blocks that a rank sends in a call, or receives, by peer. Two elements lie
// between blocks. The blocks of a call follow those of earlier calls.
func (x *exchanges) blocks(call, rank int, sends bool) []mem.Chunk {
	var bs []mem.Chunk
	lo := 0
	for k := range call + 1 {
		bs = bs[:0]
		for peer := range x.counts[k] {
			n := x.counts[k][peer][rank]
			if sends {
				n = x.counts[k][rank][peer]
			}
			bs = append(bs, mem.Chunk{Lo: lo, N: n})
			lo += n + 2
		}
	}
	return bs
}

// run makes the calls under the schedule of a seed. It returns an error for a wrong result or a
// hazard.
func (x *exchanges) run(t *testing.T, seed uint64) error {
	t.Helper()
	world, last, total := len(x.counts[0]), len(x.counts)-1, 0
	for r := range world {
		for _, sends := range []bool{true, false} {
			b := x.blocks(last, r, sends)[world-1]
			total = max(total, b.Lo+b.N)
		}
	}
	layout, err := algorithm.WindowAllToAllV.Window(world, x.slot*world, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	value := func(call, from, to, i int) float64 { return float64(((call*world+from)*world+to)*1000 + i) }
	in := filled(world, total, func(int, int) float64 { return -1 })
	outs := make([]int, world)
	for r := range world {
		outs[r] = total
		for call := range x.counts {
			for d, b := range x.blocks(call, r, true) {
				for i := range b.N {
					in[r][b.Lo+i] = value(call, r, d, i)
				}
			}
		}
	}
	kernel := func(c *tl.Context, a tl.Args) {
		a.Uses = make([]int, 2*world)
		pieces := x.pieces
		if pieces == nil {
			pieces = [][]int{nil}
		}
		for call := range x.counts {
			a.InBlocks, a.OutBlocks = x.blocks(call, c.Rank(), true), x.blocks(call, c.Rank(), false)
			for _, piece := range pieces {
				a.Ints = piece
				x.kernel(c, a)
				c.Quiet()
				c.PipeBarrier()
			}
		}
	}
	got, rep, err := kerneltest.Races(kernel, kerneltest.Config{
		Topology: "none", Inputs: in, DType: dtype.I32, Layout: layout, OutElems: outs, Seed: seed,
	})
	if err != nil {
		return err
	}
	if rep.Total > 0 || rep.Unsettled {
		return fmt.Errorf("%d hazards, unsettled %v: %v", rep.Total, rep.Unsettled, rep)
	}
	for call := range x.counts {
		for r := range world {
			for s, b := range x.blocks(call, r, false) {
				for i := range b.N {
					if v, want := got[r][b.Lo+i], value(call, s, r, i); v != want {
						return fmt.Errorf("call %d, rank %d: element %d from rank %d is %v, want %v", call, r, i, s, v, want)
					}
				}
			}
		}
	}
	return nil
}

// matrices returns counts for a world of ranks, by name. Counts are equal, zero or random. In
// "huge" the last rank sends the first one far more than a slot; in "none to rank 0" that rank
// receives nothing.
func matrices(world int, rng *rand.Rand) map[string][][]int {
	fill := func(f func(r, d int) int) [][]int {
		m := make([][]int, world)
		for r := range m {
			m[r] = make([]int, world)
			for d := range m[r] {
				m[r][d] = f(r, d)
			}
		}
		return m
	}
	random := func(r, d int) int { return rng.IntN(3) * rng.IntN(12) }
	return map[string][][]int{
		"equal":          fill(func(int, int) int { return 5 }),
		"none":           fill(func(int, int) int { return 0 }),
		"huge":           fill(func(r, d int) int { return 200 * tl.CDiv(max(0, r-d-world+2), world) }), // from the last to the first
		"none to rank 0": fill(func(r, d int) int { return 4 * min(1, d) }),
		"random":         fill(random),
		"another":        fill(random),
	}
}

// variants returns the variants of an exchange of a world of ranks, by name.
func variants(world int) map[string]exchanges {
	all := map[string]exchanges{
		"at once":  {kernel: algorithm.WindowAllToAllV.Kernel},
		"pairwise": {kernel: algorithm.WindowAllToAllVPairwise.Kernel},
	}
	for servers := 1; servers <= world; servers++ {
		if world%servers != 0 {
			continue
		}
		one := exchanges{kernel: algorithm.WindowAllToAllVPairwise.Kernel}
		two := one
		for k := range servers {
			one.pieces = append(one.pieces, []int{k, 1, world / servers})
		}
		two.pieces = [][]int{{0, servers / 2, world / servers}, {servers / 2, servers - servers/2, world / servers}}
		all[fmt.Sprintf("%d servers, step by step", servers)] = one
		all[fmt.Sprintf("%d servers, in two parts", servers)] = two
	}
	return all
}

// For all counts every element arrives once, no rank waits forever, and no slot is filled before it
// is empty. All calls use one window.
func TestAllToAllV(t *testing.T) {
	for _, world := range []int{1, 2, 3, 4, 6} {
		rng := rand.New(rand.NewPCG(uint64(world), 7))
		for name, x := range variants(world) {
			ms := matrices(world, rng)
			t.Run(fmt.Sprintf("%d/%s", world, name), func(t *testing.T) {
				t.Parallel()
				x.slot = 3
				x.counts = [][][]int{ms["random"], ms["none"], ms["huge"], ms["equal"], ms["another"], ms["none to rank 0"], ms["random"]}
				for seed := range uint64(4) {
					if err := x.run(t, seed); err != nil {
						t.Fatalf("schedule %d: %v", seed, err)
					}
				}
			})
		}
	}
}

// A slot may hold one element, or more than the largest block.
func TestAllToAllVSlots(t *testing.T) {
	for name, x := range variants(4) {
		x.counts = [][][]int{matrices(4, rand.New(rand.NewPCG(1, 1)))["random"]}
		for _, x.slot = range []int{1, 2, 30} {
			if err := x.run(t, 5); err != nil {
				t.Errorf("%s, slots of %d elements: %v", name, x.slot, err)
			}
		}
	}
}

// The bytes written are the demand of the collective. Each chunk has one put, one notification and
// one credit.
func TestAllToAllVTraffic(t *testing.T) {
	const world, slot = 5, 4
	counts := matrices(world, rand.New(rand.NewPCG(3, 3)))["random"]
	call := collective.Call{World: world, Type: dtype.I32, Counts: counts}
	layout, err := algorithm.WindowAllToAllV.Window(world, slot*world, dtype.I32)
	if err != nil {
		t.Fatal(err)
	}
	outs := make([]int, world)
	for r := range outs {
		outs[r] = collective.AllToAllV.Out(call, r)
	}
	for _, a := range []*algorithm.Algorithm{algorithm.WindowAllToAllV, algorithm.WindowAllToAllVPairwise} {
		kernel := func(c *tl.Context, args tl.Args) {
			lo, hi := 0, 0
			for peer := range world {
				in, out := counts[c.Rank()][peer], counts[peer][c.Rank()]
				args.InBlocks = append(args.InBlocks, mem.Chunk{Lo: lo, N: in})
				args.OutBlocks = append(args.OutBlocks, mem.Chunk{Lo: hi, N: out})
				lo, hi = lo+in, hi+out
			}
			a.Kernel(c, args)
		}
		out, err := kerneltest.Observe(t.Context(), kernel, kerneltest.Config{
			Topology: "none", DType: dtype.I32, Layout: layout, OutElems: outs, Seed: 1,
			Inputs: filled(world, 100, func(int, int) float64 { return 1 }),
		})
		if err != nil {
			t.Fatal(err)
		}
		written := int64(0)
		for r, got := range out.Result.Traffic {
			want := tl.Traffic{Rank: r}
			for peer := range world {
				if peer == r {
					continue
				}
				sends, gets := counts[r][peer], counts[peer][r]
				want.Written += int64(4 * sends)
				want.Puts += int64(tl.CDiv(sends, slot))
				want.Notifies += int64(tl.CDiv(sends, slot) + tl.CDiv(gets, slot))
				want.Waits += int64(max(0, tl.CDiv(sends, slot)-1) + tl.CDiv(gets, slot))
			}
			written += want.Written
			if got != want {
				t.Errorf("%s: rank %d: traffic %+v, want %+v", a.Name, r, got, want)
			}
		}
		if want := int64(collective.AllToAllV.Demand(call)); written != want {
			t.Errorf("%s: %d bytes written, want %d, the demand of the collective", a.Name, written, want)
		}
	}
}

func TestAllToAllVRefusals(t *testing.T) {
	small, err := mem.NewLayout(0, []mem.Buffer{{Name: "scratch", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, 3), mem.SignalPart("signals", mem.Int32, 32),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	layout, err := algorithm.WindowAllToAllVPairwise.Window(4, 8, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		layout *mem.Layout
		ints   []int
		want   string
	}{
		{"no slot for each rank", small, nil, "a window of 3 elements for 4 ranks"},
		{"ranks per server do not divide the ranks", layout, []int{0, 1, 3}, "servers of 3 ranks among 4"},
		{"servers without ranks", layout, []int{0, 1, 0}, "servers of 0 ranks"},
		{"more steps than there are", layout, []int{1, 4}, "4 steps from step 1 on: the steps are 0 to 3"},
		{"more steps than servers", layout, []int{2, 1, 2}, "1 steps from step 2 on: the steps are 0 to 1"},
		{"steps before the first", layout, []int{-1, 2}, "2 steps from step -1 on"},
		{"a negative number of steps", layout, []int{2, -1}, "-1 steps from step 2 on"},
	} {
		_, err := kerneltest.Try(algorithm.WindowAllToAllVPairwise.Kernel, kerneltest.Config{
			Topology: "none", Inputs: numbered(4, 8), OutElems: []int{8, 8, 8, 8}, Layout: tt.layout, Args: tt.ints,
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want it to contain %q", tt.name, err, tt.want)
		}
	}
}
