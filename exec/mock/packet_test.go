package mock_test

import (
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// packets returns a kernel in which rank 0 sends a packet. Rank 1 waits for it, and stores what it
// finds in its own shard.
func packets(line tl.PacketLine, wait func(c *tl.Context, flags tl.Signal)) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		data, flags := c.Data(a.Window(0), "w.data"), c.Signals(a.Window(0), "w.flags")
		switch {
		case c.Rank() == 1:
			wait(c, flags)
			c.Store(a.Shard(1), c.Load(c.Local(data)))
		case line == tl.LineLL128:
			c.PutLL128(data, 1, c.Load(a.Shard(0)), flags.At(0), 1)
		default:
			c.PutLL(data, 1, c.Load(a.Shard(0)), flags.At(0), 1)
		}
	}
}

func packetConfig(t *testing.T, n int, typ dtype.Type, seed uint64) kerneltest.Config {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "w",
		Parts: []mem.Part{mem.SignalPart("flags", mem.Int64, 2), mem.DataPart("data", typ, n)}}})
	if err != nil {
		t.Fatal(err)
	}
	return kerneltest.Config{World: 2, NElem: n, DType: typ, Layout: l,
		Collective: kerneltest.None, Executors: []string{"mock"}, Seed: seed}
}

// TestLinesOfPackets: lines come in any order. A kernel that waits for all lines, or for the whole
// packet, has all data in each schedule. One that waits for the first or the last line, and reads
// all, finds wrong data in some schedules.
func TestLinesOfPackets(t *testing.T) {
	const seeds = 60
	for _, test := range []struct {
		line tl.PacketLine
		n    int
		typ  dtype.Type
	}{
		{tl.LineLL, 2, dtype.F32}, {tl.LineLL, 3, dtype.F64}, {tl.LineLL, 5, dtype.F16}, {tl.LineLL, 300, dtype.I8},
		{tl.LineLL128, 31, dtype.F32}, {tl.LineLL128, 1000, dtype.F16}, {tl.LineLL128, 16, dtype.F64},
	} {
		lines := int(test.line.Count(int64(test.n * test.typ.Size())))
		for name, wait := range map[string]func(c *tl.Context, flags tl.Signal){
			"packet":    func(c *tl.Context, flags tl.Signal) { c.WaitLL(flags.At(0), 1) },
			"all lines": func(c *tl.Context, flags tl.Signal) { c.WaitLines(flags.At(0), 1, 0, lines) },
			"each line": func(c *tl.Context, flags tl.Signal) {
				for i := range lines {
					c.WaitLines(flags.At(0), 1, lines-1-i, 1)
				}
			},
			"first line": func(c *tl.Context, flags tl.Signal) { c.WaitLines(flags.At(0), 1, 0, 1) },
			"last line":  func(c *tl.Context, flags tl.Signal) { c.WaitLines(flags.At(0), 1, lines-1, 1) },
		} {
			wrong := 0
			for seed := range uint64(seeds) {
				cfg := packetConfig(t, test.n, test.typ, seed+1)
				out, err := kerneltest.Try(packets(test.line, wait), cfg)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(out[0], out[1]) {
					wrong++
				}
			}
			if some := strings.HasSuffix(name, "t line"); (wrong > 0) != some {
				t.Errorf("%d × %v, %d lines, waiting for %s: wrong in %d of %d schedules", test.n, test.typ, lines, name, wrong, seeds)
			}
		}
	}
}

// TestLinesThatNeverCome: a wait for a line that the packet does not have is named with the lines
// that it has.
func TestLinesThatNeverCome(t *testing.T) {
	for _, x := range []string{"mock", "sim"} {
		cfg := packetConfig(t, 3, dtype.F32, 0)
		cfg.Executors = []string{x}
		_, err := kerneltest.Try(packets(tl.LineLL, func(c *tl.Context, flags tl.Signal) { c.WaitLines(flags.At(0), 1, 2, 2) }), cfg)
		if err == nil || !strings.Contains(err.Error(), "w.flags[0] (lines 2:4 of a packet; the last one has 3) == 1") {
			t.Errorf("%s: %v", x, err)
		}
	}
}
