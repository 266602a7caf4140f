package kerneltest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// ring adds up the vectors of all ranks by an operation of the caller.
func ring(combine func(c *tl.Context, a tl.Args, x, y tl.Tensor) tl.Tensor) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		current := acc
		for range c.WorldSize() - 1 {
			c.Send(tl.East, current)
			current = c.Recv(tl.West, acc.Shape(), acc.DType())
			acc = combine(c, a, acc, current)
		}
		c.Store(mine, c.Finish(a.Op, acc, c.WorldSize()))
	}
}

var sum = ring(func(c *tl.Context, a tl.Args, x, y tl.Tensor) tl.Tensor { return c.Combine(a.Op, x, y) })

// box returns a window with data for n elements and a word.
func box(t *testing.T, n int) *mem.Layout {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "box", Parts: []mem.Part{
		mem.DataPart("data", dtype.F32, n), mem.SignalPart("word", mem.Int32, 1),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// push puts the vector of a rank into the window of the next one. Each of its parts can be left
// out.
func push(fence, wait bool) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		data, word := c.Data(w, "box.data"), c.Signals(w, "box.word")
		next, mine := (c.Rank()+1)%c.WorldSize(), a.Shard(c.Rank())
		c.PutTensor(data, next, c.Load(mine))
		if fence {
			c.Fence()
		}
		c.Notify(word, next, tl.SignalAdd, 1)
		if wait {
			c.WaitUntil(word, tl.GE, 1)
		}
		c.Store(mine, c.Load(c.Local(data)))
	}
}

func TestRunAccepts(t *testing.T) {
	for _, c := range []struct {
		name   string
		kernel tl.Kernel
		cfg    kerneltest.Config
	}{
		{"sum", sum, kerneltest.Config{Collective: "all_reduce", World: 4}},
		{"one rank", sum, kerneltest.Config{Collective: "all_reduce", World: 1}},
		{"more ranks than a cube has", sum, kerneltest.Config{Collective: "all_reduce", World: 11, NElem: 3}},
		{"avg of f16", sum, kerneltest.Config{Collective: "all_reduce", World: 3, DType: dtype.F16, Op: tl.Avg}},
		{"prod", sum, kerneltest.Config{Collective: "all_reduce", World: 3, Op: tl.Prod}},
		{"schedules", sum, kerneltest.Config{Collective: "all_reduce", World: 3, Schedules: 5}},
		{"inputs", sum, kerneltest.Config{Collective: "all_reduce", Inputs: [][]float64{{1, 2}, {3, 4}}}},
		{"window", push(true, true), kerneltest.Config{Collective: "shift", World: 3, NElem: 4, Layout: box(t, 4), Schedules: 5}},
		{"no collective", sum, kerneltest.Config{Collective: kerneltest.None, World: 3, NElem: 2, Schedules: 2}},
		{"no elements", func(c *tl.Context, a tl.Args) { c.Full(tl.Dims(1), dtype.F32, 1) },
			kerneltest.Config{Collective: kerneltest.None, World: 2}},
	} {
		t.Run(c.name, func(t *testing.T) { kerneltest.Run(t, c.kernel, c.cfg) })
	}
}

