package repair_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kernbench/algorithm"
	"kernbench/dtype"
	_ "kernbench/internal/fewcollections"
	"kernbench/lab/repair"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/tl"
)

// register makes a kernel an all-reduce on a ring.
func register(name string, k tl.Kernel) string {
	a := *mustFind("ring_allreduce")
	a.Name, a.Kernel = name, k
	algorithm.Register(a)
	return name
}

func mustFind(name string) *algorithm.Algorithm {
	a, err := algorithm.Lookup(name)
	if err != nil {
		panic(err)
	}
	return a
}

// reduce returns a ring all-reduce whose steps are a parameter.
func reduce(step func(c *tl.Context, current tl.Tensor, acc tl.Tensor) tl.Tensor) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		current := acc
		for range c.WorldSize() - 1 {
			current = step(c, current, acc)
			acc = c.Add(acc, current)
		}
		c.Store(mine, acc)
	}
}

var (
	recvFirst = register("repair_recv_first", reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
		got := c.Recv(tl.West, acc.Shape(), acc.DType())
		c.Send(tl.East, current)
		return got
	}))
	forgets = register("repair_forgets", reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
		c.Recv(tl.West, acc.Shape(), acc.DType())
		c.Send(tl.East, current)
		return current
	}))
	manySends = register("repair_many_sends", func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		for range 20 {
			c.Send(tl.East, acc)
		}
		for range 20 {
			c.Recv(tl.West, acc.Shape(), acc.DType())
		}
		current := acc
		for range c.WorldSize() - 1 {
			c.Send(tl.East, current)
			current = c.Recv(tl.West, acc.Shape(), acc.DType())
			acc = c.Add(acc, current)
		}
		c.Store(mine, acc)
	})
	forwards = register("repair_forwards", reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
		got := c.Recv(tl.West, acc.Shape(), acc.DType())
		c.Send(tl.East, got)
		return got
	}))
	twoFaults = register("repair_two_faults", reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
		got := c.Recv(tl.East, acc.Shape(), acc.DType())
		c.Send(tl.East, current)
		return got
	}))
	neverStarts = register("repair_never_starts", func(c *tl.Context, a tl.Args) {
		mine := c.Load(a.Shard(c.Rank()))
		if c.Rank() > 0 {
			got := c.Recv(tl.West, mine.Shape(), mine.DType())
			c.Send(tl.East, got)
		}
	})
	wrongWay = register("repair_wrong_way", reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
		c.Send(tl.East, current)
		return c.Recv(tl.East, acc.Shape(), acc.DType())
	}))
	onlyReceives = register("repair_only_receives", func(c *tl.Context, a tl.Args) {
		acc := c.Load(a.Shard(c.Rank()))
		for range c.WorldSize() - 1 {
			acc = c.Add(acc, c.Recv(tl.West, acc.Shape(), acc.DType()))
		}
		acc = c.Add(acc, c.Recv(tl.East, acc.Shape(), acc.DType()))
		c.Store(a.Shard(c.Rank()), acc)
	})
	extraSend = register("repair_extra_send", func(c *tl.Context, a tl.Args) {
		reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
			c.Send(tl.East, current)
			return c.Recv(tl.West, acc.Shape(), acc.DType())
		})(c, a)
		c.Send(tl.East, c.Load(a.Shard(c.Rank())))
	})
)

// gather returns an all-gather over a window, whose ranks put their contribution and wait.
func gather(name string, put func(c *tl.Context, data tl.Sym, ready tl.Signal, mine tl.Ref)) string {
	return algorithm.Register(algorithm.Algorithm{
		Name: name, Collective: "all_gather", Topology: "none",
		Kernel: func(c *tl.Context, a tl.Args) {
			me, w := c.Rank(), a.Window(0)
			data, out := c.Data(w, "data"), a.Out(me, c.WorldSize()*a.NElem)
			put(c, data.Slice(me*a.NElem, a.NElem), c.Signals(w, "ready"), a.Shard(me))
			c.Copy(out, c.Local(data))
		},
		Window: func(world, n int, t dtype.Type) (*mem.Layout, error) {
			return mem.NewLayout(0, []mem.Buffer{
				{Name: "ready", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 1)}},
				{Name: "data", Parts: []mem.Part{mem.DataPart("", t, world*n)}},
			})
		},
	}).Name
}

