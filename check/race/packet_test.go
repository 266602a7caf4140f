package race_test

import (
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// packetWindow has data of eight elements and four words.
func packetWindow(t *testing.T) *mem.Layout {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "w",
		Parts: []mem.Part{mem.DataPart("data", dtype.F32, 8), mem.SignalPart("flags", mem.Int32, 4)}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// packetCase is what rank 0 sends and rank 1 receives, and the hazards of it.
type packetCase struct {
	name          string
	sends, reads  func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal)
	want, missing string // in the text of the hazards; "": there are none
}

// TestPackets: a flag orders its own packet only, and another use of a place needs another flag.
func TestPackets(t *testing.T) {
	put := func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal, half int, flag int64) {
		c.PutLL(data.Chunk(2, half), 1, c.Load(a.Shard(0).Chunk(2, half)), flags.At(half), flag)
	}
	both := func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
		put(c, a, data, flags, 0, 1)
		put(c, a, data, flags, 1, 1)
	}
	take := func(c *tl.Context, a tl.Args, data tl.Sym, half int) {
		c.Store(a.Shard(1).Chunk(2, half), c.Load(c.Local(data.Chunk(2, half))))
	}
	for _, test := range []packetCase{
		{"each after its flag", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			for half := range 2 {
				c.WaitLL(flags.At(half), 1)
				take(c, a, data, half)
			}
		}, "", ""},
		{"the other packet after this flag", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(1), 1)
			take(c, a, data, 0)
		}, "race on window.w.data", "put_ll"},
		{"no flag awaited", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) { take(c, a, data, 0) },
			"race on window.w.data", "put_ll"},
		{"the same flag again", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			put(c, a, data, flags, 0, 1)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(0), 1)
			take(c, a, data, 0)
			c.PipeBarrier()
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
			c.WaitLL(flags.At(0), 1)
			take(c, a, data, 0)
		}, "reused flag of window.w.flags", "count calls"},
		{"another flag", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			put(c, a, data, flags, 0, 2)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			for flag := range 2 {
				c.WaitLL(flags.At(0), int64(flag)+1)
				take(c, a, data, 0)
				c.PipeBarrier()
				c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
			}
		}, "", ""},
		{"another flag before the packet was read", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.Quiet()
			put(c, a, data, flags, 0, 2)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(0), 2)
			take(c, a, data, 0)
		}, "", ""},
		{"a packet that is replaced while it is read", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 1, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			put(c, a, data, flags, 1, 2)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(1), 1)
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
			take(c, a, data, 1)
		}, "race on window.w.data", "put_ll"},
	} {
		for _, executor := range []string{"mock", "sim"} {
			for seed := range uint64(6) {
				cfg := kerneltest.Config{World: 2, NElem: 8, DType: dtype.F32, Layout: packetWindow(t), Seed: seed,
					Executors: []string{executor}}
				_, report, err := kerneltest.Races(func(c *tl.Context, a tl.Args) {
					data, flags := c.Data(a.Window(0), "w.data"), c.Signals(a.Window(0), "w.flags")
					if c.Rank() == 0 {
						test.sends(c, a, data, flags)
					} else {
						test.reads(c, a, data, flags)
					}
				}, cfg)
				if err != nil {
					t.Fatalf("%s, %s, seed %d: %v", test.name, executor, seed, err)
				}
				text := ""
				for i := range report.Hazards {
					text += report.Hazards[i].String() + "\n"
				}
				if (text == "") != (test.want == "") || !strings.Contains(text, test.want) || !strings.Contains(text, test.missing) {
					t.Errorf("%s, %s, seed %d: %q, want %q and %q", test.name, executor, seed, text, test.want, test.missing)
				}
			}
		}
	}
}
