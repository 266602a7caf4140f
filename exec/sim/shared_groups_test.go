package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
)

// sideBySide is one launch of the groups of several, each on PEs of its own, taken from a list in turn.
func sideBySide(pes []int32, all ...*bench) *bench {
	b := *all[0]
	l := *b.launch
	b.launch, l.Groups = &l, nil
	for _, o := range all {
		g := o.launch.Groups[0]
		g.PEs, pes = pes[:len(g.PEs)], pes[len(g.PEs):]
		moved := func(all []mem.Addr) (to []mem.Addr) {
			for r, a := range all {
				to = append(to, mem.At(mem.HBM, int(g.PEs[r]), a.Offset()))
			}
			return to
		}
		g.Args.Shards, g.Args.Outs = moved(g.Args.Shards), moved(g.Args.Outs)
		l.Groups = append(l.Groups, g)
	}
	return &b
}

func inTurn(n int) []int32 {
	pes := make([]int32, n)
	for i := range pes {
		pes[i] = int32(i)
	}
	return pes
}

// TestSharedGroups: launches of many groups, of few of which others are like, take as long as if each rank were recorded.
func TestSharedGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	shared := 0
	for _, a := range onRings() {
		if a.Alike == nil || a.Window != nil {
			continue
		}
		for range 4 {
			var all []*bench
			forms := []setup{{world: 8, n: 64}, {world: 8, n: 64}, {world: 8, n: 72}, {world: 4, n: 64}, {world: 2, n: 32}, {world: 16, n: 32}}
			forms = slices.Repeat(forms[rng.IntN(2):][:1+rng.IntN(len(forms)-1)], 8)
			for left := 128; len(forms) > 0 && left >= forms[0].world; forms = forms[1:] {
				s := forms[0]
				if s.slots = max(4, a.MinSlots); a.Check != nil && a.Check(s.world, s.n) != nil {
					continue
				}
				all = append(all, libraryBench(t, a, s))
				left -= s.world
			}
			if len(all) == 0 {
				continue
			}
			pes := inTurn(128)
			if rng.IntN(2) == 0 {
				rng.Shuffle(len(pes), func(i, k int) { pes[i], pes[k] = pes[k], pes[i] })
			}
			for _, o := range []sim.Options{{Fidelity: noc.Ideal}, {Fidelity: noc.Slot, SecondCore: true}} {
				var said [2]string
				var runs [2]atomic.Int32
				for i := range said {
					b := sideBySide(pes, all...)
					b.launch.Kernel = counted(b.launch.Kernel, &runs[i])
					b.launch.Alike = i == 1 && a.IsAlike(b.launch.Groups)
					res, err := b.run(o)
					if err != nil {
						t.Fatal(a.Name, err)
					}
					said[i] = fmt.Sprint(res.Start, res.End, res.Messages, res.Bytes, res.Events, res.Traffic)
				}
				if said[0] != said[1] {
					t.Errorf("%s, %d groups, fidelity %v: %s, each rank recorded %s", a.Name, len(all), o.Fidelity, said[1], said[0])
				}
				if 3*runs[1].Load() < runs[0].Load() {
					shared++
				}
			}
		}
	}
	if shared < 20 {
		t.Errorf("records of %d launches were shared: too few to judge it by", shared)
	}
}

// pairsOf are groups of two, one after the other, whose kernels are said to be alike.
func pairsOf(t *testing.T, groups int, k tl.Kernel) *bench {
	all := make([]*bench, groups)
	for i := range all {
		all[i] = newBench(t, k, setup{world: 2, n: 8})
		all[i].launch.Groups[0].Args.Ints = []int{7}
	}
	b := sideBySide(inTurn(2*groups), all...)
	b.launch.Local, b.launch.Alike, b.launch.Sends = true, true, []tl.Dir{tl.East}
	return b
}

// exchange sends the shard of each rank to the other, so often.
func exchange(c *tl.Context, a tl.Args) {
	v := c.Load(a.Shard(c.Rank()))
	for range a.Int(0) {
		c.Send(tl.East, v)
		v = c.Recv(tl.West, v.Shape(), v.DType())
	}
}

