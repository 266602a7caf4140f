package sim_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// sideBySide is one launch of the groups of several, on PEs that they take from a list in turn.
func sideBySide(pes []int32, all ...*bench) *bench {
	b := *all[0]
	l := *b.launch
	b.launch, l.Groups = &l, nil
	for _, o := range all {
		g := o.launch.Groups[0]
		g.PEs, pes = pes[:len(g.PEs)], pes[len(g.PEs):]
		moved := make([]mem.Addr, len(g.PEs))
		for r, a := range g.Args.Shards {
			moved[r] = mem.At(mem.HBM, int(g.PEs[r]), a.Offset())
		}
		g.Args.Shards = moved
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

// pairsOf are groups of two ranks, one after the other, with a number for each group.
func pairsOf(t *testing.T, groups int, k tl.Kernel, number func(group int) int) *bench {
	t.Helper()
	all := make([]*bench, groups)
	for i := range all {
		all[i] = newBench(t, k, setup{world: 2, n: 8, args: []int{number(i)}})
	}
	return sideBySide(inTurn(2*groups), all...)
}

// exchange sends the shard of each rank to the other, as many times as the number of its group.
func exchange(c *tl.Context, a tl.Args) {
	v := own(c, a)
	for range a.Int(0) {
		c.Send(tl.East, v)
		v = like(c, tl.West, v)
	}
	c.Store(a.Shard(c.Rank()), v)
}

// TestGroups: groups that do the same, and groups that do not, come to the same in both modes,
// with one processor and with two.
func TestGroups(t *testing.T) {
	odd := func(group int) func(int) int { return func(i int) int { return map[bool]int{true: 9}[i == group] + 7 } }
	for name, number := range map[string]func(group int) int{
		"alike": odd(-1), "first": odd(0), "second": odd(1), "middle": odd(20), "last": odd(39),
		"two sorts":  func(i int) int { return 7 + i%2 },
		"all differ": func(i int) int { return i },
	} {
		for _, groups := range []int{1, 3, 40} {
			t.Run(fmt.Sprintf("%s/%d", name, groups), func(t *testing.T) {
				b := pairsOf(t, groups, exchange, number)
				for _, o := range bothCores {
					b.sameReplayed(t, o, views{}, views{true, true})
				}
			})
		}
	}
}

// TestGroupsThatFail: what goes wrong in one group of many comes out in the same words.
func TestGroupsThatFail(t *testing.T) {
	for name, wrong := range map[string]func(c *tl.Context, a tl.Args){
		"panic":     func(c *tl.Context, a tl.Args) { panicAt(c.Rank() == 1) },
		"hang":      func(c *tl.Context, a tl.Args) { c.Recv(tl.West, tl.Dims(8), a.DType) },
		"left over": func(c *tl.Context, a tl.Args) { c.Send(tl.East, own(c, a)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, odd := range []int{0, 13, 39} {
				b := pairsOf(t, 40, func(c *tl.Context, a tl.Args) {
					if exchange(c, a); a.Int(0) == 8 {
						wrong(c, a)
					}
				}, func(i int) int { return map[bool]int{true: 1}[i == odd] + 7 })
				for _, o := range bothCores {
					if outs, _ := b.sameInBothModes(t, o, views{}); outs[0].Err == "" {
						t.Error("nothing went wrong")
					}
				}
			}
		})
	}
}

// TestKernelsTakeTurns: no two kernels run at a time, and each runs once to be recorded. Those of a
// few ranks from which a guess is made are an exception.
func TestKernelsTakeTurns(t *testing.T) {
	for _, o := range bothCores {
		var runs, at atomic.Int32
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			runs.Add(1)
			if at.Add(1) != 1 {
				t.Error("another kernel runs")
			}
			(&ringRounds{rounds: 20, odd: -1}).kernel(c, a)
			at.Add(-1)
		}, setup{world: 96, n: 8})
		if _, err := b.run(o); err != nil {
			t.Fatal(err)
		}
		if n := runs.Load(); n < 96 || n > 100 {
			t.Errorf("%+v: kernels ran %d times", o, n)
		}
	}
}