var (
	waitsTooMuch = gather("repair_waits_too_much", func(c *tl.Context, data tl.Sym, ready tl.Signal, mine tl.Ref) {
		for peer := range c.WorldSize() {
			c.PutSignal(data, peer, mine, ready.At(0), tl.SignalAdd, 1)
		}
		c.WaitUntil(ready.At(0), tl.GE, int64(c.WorldSize())+1)
	})
	notifiesNoRank = gather("repair_notifies_no_rank", func(c *tl.Context, data tl.Sym, ready tl.Signal, mine tl.Ref) {
		for peer := range c.WorldSize() {
			c.Put(data, peer, mine)
		}
		c.Quiet()
		for peer := range c.WorldSize() {
			c.Put(data, peer, mine)
		}
		c.WaitUntil(ready.At(0), tl.GE, int64(c.WorldSize()))
	})
	missesValue = gather("repair_misses_value", func(c *tl.Context, data tl.Sym, ready tl.Signal, mine tl.Ref) {
		for peer := range c.WorldSize() {
			c.PutSignal(data, peer, mine, ready.At(0), tl.SignalAdd, 2)
		}
		c.WaitUntil(ready.At(0), tl.EQ, int64(2*c.WorldSize()-1))
	})
	// Ranks notify the others before they put, and not themselves.
	notifiesTooEarly = gather("repair_notifies_too_early", func(c *tl.Context, data tl.Sym, ready tl.Signal, mine tl.Ref) {
		for peer := range c.WorldSize() {
			if peer != c.Rank() {
				c.Notify(ready.At(0), peer, tl.SignalAdd, 1)
			}
			c.Put(data, peer, mine)
		}
		c.Quiet()
		c.WaitUntil(ready.At(0), tl.GE, int64(c.WorldSize()))
	})
	hopeless = gather("repair_hopeless", func(c *tl.Context, data tl.Sym, ready tl.Signal, mine tl.Ref) {
		c.WaitUntil(ready.At(0), tl.EQ, 1)
	})
)

// Every repair is found. Its run ended with right results at this and at two other numbers of
// ranks.
func TestRepairs(t *testing.T) {
	for _, tt := range []struct {
		algorithm, want, slots string
	}{
		{recvFirst, "moving the receive from W at ", ""},
		{manySends, "n_slots: 20", "n_slots: 20 works (with 19 it deadlocks)"},
		{wrongWay, "receiving from W instead of E at ", ""},
		{extraSend, "adding a receive from W after ", ""},
		{waitsTooMuch, "waiting for a value lower by 1 at ", ""},
		{notifiesNoRank, "adding, after ", ""},
		{missesValue, "waiting with >= instead of == at ", ""},
	} {
		for _, executor := range []string{"sim", "mock"} {
			t.Run(tt.algorithm+"/"+executor, func(t *testing.T) {
				spec := run.Spec{Topology: "ahbm-cube", Executor: executor, Algorithm: tt.algorithm, Ranks: 4, NElem: 8}
				_, err := run.Run(context.Background(), spec)
				if !repair.Applies(err) {
					t.Fatalf("the run ends with %v", err)
				}
				r := repair.Search(context.Background(), spec, err, time.Minute)
				i := slices.IndexFunc(r.Found, func(f run.Repair) bool { return strings.HasPrefix(f.What, tt.want) })
				if i < 0 || r.Stopped {
					t.Fatalf("not found: %q in %+v", tt.want, r)
				}
				if f := r.Found[i]; len(f.Also) != 2 || len(f.NotAt) != 0 {
					t.Errorf("%+v", f)
				}
				if tt.slots != "" && executor == "sim" && !strings.Contains(r.Slots, "rings to E hold up to 20 at once") {
					t.Errorf("high-water marks: %q", r.Slots)
				}
				if !strings.HasPrefix(r.Slots, tt.slots) {
					t.Errorf("slots: %q", r.Slots)
				}
			})
		}
	}
}

