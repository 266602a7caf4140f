package mock_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"

	"pgregory.net/rapid"
)

// team makes a team of ranks with a meeting place that no other team of a test has.
func team(t interface{ Fatal(...any) }, i int, pes ...int32) *mem.Team {
	tm, err := mem.NewTeam(fmt.Sprint("team", i), pes)
	if err != nil {
		t.Fatal(err)
	}
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "rounds", Parts: []mem.Part{mem.SignalPart("", mem.Int64, max(1, tm.Rounds()))}}})
	if err != nil {
		t.Fatal(err)
	}
	tm.Meeting = mem.NewWindow(tm.Name+".meeting", tm, l, int64(i+1)<<20)
	return tm
}

// The order in which ranks count themselves at one word depends on the schedule, and on
// nothing else.
func TestSchedulesAreDeterministic(t *testing.T) {
	l := layout(t, 4, 1)
	run := func(seed uint64) string {
		got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
			f := c.Signals(a.Window(0), "flags").At(0)
			var places []int64
			for range 4 {
				places = append(places, c.FetchAdd(f, 0, 1))
			}
			for i, p := range places {
				c.Store(a.Shard(c.Rank()).Slice(i, 1), c.Full(tl.Dims(1), a.DType, float64(p)))
			}
		}, kerneltest.Config{Inputs: vectors(5, 4), Layout: l, Seed: seed})
		return fmt.Sprint(got)
	}
	different := map[string]bool{}
	for seed := range uint64(30) {
		first := run(seed)
		for range 3 {
			if again := run(seed); again != first {
				t.Fatalf("seed %d: %s, then %s", seed, first, again)
			}
		}
		different[first] = true
	}
	if len(different) < 25 {
		t.Errorf("30 seeds make %d different schedules", len(different))
	}
}

// Launches of one executor have schedules of their own.
func TestLaunchesDiffer(t *testing.T) {
	l := &launch.Launch{Ring: tl.Ring{Slots: 1, SlotBytes: 8, Space: mem.TCM}, Addrs: &mem.Map{}, Scratch: 1 << 10}
	g := launch.Group{PEs: []int32{0, 1, 2, 3}, PEsPerCube: 4, Wiring: make([]tl.Wiring, 4)}
	l.Groups = []launch.Group{g}
	tm := team(t, 0, g.PEs...)
	w := mem.NewWindow("w", tm, layout(t, 1, 1), 0)
	var order []int
	l.Kernel = func(c *tl.Context, a tl.Args) {
		c.FetchAdd(c.Signals(w, "flags").At(0), 0, 1)
		order = append(order, c.Rank())
	}
	e := mock.New(mock.Options{Seed: 1})
	seen := map[string]bool{}
	for range 10 {
		order = nil
		if _, err := e.Launch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(order)] = true
	}
	if len(seen) < 4 {
		t.Errorf("10 launches ended in these orders only: %v", seen)
	}
}

// Teams that share members meet a thousand times each, and no team ever gets ahead.
func TestOverlappingTeams(t *testing.T) {
	const times = 1000
	for _, seed := range []uint64{0, 1, 2, 3} {
		teams := []*mem.Team{team(t, 0, 0, 1, 2, 3, 4), team(t, 1, 4, 2, 0), team(t, 2, 3, 1), team(t, 3, 2), team(t, 4, 1, 0, 4)}
		var met [5][5]int // by team and PE
		kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
			for i := range times {
				for k, tm := range teams {
					me, member := c.TeamRank(tm)
					if !member {
						continue
					}
					if met[k][c.Rank()]++; (i+k)%2 == 0 {
						c.Sync(tm)
					} else {
						c.Barrier(tm)
					}
					for _, pe := range tm.PEs {
						if d := met[k][pe] - met[k][c.Rank()]; d < 0 || d > 1 {
							panic(fmt.Sprintf("team %d: rank %d has met %d times, PE %d %d times", k, me, met[k][c.Rank()], pe, met[k][pe]))
						}
					}
				}
			}
		}, kerneltest.Config{World: 5, Layout: layout(t, 1, 1), Seed: seed})
		for k, tm := range teams {
			for _, pe := range tm.PEs {
				if met[k][pe] != times {
					t.Errorf("seed %d: PE %d has met team %d %d times", seed, pe, k, met[k][pe])
				}
			}
		}
	}
}

// A sync is a rendezvous only: what was put before it may come after it.
func TestSyncCompletesNothing(t *testing.T) {
	late := func(meet func(c *tl.Context, tm *mem.Team)) int {
		n := 0
		for seed := range uint64(200) {
			got := kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
				w, mine := a.Window(0), a.Shard(c.Rank())
				data := c.Data(w, "data").Slice(0, 1)
				c.Put(data, (c.Rank()+1)%3, mine)
				meet(c, w.Team)
				c.Store(mine, c.Load(c.Local(data)))
			}, kerneltest.Config{Inputs: [][]float64{{1}, {2}, {3}}, Layout: layout(t, 1, 1), Seed: seed, Order: mem.ByChannel})
			if !slices.EqualFunc(got, [][]float64{{3}, {1}, {2}}, slices.Equal) {
				n++
			}
		}
		return n
	}
	if n := late((*tl.Context).Sync); n == 0 {
		t.Error("no seed shows that a put may come after a sync")
	}
	if n := late((*tl.Context).Barrier); n > 0 {
		t.Errorf("a put came after a barrier under %d seeds", n)
	}
}

