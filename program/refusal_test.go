package program_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// windowed returns a launch on a ring whose ranks share a window of words and data.
func windowed(t *testing.T, k tl.Kernel) *launch.Launch {
	t.Helper()
	l := ring(2, k)
	team, err := mem.NewTeam("all", l.Groups[0].PEs)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := mem.NewLayout(0, []mem.Buffer{
		{Name: "data", Parts: []mem.Part{mem.DataPart("", dtype.F16, 8)}},
		{Name: "sig", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 2)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Groups[0].Args.Windows = []*mem.Window{mem.NewWindow("w", team, layout, 1<<21)}
	return l
}

func signal(c *tl.Context, a tl.Args) tl.Signal { return c.Signals(a.Window(0), "sig").At(0) }

func data(c *tl.Context, a tl.Args) tl.Sym { return c.Data(a.Window(0), "data") }

// TestRefusals: a kernel that asks, or does something that the options exclude, is refused. The
// error names the line, on any rank.
func TestRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		want  string
		asks  bool // refused also if other memory is allowed
		other tl.Kernel
	}{
		"receive from any": {"asks (recv any)", true, func(c *tl.Context, a tl.Args) { c.Recv(tl.AnyDir, tl.Dims(4), a.DType) }},
		"test":             {"asks (test)", true, func(c *tl.Context, a tl.Args) { c.Test(signal(c, a), tl.GE, 1) }},
		"load_scalar":      {"asks (load_scalar)", true, func(c *tl.Context, a tl.Args) { c.LoadScalar(signal(c, a)) }},
		"fetch_add":        {"asks (fetch_add)", true, func(c *tl.Context, a tl.Args) { c.FetchAdd(signal(c, a), 1, 2) }},
		"compare_swap":     {"asks (compare_swap)", true, func(c *tl.Context, a tl.Args) { c.CompareSwap(signal(c, a), 1, 2, 3) }},
		"composite": {"uses composite, which is not an operation", true, func(c *tl.Context, a tl.Args) {
			c.Composite(tl.Composite{A: mine(c, a), Out: mine(c, a)})
		}},
		"load of another's": {"accesses memory other than", false, func(c *tl.Context, a tl.Args) { c.Load(a.Shard(0)) }},
		"store to another's": {"accesses memory other than", false,
			func(c *tl.Context, a tl.Args) { c.Store(a.Shard(0), c.Load(mine(c, a))) }},
		"send of another's": {"accesses memory other than", false, func(c *tl.Context, a tl.Args) { c.SendRef(tl.East, a.Shard(0)) }},
		"channels": {"names the channels of a message", false, func(c *tl.Context, a tl.Args) {
			c.UseChannels(2)
			c.SendRef(tl.East, mine(c, a))
		}},
		"SRAM": {"accesses memory other than", false, func(c *tl.Context, a tl.Args) {
			c.Load(tl.Ref{Addr: mem.At(mem.SRAM, 0, 0), Shape: tl.Dims(1), DType: a.DType})
		}},
		"beyond the memory": {"accesses memory other than", false, func(c *tl.Context, a tl.Args) { c.Load(at(c, int64(own)-6)) }},
		"rows beyond the memory": {"accesses memory other than", false, func(c *tl.Context, a tl.Args) {
			r := at(c, int64(own)-14)
			r.Shape = tl.Dims(8)
			c.LoadTile(c.Desc(r, 2, 4, 2, 2), 0, 2)
		}},
		"receive into memory": {"receives into memory", false, func(c *tl.Context, a tl.Args) { c.RecvTo(tl.West, mine(c, a)) }},
		"put":                 {"uses put", false, func(c *tl.Context, a tl.Args) { c.Put(data(c, a), 0, mine(c, a).Slice(0, 8)) }},
		"get":                 {"uses get", false, func(c *tl.Context, a tl.Args) { c.Get(mine(c, a).Slice(0, 8), data(c, a), 0) }},
		"notify":              {"uses notify", false, func(c *tl.Context, a tl.Args) { c.Notify(signal(c, a), 0, tl.SignalAdd, 1) }},
		"wait":                {"uses wait_until", false, func(c *tl.Context, a tl.Args) { c.WaitUntil(signal(c, a), tl.GE, 1) }},
		"fence":               {"uses fence", false, func(c *tl.Context, a tl.Args) { c.Fence() }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, odd := range []int{-1, 1} { // all ranks, or the last one
				for _, when := range []string{"first", "last"} {
					l := windowed(t, func(c *tl.Context, a tl.Args) {
						if when == "last" {
							usual(c, a)
						}
						if odd < 0 && c.Rank() == 0 && !tt.asks && strings.Contains(tt.want, "memory other") &&
							name != "SRAM" && !strings.Contains(name, "beyond") {
							return // its own
						}
						if odd < 0 || c.Rank() == odd {
							tt.other(c, a)
						}
					})
					_, err := program.RecordLaunch(t.Context(), l, program.Options{Own: own})
					var refused *program.Refusal
					if !errors.As(err, &refused) || !strings.Contains(refused.Reason, tt.want) ||
						!strings.HasPrefix(refused.Place.Line, "program/refusal_test.go:") {
						t.Errorf("rank %d, %s: %v, want %s", odd, when, err, tt.want)
					}
					if _, err = program.RecordLaunch(t.Context(), l, program.Options{}); errors.As(err, &refused) != tt.asks {
						t.Errorf("rank %d, %s, of any memory: %v", odd, when, err)
					}
				}
			}
		})
	}
}