// An edit with which the run ends but has a race is reported only if there is no other.
func TestRacesAreNoRepairs(t *testing.T) {
	for _, tt := range []struct {
		algorithm string
		want      []string
		races     bool
	}{
		{missesValue, []string{"waiting with >= instead of == at ", "waiting for a value higher by 1 at "}, false},
		{notifiesTooEarly, []string{"waiting for a value lower by 1 at "}, true},
	} {
		spec := run.Spec{Topology: "ahbm-cube", Algorithm: tt.algorithm, Ranks: 4, NElem: 8}
		_, err := run.Run(context.Background(), spec)
		if !repair.Applies(err) {
			t.Fatalf("the run ends with %v", err)
		}
		r := repair.Search(context.Background(), spec, err, time.Minute)
		if len(r.Found) == 0 {
			t.Errorf("%s: nothing found", tt.algorithm)
		}
		for _, w := range tt.want {
			if !slices.ContainsFunc(r.Found, func(f run.Repair) bool { return strings.HasPrefix(f.What, w) }) {
				t.Errorf("%s: %q is not among %+v", tt.algorithm, w, r.Found)
			}
		}
		for _, f := range r.Found {
			if f.Races != tt.races {
				t.Errorf("%s: races %v: %+v", tt.algorithm, f.Races, f)
			}
		}
	}
}

// Where nothing helps, nothing is reported. A search that runs out of time returns a note.
func TestNothingFound(t *testing.T) {
	spec := run.Spec{Topology: "ahbm-cube", Algorithm: hopeless, Ranks: 4, NElem: 8}
	_, err := run.Run(context.Background(), spec)
	if !repair.Applies(err) {
		t.Fatalf("the run ends with %v", err)
	}
	if r := repair.Search(context.Background(), spec, err, time.Minute); r.Found == nil || len(r.Found) > 0 || r.Tried < 4 || r.Stopped {
		t.Errorf("%+v", r)
	}
	if r := repair.Search(context.Background(), spec, err, 1); len(r.Found) > 0 || !r.Stopped {
		t.Errorf("without time: %+v", r)
	}
}

// TestWrongEndsAreListed: if no change works, the result lists changes with which the run ends and
// is wrong. Here the received data are not used, so no change of the ring helps.
func TestWrongEndsAreListed(t *testing.T) {
	spec := run.Spec{Topology: "ahbm-cube", Algorithm: forgets, Ranks: 4, NElem: 8}
	_, err := run.Run(context.Background(), spec)
	if !repair.Applies(err) {
		t.Fatalf("the run ends with %v", err)
	}
	if r := repair.Search(context.Background(), spec, err, time.Minute); len(r.Found) > 0 || len(r.Wrong) == 0 {
		t.Errorf("%+v", r)
	}
	spec.Algorithm = recvFirst
	_, err = run.Run(context.Background(), spec)
	if r := repair.Search(context.Background(), spec, err, time.Minute); len(r.Found) == 0 || len(r.Wrong) > 0 {
		t.Errorf("%s: %+v", recvFirst, r)
	}
}

