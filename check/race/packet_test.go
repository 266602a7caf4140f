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

// packetCase holds what rank 0 sends and rank 1 receives, and the hazards of it.
type packetCase struct {
	name          string
	sends, reads  func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal)
	want, missing string // in the text of the hazards; "": there are none
	order         mem.Ordering
}

// TestPackets: a flag orders its own line only, and another use of a place needs another flag.
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
	one := func(c *tl.Context, a tl.Args, part tl.Sym) {
		t := c.Load(c.Local(part))
		c.Store(a.Shard(1).Slice(0, t.Len()), t)
	}
	for _, test := range []packetCase{
		{"each after its flag", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			for half := range 2 {
				c.WaitLL(flags.At(half), 1)
				take(c, a, data, half)
			}
		}, "", "", mem.PutSignal},
		{"the other packet after this flag", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(1), 1)
			take(c, a, data, 0)
		}, "race on window.w.data", "put_ll", mem.PutSignal},
		{"no flag awaited", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) { take(c, a, data, 0) },
			"race on window.w.data", "put_ll", mem.PutSignal},
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
		}, "reused flag of window.w.flags", "count calls", mem.PutSignal},
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
		}, "", "", mem.PutSignal},
		{"another flag before the packet was read", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.Quiet()
			put(c, a, data, flags, 0, 2)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(0), 2)
			take(c, a, data, 0)
		}, "", "", mem.PutSignal},
		{"a packet that is replaced while it is read", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 1, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			put(c, a, data, flags, 1, 2)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLL(flags.At(1), 1)
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
			take(c, a, data, 1)
		}, "race on window.w.data", "put_ll", mem.PutSignal},
		{"its line after the flag of a line", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(1), 1, 0, 1)
			one(c, a, data.Chunk(2, 1).Slice(0, 1))
		}, "", "", mem.PutSignal},
		{"the second line after the flag of the first", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(1), 1, 0, 1)
			one(c, a, data.Chunk(2, 1).Slice(1, 1))
		}, "race on window.w.data", "has waited for only some lines of put_ll", mem.PutSignal},
		{"all lines after the flags of three", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(0), 1, 1, 3)
			take(c, a, data, 0)
		}, "race on window.w.data", "and a flag orders only its own line", mem.PutSignal},
		{"all lines, each after its flag", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			for _, line := range []int{2, 0, 3, 1} {
				c.WaitLines(flags.At(0), 1, line, 1)
			}
			take(c, a, data, 0)
		}, "", "", mem.PutSignal},
		{"the whole packet after one line", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(0), 1, 3, 1)
			one(c, a, data.Slice(3, 1))
			c.WaitLL(flags.At(0), 1)
			take(c, a, data, 0)
		}, "", "", mem.PutSignal},
		{"a line of both packets", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.Slice(0, 2), 1, 2, 2)
			one(c, a, data.Slice(2, 2))
			one(c, a, data.Slice(6, 2))
		}, "", "", mem.PutSignal},
		{"a line that was known before a notification", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			c.Load(c.At(data.Slice(0, 1), 1))
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(0), 1, 0, 1)
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
		}, "", "", mem.PutSignal},
		{"another line than was known before a notification", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			c.Load(c.At(data.Slice(1, 1), 1))
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(0), 1, 0, 1)
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
		}, "race on window.w.data", "put_ll", mem.PutSignal},
		{"a packet that replaces lines that were not awaited", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			put(c, a, data, flags, 0, 2)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(0), 1, 0, 1)
			one(c, a, data.Slice(0, 1))
			c.PipeBarrier()
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
		}, "race on window.w.data", "a fence between put_ll", mem.PutSignal},
		{"a line of which another rank knows", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			put(c, a, data, flags, 0, 1)
			c.WaitUntil(flags.At(3), tl.GE, 1)
			c.Load(c.At(data.Slice(0, 1), 1))
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.Notify(flags.At(3), 0, tl.SignalAdd, 1)
			c.WaitLines(flags.At(0), 1, 0, 1)
		}, "race on window.w.data", "put_ll", mem.PutSignal},
		{"in order, the packet before a line", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(1), 1, 0, 1)
			take(c, a, data, 0)
			one(c, a, data.Slice(4, 1))
		}, "", "", mem.InOrder},
		{"in order, the line after a line", both, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(1), 1, 0, 1)
			one(c, a, data.Slice(5, 1))
		}, "race on window.w.data", "put_ll", mem.InOrder},
		{"lines of 128 bytes", func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.PutLL128(data, 1, c.Load(a.Shard(0)), flags.At(0), 1)
		}, func(c *tl.Context, a tl.Args, data tl.Sym, flags tl.Signal) {
			c.WaitLines(flags.At(0), 1, 0, 1)
			c.Load(c.Local(data))
		}, "", "", mem.PutSignal},
	} {
		for _, executor := range []string{"mock", "sim"} {
			for seed := range uint64(6) {
				cfg := kerneltest.Config{World: 2, NElem: 8, DType: dtype.F32, Layout: packetWindow(t), Seed: seed, Order: test.order,
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