// phases is a random program without races. In each phase some ranks write parts of others'
// windows that no other rank touches, and notify them; then all meet.
type phases struct {
	world, elems int
	moves        [][]move // by phase
}

type move struct {
	from, to int
	part     int // of the window: one each
	how      int
}

const numHows = 7

func drawPhases(t *rapid.T) *phases {
	p := &phases{world: rapid.IntRange(2, 5).Draw(t, "world"), elems: 3}
	for range rapid.IntRange(1, 4).Draw(t, "phases") {
		var ms []move
		free := map[[2]int]bool{}
		for range rapid.IntRange(1, 2*p.world).Draw(t, "moves") {
			m := move{
				from: rapid.IntRange(0, p.world-1).Draw(t, "from"), to: rapid.IntRange(0, p.world-1).Draw(t, "to"),
				part: rapid.IntRange(0, 3).Draw(t, "part"), how: rapid.IntRange(0, numHows-1).Draw(t, "how"),
			}
			if at := [2]int{m.to, m.part}; !free[at] {
				free[at] = true
				ms = append(ms, m)
			}
		}
		p.moves = append(p.moves, ms)
	}
	return p
}

// kernel moves parts of shards (elems elements each, four parts) into windows, and takes them
// into the own shard at the end of each phase.
func (p *phases) kernel(c *tl.Context, a tl.Args) {
	w, mine := a.Window(0), a.Shard(c.Rank())
	data, flags := c.Data(w, "data"), c.Signals(w, "flags")
	for phase, ms := range p.moves {
		c.Barrier(w.Team) // sources are ready, parts are free
		for _, m := range ms {
			src, dst := mine.Slice(m.part*p.elems, p.elems), data.Slice(m.part*p.elems, p.elems)
			flag := flags.At(m.part)
			if m.from == c.Rank() {
				switch m.how {
				case 0:
					c.PutSignal(dst, m.to, src, flag, tl.SignalAdd, 1)
				case 1:
					c.Put(dst, m.to, src)
					c.Fence()
					c.Notify(flag, m.to, tl.SignalAdd, 1)
				case 2:
					c.PutNBI(dst, m.to, src)
					c.Quiet()
					c.Notify(flag, m.to, tl.SignalAdd, 1)
				case 3:
					c.PutTensorSignal(dst, m.to, c.Load(src), flag, tl.SignalAdd, 1)
				case 4:
					c.Store(c.At(dst, m.to), c.Load(src))
					c.PipeBarrier()
					c.FetchAdd(flag, m.to, 1)
				case 5:
					c.PutCombine(dst, m.to, src, tl.Sum)
					c.Fence()
					for { // a word is only added to by one rank at a time
						v := c.FetchAdd(flag, m.to, 0)
						if c.CompareSwap(flag, m.to, v, v+1) == v {
							break
						}
					}
				case 6:
					c.PutSignalNBI(dst, m.to, src, flag, tl.SignalAdd, 1)
				}
			}
		}
		for _, m := range ms {
			if m.to == c.Rank() {
				c.WaitUntil(flags.At(m.part), tl.GE, p.updates(phase, m))
			}
		}
		c.Barrier(w.Team) // sources are read
		for _, m := range ms {
			if dst := data.Slice(m.part*p.elems, p.elems); m.to == c.Rank() {
				c.Store(mine.Slice(m.part*p.elems, p.elems), c.Load(c.Local(dst)))
			}
		}
	}
}

// updates returns how often a word has been updated when the move of a phase is over.
func (p *phases) updates(phase int, m move) int64 {
	n := int64(0)
	for _, ms := range p.moves[:phase+1] {
		for _, o := range ms {
			if o.to == m.to && o.part == m.part {
				n++
			}
		}
	}
	return n
}

// reference does the moves phase by phase.
func (p *phases) reference(in [][]float64) [][]float64 {
	shards, windows := make([][]float64, p.world), make([][]float64, p.world)
	for r := range shards {
		shards[r], windows[r] = slices.Clone(in[r]), make([]float64, len(in[r]))
	}
	for _, ms := range p.moves {
		for _, m := range ms {
			for i := m.part * p.elems; i < (m.part+1)*p.elems; i++ {
				if m.how == 5 {
					windows[m.to][i] += shards[m.from][i]
				} else {
					windows[m.to][i] = shards[m.from][i]
				}
			}
		}
		for _, m := range ms {
			lo, hi := m.part*p.elems, (m.part+1)*p.elems
			copy(shards[m.to][lo:hi], windows[m.to][lo:hi])
		}
	}
	return shards
}

// Programs without races come to the same bytes under every schedule of every ordering.
func TestScheduleOfRaceFreePrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPhases(t)
		in := make([][]float64, p.world)
		for r := range in {
			for i := range 4 * p.elems {
				in[r] = append(in[r], float64(100*r+i))
			}
		}
		l, err := mem.NewLayout(0, []mem.Buffer{
			{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.I32, 4*p.elems)}},
			{Name: "flags", Parts: []mem.Part{mem.SignalPart("", mem.Uint64, 4)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := p.reference(in)
		order := mem.Ordering(rapid.IntRange(0, 3).Draw(t, "order"))
		for seed := range uint64(rapid.SampledFrom([]int{5, 5, 5, 5, 100}).Draw(t, "seeds")) {
			got, err := kerneltest.Try(p.kernel, kerneltest.Config{Inputs: in, DType: dtype.I32, Layout: l, Seed: seed, Order: order})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("seed %d, %v: %v\nwant %v", seed, order, got, want)
			}
		}
	})
}
