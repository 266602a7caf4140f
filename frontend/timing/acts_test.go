package timing

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"kernbench/frontend/plan"
)

// rounds returns a plan of several rounds in which blocks of random lengths send around a ring, and
// wait for each other. One block of each rank has no steps.
func rounds(world, rounds int, rng *rand.Rand) *plan.Plan {
	var pairs [][2]int
	for rank := range world {
		pairs = append(pairs, [2]int{rank, (rank + 1) % world}, [2]int{rank, (rank + 3) % world})
	}
	p := transfers(world, 2, 64<<10, pairs...)
	p.Cell = slices.Repeat(p.Cell, rounds)
	for c := range p.Channels {
		n := 1 + rng.IntN(4)
		for rank := range p.Ranks {
			for b := range p.Ranks[rank].Blocks {
				if s := p.Ranks[rank].Blocks[b].Steps[0]; s.Take == c || s.Send == c {
					p.Ranks[rank].Blocks[b].Steps = slices.Repeat([]plan.Step{s}, n)
				}
			}
		}
	}
	for rank := range p.Ranks {
		blocks := p.Ranks[rank].Blocks
		for b := range blocks {
			for i := range blocks[b].Steps {
				s := &blocks[b].Steps[i]
				if s.Index, s.Publish = i, true; b > 0 && s.Take != plan.None && rng.IntN(2) == 0 {
					s.After = []plan.Dep{{Block: 0, Index: rng.IntN(len(blocks[0].Steps))}}
				}
			}
		}
		p.Ranks[rank].Blocks = append(blocks, plan.Block{ID: len(blocks)})
	}
	return p
}

// turns is put, many times. Rank 1 notifies rank 0 when it may write again, and reads late.
func turns(packet bool, n int) *plan.Plan {
	p := put(packet, 4096)
	p.Counters = []plan.Counter{{Rank: 1}, {Rank: 0}}
	write, read := &p.Ranks[0].Blocks[0], &p.Ranks[1].Blocks[0]
	read.Steps[0].Signal = []plan.Count{{Counter: 1, N: 1}}
	write.Steps, read.Steps = slices.Repeat(write.Steps, n), slices.Repeat(read.Steps, n)
	for i := range n {
		write.Steps[i].Launch, read.Steps[i].Launch = i, i
		if i > 0 {
			write.Steps[i].Wait = []plan.Count{{Counter: 1, N: 1}}
		}
	}
	late := plan.Step{Op: "copy", Take: plan.None, Send: plan.None, Duration: 100_000_000}
	for i := n - 1; i >= 0; i-- {
		read.Steps = slices.Insert(read.Steps, i, late, late)
	}
	return p
}

// Windows change nothing of a result, whatever they hold.
func TestWindows(t *testing.T) {
	m := preset(t, "mi300x-8")
	rng := rand.New(rand.NewPCG(1, 2))
	var plans []*plan.Plan
	for range 4 {
		plans = append(plans, rounds(8, 5, rng))
	}
	plans = append(plans, turns(true, 40), turns(false, 40), transfers(8, 2, 1<<20, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 1}, [2]int{5, 1}))
	for i, p := range plans {
		for _, d := range []Detail{{Rows: 5, Rank: plan.None}, {Rows: 50, Rank: 1}} {
			want, err := Explain(p, m, Defaults(plan.Simple), d)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int32{1, 2, 7, 60, 500} {
				window = n
				got, err := Explain(p, m, Defaults(plan.Simple), d)
				window = 1 << 20
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("plan %d, windows of %d: %+v %v, want %+v", i, n, got, err, want)
				}
			}
		}
	}
}

// A run of many rounds keeps the acts of a window, and the flags of the rounds that blocks are in.
func TestMemoryIsThatOfSteps(t *testing.T) {
	m := preset(t, "mi300x-8")
	defer func(n int32) { window = n }(window)
	window = 1000
	p := rounds(8, 300, rand.New(rand.NewPCG(3, 4)))
	r := newRun(p, m, Defaults(plan.Simple))
	r.rank = plan.None
	for b := range r.blocks {
		r.begin(int32(b))
	}
	windows := r.all()
	if n := int(r.acts.made / window); len(windows) < n-1 || len(windows) > n {
		t.Errorf("%d acts in %d windows of %d", r.acts.made, len(windows)+1, window)
	}
	chain := path{r, windows}
	for at := r.acts.last; at != none; at = chain.act(at).before {
		kept := 0
		for _, w := range append(windows, r) {
			kept += len(w.acts.kept)
		}
		if most := 4 * int(window); kept > most {
			t.Fatalf("%d acts are kept, want at most %d", kept, most)
		}
	}
	for i := range r.blocks {
		if n := len(r.blocks[i].flags); n > 5*len(r.blocks[i].steps) {
			t.Errorf("block %d has %d steps and %d flags", i, len(r.blocks[i].steps), n)
		}
	}
}