// TestProgressOfAReplay: progress is reported on the goroutine that launched, and a launch that is
// cancelled from there ends, and leaves no goroutine.
func TestProgressOfAReplay(t *testing.T) {
	for _, o := range bothCores {
		before := runtime.NumGoroutine()
		b := newBench(t, (&ringRounds{rounds: 3000, odd: -1}).kernel, setup{world: 96, n: 8})
		ctx, cancel := context.WithCancel(t.Context())
		o.Fidelity = noc.Ideal
		o.Progress = func(done, all int, _ unit.Time) {
			if done > 0 || all != 96 {
				t.Errorf("%d of %d kernels have ended", done, all)
			}
			stack := make([]byte, 16<<10)
			if s := string(stack[:runtime.Stack(stack, false)]); !strings.Contains(s, "TestProgressOfAReplay") {
				t.Errorf("progress is reported by %s", s)
			}
			cancel()
		}
		x := sim.New(b.m, o)
		if _, err := x.Launch(ctx, b.launch); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if _, err := x.Launch(t.Context(), b.launch); !errors.Is(err, sim.ErrBroken) {
			t.Errorf("a launch after it: %v", err)
		}
		noMoreThan(t, before)
		cancel()
	}
}

func noMoreThan(t *testing.T, goroutines int) {
	t.Helper()
	for range 200 {
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
}

// TestCancelledAnywhere: a launch that its kernels cancel ends, while they are recorded, while it
// is replayed and while its data are processed. It leaves no goroutine.
func TestCancelledAnywhere(t *testing.T) {
	for _, o := range bothCores {
		for _, rank := range []int{0, 5, 95} {
			for _, step := range []int{0, 2999} {
				before := runtime.NumGoroutine()
				ctx, cancel := context.WithCancel(t.Context())
				b := newBench(t, (&ringRounds{3000, rank, step,
					func(*tl.Context, tl.Args, tl.Tensor) { cancel() }}).kernel, setup{world: 96, n: 8})
				log := b.fill(t, func(r, i int) float64 { return 1 })
				o.Data = log
				x := sim.New(b.m, o)
				if _, err := x.Launch(ctx, b.launch); !errors.Is(err, context.Canceled) {
					t.Errorf("rank %d, step %d: %v", rank, step, err)
				}
				if _, err := x.Launch(t.Context(), b.launch); !errors.Is(err, sim.ErrBroken) {
					t.Errorf("a launch after it: %v", err)
				}
				log.Close()
				noMoreThan(t, before)
				cancel()
			}
		}
	}
}

// TestGoexitOfOneOfMany: a kernel that ends its goroutine leaves an executor that is broken, on
// whichever goroutine it runs.
func TestGoexitOfOneOfMany(t *testing.T) {
	for _, o := range bothCores {
		for _, rank := range []int{0, 17} {
			b := newBench(t, (&ringRounds{20, rank, 3,
				func(*tl.Context, tl.Args, tl.Tensor) { runtime.Goexit() }}).kernel, setup{world: 96, n: 8})
			x := sim.New(b.m, o)
			returned := make(chan error, 1)
			done := make(chan struct{})
			go func() {
				defer close(done)
				res, err := x.Launch(context.Background(), b.launch)
				if err == nil {
					err = fmt.Errorf("a result: %+v", res)
				}
				returned <- err
			}()
			<-done
			select {
			case err := <-returned:
				t.Errorf("rank %d, second core %v: Launch returned %v", rank, o.SecondCore, err)
			default:
			}
			if _, err := x.Launch(t.Context(), b.launch); !errors.Is(err, sim.ErrBroken) {
				t.Errorf("rank %d: a launch after it: %v", rank, err)
			}
		}
	}
}

// dotOf sends the product of two vectors of n elements.
func dotOf(c *tl.Context, n int) {
	y := c.Full(tl.Dims(4096), dtype.F16, 1).Slice(0, n)
	c.Send(tl.West, c.Dot(y.Reshape(1, n), y.Reshape(n, 1)).Reshape(1))
}

// TestGuessIsChecked: a kernel that behaves differently after a guess has been made of it takes as
// long as what was recorded after that. This holds for every kind of difference.
func TestGuessIsChecked(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))) // a guess needs a second processor
	for name, tt := range map[string]struct {
		before, after func(c *tl.Context, x tl.Tensor)
	}{
		"more": {func(c *tl.Context, x tl.Tensor) {}, func(c *tl.Context, x tl.Tensor) { c.Add(x, x) }},
		"operation": {
			func(c *tl.Context, x tl.Tensor) { c.Send(tl.West, c.Abs(x)); like(c, tl.East, x) },
			func(c *tl.Context, x tl.Tensor) { c.Abs(x); c.Send(tl.West, x); like(c, tl.East, x) }},
		"type": {
			func(c *tl.Context, x tl.Tensor) {
				c.Send(tl.West, c.Full(x.Shape(), dtype.F32, 1))
				c.Recv(tl.East, x.Shape(), dtype.F32)
			},
			func(c *tl.Context, x tl.Tensor) {
				c.Send(tl.West, c.Full(x.Shape(), dtype.F64, 1))
				c.Recv(tl.East, x.Shape(), dtype.F64)
			}},
		"depth": {
			func(c *tl.Context, x tl.Tensor) { dotOf(c, 4096); like(c, tl.East, x.Slice(0, 1)) },
			func(c *tl.Context, x tl.Tensor) { dotOf(c, 2); like(c, tl.East, x.Slice(0, 1)) }},
		"length": {func(c *tl.Context, x tl.Tensor) { c.Abs(x) }, func(c *tl.Context, x tl.Tensor) { c.Abs(x.Slice(0, 2)) }},
		"size": {
			func(c *tl.Context, x tl.Tensor) {
				c.Dot(c.Full(tl.Dims(2, 900), x.DType(), 1), c.Full(tl.Dims(900, 2), x.DType(), 1))
			},
			func(c *tl.Context, x tl.Tensor) {
				c.Dot(c.Full(tl.Dims(2, 2), x.DType(), 1), c.Full(tl.Dims(2, 2), x.DType(), 1))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			guessed := int32(4) // runs of kernels that a guess is made of
			b := newBench(t, func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				do := tt.after
				if runs.Add(1) <= guessed {
					do = tt.before
				}
				do(c, x)
				c.Send(tl.East, x)
				c.Store(a.Shard(c.Rank()), like(c, tl.West, x))
			}, setup{world: 64, n: 64})
			got := b.outcome(t, sim.Options{SecondCore: true}, views{data: true})
			guessed = 0
			want := b.outcome(t, sim.Options{EventDriven: true}, views{data: true})
			if !got.same(&want) {
				t.Errorf("outcomes differ (-event-driven +replayed):\n%.2000s", cmp.Diff(want, got, ignoreEvents))
			}
		})
	}
}

// TestAccountOfAReplay: the account of memory of a replayed launch has the begin and end of each
// rank. That of an event-driven launch has at least as much.
func TestAccountOfAReplay(t *testing.T) {
	b := newBench(t, (&ringRounds{rounds: 3, odd: -1}).kernel, setup{world: 5, n: 8})
	spans := func(o sim.Options) (all []string, records int) {
		a := newAccount()
		o.History = a.log
		if _, err := b.run(o); err != nil {
			t.Fatal(err)
		}
		for _, r := range a.recs {
			if r.Kind == history.Start {
				all = append(all, fmt.Sprintf("%v starts %v by %v", a.log.Info(r.Agent), r.Time, a.log.Info(r.Other)))
			}
			if r.Kind == history.Join {
				all = append(all, fmt.Sprintf("%v ends by %v", a.log.Info(r.Other), a.log.Info(r.Agent)))
			}
		}
		slices.Sort(all)
		return all, len(a.recs)
	}
	got, few := spans(sim.Options{})
	want, many := spans(sim.Options{EventDriven: true})
	if !slices.Equal(got, want) || few != 10 || many <= few {
		t.Errorf("%d records %q\nevent-driven %d, %q", few, got, many, want)
	}
}