func at(c *tl.Context, off int64) tl.Ref {
	return tl.Ref{Addr: mem.At(mem.HBM, int(peOf(c.Rank())), off), Shape: tl.Dims(4), DType: dtype.F16}
}

// TestToTheEndOfMemory: the last bytes that the options allow can be accessed.
func TestToTheEndOfMemory(t *testing.T) {
	l := ring(3, func(c *tl.Context, a tl.Args) {
		c.Load(at(c, int64(own)-8))
		r := at(c, int64(own)-16)
		r.Shape = tl.Dims(8)
		c.LoadTile(c.Desc(r, 2, 4, 2, 2), 0, 2)
	})
	p := record(t, l, program.Options{Own: own, Places: true})
	if d := differs(t, l, p); d != "" {
		t.Error(d)
	}
}

// TestMoreThanMemory: an access of more bytes than the options allow is refused wherever it is.
func TestMoreThanMemory(t *testing.T) {
	for _, off := range []int64{0, 8, 96} {
		l := ring(2, func(c *tl.Context, a tl.Args) {
			r := at(c, off)
			r.Shape = tl.Dims(52)
			c.Load(r)
		})
		_, err := program.RecordLaunch(t.Context(), l, program.Options{Own: 100})
		if _, ok := errors.AsType[*program.Refusal](err); !ok {
			t.Errorf("104 bytes at %d of 100: %v", off, err)
		}
	}
}

// TestKernelFault: a kernel that fails fails with its own fault, on whichever rank.
func TestKernelFault(t *testing.T) {
	for _, odd := range []int{0, 2} {
		l := ring(3, func(c *tl.Context, a tl.Args) {
			x := usual(c, a)
			if c.Rank() == odd {
				c.Free(x)
				c.Send(tl.East, x)
			}
		})
		_, err := program.RecordLaunch(t.Context(), l,
			program.Options{PEName: func(pe int) string { return []string{2: "two", 8: "eight"}[pe] }})
		var f *fault.UseAfterFree
		if !errors.As(err, &f) || f.Rank != odd || !strings.Contains(f.Line, "refusal_test.go:") ||
			f.PE != map[int]string{0: "two", 2: "eight"}[odd] {
			t.Errorf("rank %d: %v", odd, err)
		}
	}
	l := ring(3, func(c *tl.Context, a tl.Args) {
		if c.Rank() == 1 {
			panic("here")
		}
	})
	_, err := program.RecordLaunch(t.Context(), l, program.Options{})
	if p, ok := errors.AsType[*fault.Panic](err); !ok || p.Rank != 1 || p.Value != "here" {
		t.Errorf("panic: %v", err)
	}
	l = ring(3, func(c *tl.Context, a tl.Args) { tl.DriverOf(c).Abandon() })
	if _, err = program.RecordLaunch(t.Context(), l, program.Options{}); err == nil || !strings.Contains(err.Error(), "returning") {
		t.Errorf("abandoned: %v", err)
	}
}

// TestCaughtRefusal: a kernel that recovers from the panic that ends it is refused all the same.
func TestCaughtRefusal(t *testing.T) {
	for _, o := range []program.Options{{Own: own}, {Own: own, Budget: 1000}} {
		l := ring(3, func(c *tl.Context, a tl.Args) {
			defer func() { _ = recover() }()
			for range 200 {
				c.Load(mine(c, a))
			}
			c.Fence()
		})
		p, err := program.RecordLaunch(t.Context(), l, o)
		if p != nil || err == nil {
			t.Errorf("%+v: %v, %v", o, p, err)
		}
	}
}

// TestUsesAreKept: kernels count uses of a window for themselves, each from where the launch is.
func TestUsesAreKept(t *testing.T) {
	var counts []int
	l := ring(3, func(c *tl.Context, a tl.Args) { counts = append(counts, a.Use(1), a.Use(1)) })
	l.Groups[0].Args.Uses = []int{5, 7}
	record(t, l, program.Options{})
	if !slices.Equal(l.Groups[0].Args.Uses, []int{5, 7}) || !slices.Equal(counts, []int{8, 9, 8, 9, 8, 9}) {
		t.Errorf("uses %v, counted %v", l.Groups[0].Args.Uses, counts)
	}
}

// TestCancelled: a recording ends when its context does, in the middle of a long kernel and between
// short ones. This holds for the first rank and for those compared with it.
func TestCancelled(t *testing.T) {
	for _, loads := range []int{10, 100_000} {
		for _, odd := range []int{0, 3} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := 0
			l := ring(2000, func(c *tl.Context, a tl.Args) {
				for i := range loads {
					if c.Rank() == odd && i == 5 {
						cancel()
					}
					c.Free(c.Load(mine(c, a)))
				}
				ended++
			})
			if _, err := program.RecordLaunch(ctx, l, program.Options{}); !errors.Is(err, context.Canceled) ||
				ended > 1999 || loads > 1000 && ended != odd {
				t.Errorf("%d loads: %v, %d kernels ended", loads, err, ended)
			}
			cancel()
		}
	}
}