// TestSharedGroupsOnce: groups that are told the same are recorded once, in all, but for a few ranks to compare with.
func TestSharedGroupsOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		groups int
		change func(gs []tl.Group)
		want   int32
	}{
		"one pair":         {1, func([]tl.Group) {}, 2},
		"too few":          {3, func([]tl.Group) {}, 6},
		"pairs":            {60, func([]tl.Group) {}, 5},
		"two sorts":        {60, func(gs []tl.Group) { changeEach(gs, func(i int) int { return 7 + i%2 }) }, 10},
		"as many sorts":    {60, func(gs []tl.Group) { changeEach(gs, func(i int) int { return 7 + i }) }, 120},
		"two kinds":        {8, twoKinds, 5},
		"too many kinds":   {7, twoKinds, 14},
		"more than we ask": {120, func(gs []tl.Group) { changeEach(gs, func(i int) int { return 7 + i/4 }) }, 240},
	} {
		t.Run(name, func(t *testing.T) {
			var said [2]string
			for i := range said {
				var runs atomic.Int32
				b := pairsOf(t, tt.groups, counted(exchange, &runs))
				tt.change(b.launch.Groups)
				b.launch.Alike = i == 0
				res, err := b.run(sim.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if said[i] = fmt.Sprint(res.End, res.Messages, res.Traffic); i == 0 && runs.Load() != tt.want {
					t.Errorf("%d kernels were recorded, want %d", runs.Load(), tt.want)
				}
			}
			if said[0] != said[1] {
				t.Errorf("shared %s, each alone %s", said[0], said[1])
			}
		})
	}
}

func twoKinds(gs []tl.Group) {
	for i := range gs {
		gs[i].Kinds = []int32{0, 1}
	}
}

func changeEach(gs []tl.Group, to func(i int) int) {
	for i := range gs {
		gs[i].Args.Ints = []int{to(i)}
	}
}

// TestUnlikeGroup: a launch whose groups are told the same and do something else is told so.
func TestUnlikeGroup(t *testing.T) {
	pe := func(c *tl.Context, a tl.Args) int { return a.Shard(c.Rank()).Addr.Unit() }
	for name, tt := range map[string]struct {
		odd  int
		says string
	}{
		"the second": {2, "rank 0 (sip0.cube0.pe2) test t=0ns: the launch says that its ranks are alike: instruction 2 is send (f16 [8], ring 0), rank 0 of group 0 has load (0.063ns)"},
		"middle":     {21, "rank 1 (sip0.cube2.pe5) test"},
		"the last":   {39, "rank 1 (sip0.cube4.pe7) test"},
	} {
		t.Run(name, func(t *testing.T) {
			b := pairsOf(t, 20, func(c *tl.Context, a tl.Args) {
				if pe(c, a) != tt.odd {
					c.Load(a.Shard(c.Rank()))
				}
				exchange(c, a)
			})
			if _, err := b.run(sim.Options{}); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("said %v, want %s", err, tt.says)
			}
		})
	}
}

// TestSharedGroupsFault: what goes wrong in one group of many, right or wrong, is said as if each were recorded.
func TestSharedGroupsFault(t *testing.T) {
	for name, k := range map[string]tl.Kernel{
		"a panic": func(c *tl.Context, a tl.Args) { exchange(c, a); panicAt(c.Rank() == 1) },
		"a hang":  func(c *tl.Context, a tl.Args) { exchange(c, a); c.Recv(tl.West, tl.Dims(8), a.DType) },
		"left over": func(c *tl.Context, a tl.Args) {
			exchange(c, a)
			c.Send(tl.East, c.Load(a.Shard(c.Rank())))
		},
		"not in its memory": func(c *tl.Context, a tl.Args) { exchange(c, a); c.Load(a.Shard(1 - c.Rank())) },
	} {
		t.Run(name, func(t *testing.T) {
			var said [2]string
			for i := range said {
				b := pairsOf(t, 20, k)
				b.launch.Alike = i == 0
				_, err := b.run(sim.Options{})
				if err == nil {
					t.Fatal("nothing went wrong")
				}
				said[i], _, _ = strings.Cut(err.Error(), "goroutine")
			}
			if said[0] != said[1] {
				t.Errorf("shared: %s\neach alone: %s", said[0], said[1])
			}
		})
	}
}