func TestRunReturnsOutputs(t *testing.T) {
	got := kerneltest.Run(t, sum, kerneltest.Config{Collective: "all_reduce", Inputs: [][]float64{{1, 2}, {3, 4}}})
	if want := [][]float64{{4, 6}, {4, 6}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every kind of mistake ends a test by default.
func TestRunRefuses(t *testing.T) {
	only := ring(func(c *tl.Context, a tl.Args, x, y tl.Tensor) tl.Tensor { return c.Add(x, y) })
	twice := func(c *tl.Context, a tl.Args) { // passes on the sum
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		for range c.WorldSize() - 1 {
			c.Send(tl.East, acc)
			acc = c.Combine(a.Op, acc, c.Recv(tl.West, acc.Shape(), acc.DType()))
		}
		c.Store(mine, acc)
	}
	for _, c := range []struct {
		name   string
		kernel tl.Kernel
		cfg    kerneltest.Config
		want   []string
	}{
		{"values", only, kerneltest.Config{Collective: "all_reduce", World: 3, Op: tl.Prod},
			[]string{"on mock", "values FAIL", `Executors: []string{"mock"}`}},
		{"provenance alone", twice, kerneltest.Config{Collective: "all_reduce", World: 4, Op: tl.Max},
			[]string{"provenance FAIL", "values ok"}},
		{"race without a fence", push(false, true),
			kerneltest.Config{Collective: "shift", World: 3, NElem: 4, Layout: box(t, 4)},
			[]string{"hazards:", "window.box.data of rank", "missing: a fence"}},
		{"race without a wait", push(true, false),
			kerneltest.Config{Collective: kerneltest.None, World: 3, NElem: 4, Layout: box(t, 4)}, []string{"hazards:"}},
		{"deadlock", func(c *tl.Context, a tl.Args) { c.Recv(tl.West, tl.Dims(1), a.DType) },
			kerneltest.Config{Collective: kerneltest.None, World: 2}, []string{"deadlock: 2 of 2"}},
		{"on one executor", only, kerneltest.Config{Collective: "all_reduce", World: 3, Op: tl.Max,
			Executors: []string{"sim"}}, []string{"on sim"}},
		{"in one schedule", only, kerneltest.Config{Collective: "all_reduce", World: 3, Op: tl.Max, Seed: 7},
			[]string{"on mock, schedule 7", `Executors: []string{"mock"}, Seed: 7`}},
		{"nothing to judge by", sum, kerneltest.Config{World: 3, NElem: 1},
			[]string{"found no Config.Collective", "all_reduce", "kerneltest.None"}},
		{"unknown collective", sum, kerneltest.Config{World: 3, Collective: "all_reduc"}, []string{"all_reduce"}},
		{"unknown executor", sum, kerneltest.Config{World: 3, Collective: "all_reduce", Executors: []string{"mok"}},
			[]string{"unknown executor"}},
		{"no ranks", sum, kerneltest.Config{Collective: "all_reduce"}, []string{"give World or Inputs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f failing
			kerneltest.Run(&f, c.kernel, c.cfg)
			for _, want := range c.want {
				if !strings.Contains(f.text, want) {
					t.Errorf("no %q in:\n%s", want, f.text)
				}
			}
		})
	}
}

// failing is a test that records its failure and continues.
type failing struct{ text string }

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) { f.text += fmt.Sprintf(format, args...) }

// A kernel that is wrong in a few schedules only is found by Schedules, and the fields that the
// failure names show it again.
func TestFailingScheduleCanBePasted(t *testing.T) {
	// Rank 1 takes what comes first for what comes from the west.
	firstComes := func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		own := c.Load(mine)
		c.Send(tl.East, own)
		c.Send(tl.West, own)
		from := [2]tl.Dir{tl.West, tl.East}
		if c.Rank() == 1 {
			from = [2]tl.Dir{tl.AnyDir, tl.AnyDir}
		}
		first := c.Recv(from[0], own.Shape(), own.DType())
		first = c.Convert(first, first.DType())
		c.Recv(from[1], own.Shape(), own.DType())
		c.Store(mine, first)
	}
	cfg := kerneltest.Config{Collective: "shift", World: 3, NElem: 2, Executors: []string{"mock"}}
	if _, err := kerneltest.Check(firstComes, cfg); err != nil {
		t.Fatalf("this kernel is right in the schedule of mock, and wrong in others; found %v", err)
	}
	cfg.Schedules = 20
	_, err := kerneltest.Check(firstComes, cfg)
	wrong, ok := err.(*kerneltest.Wrong)
	if !ok || wrong.Seed == 0 {
		t.Fatalf("got %v, want a random schedule that is wrong", err)
	}
	cfg.Schedules, cfg.Seed = 0, wrong.Seed
	if _, again := kerneltest.Check(firstComes, cfg); again == nil || again.Error() != err.Error() {
		t.Errorf("schedule %d alone: %v\nbefore: %v", wrong.Seed, again, err)
	}
}