// TestSendOfTheReceivedValue: ranks receive before they send, and a send uses the received value.
// The result states that the receive cannot come after it. It does not where another rank would
// have to start, or where another order of the same values does not help.
func TestSendOfTheReceivedValue(t *testing.T) {
	at := func(algorithm string) *run.Repairs {
		spec := run.Spec{Topology: "ahbm-cube", Algorithm: algorithm, Ranks: 4, NElem: 8}
		_, err := run.Run(context.Background(), spec)
		if !repair.Applies(err) {
			t.Fatalf("%s: the run ends with %v", algorithm, err)
		}
		return repair.Search(context.Background(), spec, err, time.Minute)
	}
	form := regexp.MustCompile(`^the receive from W at (\S*repair_test\.go):(\d+) cannot come after the send to E at (\S*repair_test\.go):(\d+), which sends the received value$`)
	r := at(forwards)
	if len(r.Found) > 0 || len(r.Fixed) != 1 || !form.MatchString(r.Fixed[0]) {
		t.Fatalf("%s: %+v", forwards, r)
	}
	m := form.FindStringSubmatch(r.Fixed[0])
	if recv, _ := strconv.Atoi(m[2]); m[4] != strconv.Itoa(recv+1) {
		t.Errorf("lines %s and %s, want lines that follow each other", m[2], m[4])
	}
	for _, other := range []string{neverStarts, twoFaults} {
		if r := at(other); len(r.Found) > 0 || len(r.Fixed) > 0 {
			t.Errorf("%s: %+v", other, r)
		}
	}
}

// For a kernel that receives and never sends, the result states that no rank sends.
func TestNoRankSends(t *testing.T) {
	for name, silent := range map[string]bool{onlyReceives: true, recvFirst: false, wrongWay: false, manySends: false, hopeless: false} {
		for _, executor := range []string{"sim", "mock"} {
			spec := run.Spec{Topology: "ahbm-cube", Executor: executor, Algorithm: name, Ranks: 4, NElem: 8}
			_, err := run.Run(context.Background(), spec)
			if !repair.Applies(err) {
				t.Fatalf("%s: the run ends with %v", name, err)
			}
			if r := repair.Search(context.Background(), spec, err, time.Minute); r.Silent != silent {
				t.Errorf("%s on %s: silent is %v", name, executor, r.Silent)
			}
		}
	}
}

// 100 sends before 100 receives need 100 slots. The search also sets the slots where the entry of
// the algorithm has its own number. It does so too if the algorithm is that of the defaults.
func TestSlotsOfTheEntry(t *testing.T) {
	name := register("repair_hundred_sends", func(c *tl.Context, a tl.Args) {
		own := c.Load(a.Shard(c.Rank()))
		for range 100 {
			c.Send(tl.East, own)
		}
		for range 100 {
			c.Recv(tl.West, own.Shape(), own.DType())
		}
		reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
			c.Send(tl.East, current)
			return c.Recv(tl.West, acc.Shape(), acc.DType())
		})(c, a)
	})
	wrong := register("repair_hundred_sends_wrong", func(c *tl.Context, a tl.Args) {
		own := c.Load(a.Shard(c.Rank()))
		for range 100 {
			c.Send(tl.East, own)
		}
		for range 100 {
			c.Recv(tl.West, own.Shape(), own.DType())
		}
	})
	for _, tt := range []struct {
		name string
		spec run.Spec
		want string
	}{
		{"wrong", run.Spec{Algorithm: wrong}, "with 128 slots the run ends, with wrong results"},
		{"defaults", run.Spec{Algorithm: name}, "n_slots: 100 works (with 99 it deadlocks)"},
		{"entry", run.Spec{Algorithm: "own", Sets: []string{"algorithms.own.module=" + name,
			"algorithms.own.n_slots=4"}}, "n_slots: 100 works (with 99 it deadlocks)"},
		{"entry of the default algorithm", run.Spec{Bench: "ccl_allreduce",
			Sets: []string{"defaults.algorithm=own", "algorithms.own.module=" + name, "algorithms.own.n_slots=4"}},
			"n_slots: 100 works (with 99 it deadlocks)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.spec
			s.Topology, s.Ranks, s.NElem, s.Executor = "ahbm-cube", 4, 8, "sim"
			_, err := run.Run(context.Background(), s)
			if !repair.Applies(err) {
				t.Fatalf("the run ends with %v", err)
			}
			r := repair.Search(context.Background(), s, err, time.Minute)
			if !strings.HasPrefix(r.Slots, tt.want) {
				t.Errorf("%+v", r)
			}
		})
	}
}