// A lock that admits two ranks is clean in schedules in which no two come at once. Run judges more
// schedules where atomics return values, and finds each of these without being asked for any.
func TestSpoiledLocksAreFound(t *testing.T) {
	const big = 1 << 10
	type kernel struct {
		*tl.Context
		word tl.Signal
		data tl.Ref
	}
	add := func(k *kernel, v int64) int64 { return k.FetchAdd(k.word, 0, v) }
	grow := func(k *kernel) {
		k.Store(k.data, k.Add(k.Load(k.data), k.Full(k.data.Shape, k.data.DType, 1)))
		k.Quiet()
	}
	for _, c := range []struct {
		name  string
		clean bool
		body  func(k *kernel)
	}{
		{"one at a time", true, func(k *kernel) {
			for add(k, 1) != 0 {
				add(k, -1)
			}
			grow(k)
			add(k, -1)
		}},
		{"two at a time", false, func(k *kernel) {
			for add(k, 1) > 1 {
				add(k, -1)
			}
			grow(k)
			add(k, -1)
		}},
		{"given back twice", false, func(k *kernel) {
			for add(k, 1) > 0 {
				add(k, -1)
			}
			grow(k)
			add(k, -1)
			if k.Rank() == 0 {
				add(k, -1)
			}
		}},
		{"readers that write", false, func(k *kernel) {
			for add(k, 1) >= big {
				add(k, -1)
			}
			grow(k)
			add(k, -1)
		}},
		{"last arriver", true, func(k *kernel) {
			k.Store(k.data.Slice(k.Rank(), 1), k.Full(tl.Dims(1), k.data.DType, 1))
			k.Quiet()
			if add(k, 1) == int64(k.WorldSize()-1) {
				k.Load(k.data)
			}
		}},
		{"last arriver that does not look", false, func(k *kernel) {
			k.Store(k.data.Slice(k.Rank(), 1), k.Full(tl.Dims(1), k.data.DType, 1))
			k.Quiet()
			if add(k, 1); k.Rank() == 1 {
				k.Load(k.data)
			}
		}},
	} {
		for _, executor := range []string{"mock", "sim"} {
			for _, ranks := range []int{3, 4} {
				_, err := kerneltest.Check(func(ctx *tl.Context, a tl.Args) {
					w := a.Window(0)
					c.body(&kernel{ctx, ctx.Signals(w, "box.word"), ctx.At(ctx.Data(w, "box.data"), 0)})
				}, kerneltest.Config{Collective: kerneltest.None, World: ranks, NElem: 4, Layout: box(t, 4), Executors: []string{executor}})
				if wrong, ok := err.(*kerneltest.Wrong); c.clean != (err == nil) || !c.clean && !ok {
					t.Errorf("%s, %d ranks on %s: %v (%v)", c.name, ranks, executor, err, wrong)
				}
			}
		}
	}
}

// Outputs of a kernel that performs no collective are compared over schedules, unless the judge of
// races reports that they may differ.
func TestNoneComparesSchedules(t *testing.T) {
	ticket := func(c *tl.Context, a tl.Args) {
		p := c.FetchAdd(c.Signals(a.Window(0), "box.word"), 0, 1)
		c.Store(a.Shard(c.Rank()), c.Full(tl.Dims(a.NElem), a.DType, float64(p)))
	}
	kerneltest.Run(t, ticket, kerneltest.Config{Collective: kerneltest.None, World: 4, NElem: 1, Layout: box(t, 1), Schedules: 10})
	runs := 0
	counts := func(c *tl.Context, a tl.Args) { // differs from run to run
		if c.Rank() == 0 {
			runs++
		}
		c.Store(a.Shard(c.Rank()), c.Full(tl.Dims(a.NElem), a.DType, float64(runs)))
	}
	_, err := kerneltest.Check(counts, kerneltest.Config{Collective: kerneltest.None, World: 2, NElem: 1,
		Schedules: 1, Executors: []string{"mock"}})
	if err == nil || !strings.Contains(err.Error(), "in the first schedule") {
		t.Errorf("got %v, want that two schedules differ", err)
	}
}
