package mock_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// spinBarrier is the barrier of a library that polls. Each rank swaps a flag of its own into every
// other rank, and takes back the flags of the others.
func spinBarrier(c *tl.Context, flags tl.Signal) {
	me := c.Rank()
	for r := range c.WorldSize() {
		for c.CompareSwap(flags.At(me), r, 0, 1) != 0 {
		}
	}
	for r := range c.WorldSize() {
		for c.CompareSwap(flags.At(r), me, 1, 0) != 1 {
		}
	}
}

// Kernels that poll come to an end, whatever the schedule.
func TestSpinning(t *testing.T) {
	tests := []struct {
		name   string
		kernel func(c *tl.Context, s tl.Signal)
	}{
		{"a barrier of swaps", func(c *tl.Context, s tl.Signal) {
			for range 5 {
				spinBarrier(c, s)
			}
		}},
		{"tests", func(c *tl.Context, s tl.Signal) {
			c.Notify(s, (c.Rank()+1)%c.WorldSize(), tl.SignalSet, 1)
			for !c.Test(s.At(0), tl.EQ, 1) {
			}
		}},
		{"reads", func(c *tl.Context, s tl.Signal) {
			c.Notify(s, (c.Rank()+1)%c.WorldSize(), tl.SignalSet, 1)
			for c.LoadScalar(s) == 0 {
			}
		}},
		{"tests of several words, with quiet", func(c *tl.Context, s tl.Signal) {
			if c.Rank() == 0 {
				for i := range 3 {
					for r := 1; r < c.WorldSize(); r++ {
						c.Notify(s.At(2-i), r, tl.SignalAdd, 1)
					}
					c.Quiet()
				}
				return
			}
			for done := [3]bool{}; done != [3]bool{true, true, true}; c.Quiet() {
				for i := range done {
					done[i] = done[i] || c.Test(s.At(i), tl.GT, 0)
				}
			}
		}},
		{"reads of another's word", func(c *tl.Context, s tl.Signal) {
			if c.Rank() == 2 {
				c.Notify(s, 3, tl.SignalSet, 1)
			}
			for c.FetchAdd(s, 3, 0) == 0 {
			}
		}},
		{"a rank that never rests", func(c *tl.Context, s tl.Signal) {
			if c.Rank() == 0 {
				for !c.Test(s, tl.EQ, 1) {
				}
				c.Notify(s.At(1), 1, tl.SignalSet, 1)
			}
			if c.Rank() == 1 {
				for range 1000 { // until rank 0 has given up polling
					c.Test(s, tl.EQ, 1)
					c.Full(tl.Dims(1), dtype.F32, 0)
				}
				c.Notify(s, 0, tl.SignalSet, 1)
				for !c.Test(s.At(1), tl.EQ, 1) {
					c.FetchAdd(s.At(2), 1, 1)
				}
			}
		}},
		{"a lock", func(c *tl.Context, s tl.Signal) {
			for range 10 {
				for c.CompareSwap(s, 0, 0, 1) != 0 {
				}
				c.Notify(s.At(1), 0, tl.SignalAdd, 1)
				c.Quiet()
				c.Notify(s, 0, tl.SignalSet, 0)
				c.Quiet()
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(30) {
				kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
					tt.kernel(c, c.Signals(a.Window(0), "flags").At(0))
				}, kerneltest.Config{World: 4, Layout: layout(t, 1, 4), Seed: seed})
			}
		})
	}
}

// A kernel may look at many words, and at one many times, before it does what others wait for.
func TestLookingIsNotSpinning(t *testing.T) {
	for seed := range uint64(3) {
		kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
			flags := c.Signals(a.Window(0), "flags")
			if c.Rank() == 1 {
				c.WaitUntil(flags.At(0), tl.EQ, 1)
				return
			}
			for i := range 500 {
				if c.Test(flags.At(i), tl.NE, 0) {
					panic("no rank has notified")
				}
			}
			for range 10 {
				for i := range 500 {
					c.LoadScalar(flags.At(i))
				}
			}
			for range 500 {
				c.Test(flags.At(7), tl.EQ, 1)
				c.Full(tl.Dims(1), a.DType, 1)
			}
			c.Notify(flags.At(0), 1, tl.SignalSet, 1)
		}, kerneltest.Config{World: 2, Layout: layout(t, 1, 500), Seed: seed})
	}
}

// A kernel that counts its polls may give up, and go on, again and again: even when no other rank
// else could do anything.
func TestPatience(t *testing.T) {
	for seed := range uint64(5) {
		kerneltest.Once(t, func(c *tl.Context, a tl.Args) {
			flag := c.Signals(a.Window(0), "flags").At(0)
			if c.Rank() == 1 {
				c.WaitUntil(flag, tl.EQ, 100)
				return
			}
			for range 100 {
				for i := 0; i < 500 && !c.Test(flag, tl.EQ, 1); i++ {
				}
				c.Notify(flag, 1, tl.SignalAdd, 1)
			}
		}, kerneltest.Config{World: 2, Layout: layout(t, 1, 1), Seed: seed})
	}
}

// What waits or spins for a notification that no rank will make is reported, with what it
// waits for.
func TestMissingNotifications(t *testing.T) {
	tests := []struct {
		name    string
		kernel  func(c *tl.Context, w *mem.Window, s tl.Signal)
		blocked int
		first   fault.Blocked // but for its line
		missing string
		cycle   int
		advice  string
	}{
		{
			name: "one rank notifies too little",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				for r := range 3 {
					if c.Rank() != 1 || r != 2 {
						c.Notify(s.At(3), r, tl.SignalAdd, 1)
					}
				}
				c.WaitUntil(s.At(3), tl.GE, 3)
			},
			blocked: 1,
			first:   fault.Blocked{Place: fault.Place{Rank: 2, Op: "wait_until"}, Word: "window.flags[3]", Held: 2, Want: ">= 3"},
			missing: "missing notification: no agent is left that could change window.flags[3], which rank 2 waits for in wait_until",
		},
		{
			name: "all ranks wait first",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				c.WaitUntil(s, tl.NE, 0)
				c.Notify(s, (c.Rank()+1)%3, tl.SignalSet, 1)
			},
			blocked: 3,
			first: fault.Blocked{Place: fault.Place{Rank: 0, Op: "wait_until"}, Word: "window.flags[0]",
				Want: "!= 0", Peers: []int{1, 2}},
		},
		{
			name: "two wait for each other",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() < 2 {
					c.WaitUntil(s, tl.LT, 0)
				}
			},
			blocked: 2,
			first:   fault.Blocked{Place: fault.Place{Rank: 0, Op: "wait_until"}, Word: "window.flags[0]", Want: "< 0", Peers: []int{1}},
			cycle:   2,
			advice:  "let one of them notify first",
		},
		{
			name: "one value too far",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() == 0 {
					c.Notify(s, 1, tl.SignalAdd, 1)
					c.Notify(s, 1, tl.SignalAdd, 1)
					c.Quiet()
					c.Notify(s.At(1), 1, tl.SignalSet, 1)
				}
				if c.Rank() == 1 {
					c.WaitUntil(s.At(1), tl.EQ, 1)
					c.WaitUntil(s, tl.EQ, 1)
				}
			},
			blocked: 1,
			first:   fault.Blocked{Place: fault.Place{Rank: 1, Op: "wait_until"}, Word: "window.flags[0]", Held: 2, Want: "== 1"},
			missing: "missing notification: no agent is left that could change window.flags[0], which rank 1 waits for in wait_until",
			advice:  "may have passed 1",
		},
		{
			name: "a test in vain",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() == 1 {
					for !c.Test(s.Slice(0, 4), tl.GE, 5) {
					}
				}
			},
			blocked: 1,
			first:   fault.Blocked{Place: fault.Place{Rank: 1, Op: "test"}, Word: "window.flags[0]", Want: ">= 5"},
			missing: "missing notification: no agent is left that could change window.flags[0], which rank 1 waits for in test",
		},
		{
			name: "a lock that no rank opens",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				for c.CompareSwap(s, 2, 0, int64(c.Rank()+1)) != 0 {
				}
			},
			blocked: 2,
			first:   fault.Blocked{Place: fault.Place{Rank: 0, Op: "compare_swap"}, Word: "window.flags[0] of rank 2", Want: "== 0"},
			cycle:   2,
		},
		{
			name: "a read in vain",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() == 0 {
					for c.LoadScalar(s.At(1)) == 0 {
					}
				}
			},
			blocked: 1,
			first:   fault.Blocked{Place: fault.Place{Rank: 0, Op: "load_scalar"}, Word: "window.flags[1]", Want: "to change"},
			missing: "missing notification: no agent is left that could change window.flags[1], which rank 0 waits for in load_scalar",
		},
		{
			name: "a read of another's word in vain",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				for c.Rank() == 0 && c.FetchAdd(s, 1, 0) == 0 {
				}
			},
			blocked: 1,
			first:   fault.Blocked{Place: fault.Place{Rank: 0, Op: "fetch_add"}, Word: "window.flags[0] of rank 1", Want: "to change"},
			missing: "missing notification: no agent is left that could change window.flags[0] of rank 1, which rank 0 waits for in fetch_add",
		},
		{
			name: "a meeting that one does not come to",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() != 2 {
					c.Barrier(w.Team)
				}
			},
			blocked: 2,
			first:   fault.Blocked{Place: fault.Place{Rank: 0, Op: "sync"}, Word: "world.meeting.rounds[0]", Want: ">= 1", Peers: []int{2}},
			missing: "missing sync: rank 2 finished without the sync that rank 0 waits for",
			advice:  "every member of a team",
		},
		{
			name: "a meeting that one is late for",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() == 2 {
					c.Recv(tl.West, tl.Dims(1), dtype.F32)
				}
				c.Sync(w.Team)
				c.Send(tl.East, c.Full(tl.Dims(1), dtype.F32, 1))
			},
			blocked: 3,
			first:   fault.Blocked{Place: fault.Place{Rank: 0, Op: "sync"}, Word: "world.meeting.rounds[0]", Want: ">= 1", Peers: []int{2}},
			cycle:   2,
		},
		{
			name: "waits and messages",
			kernel: func(c *tl.Context, w *mem.Window, s tl.Signal) {
				if c.Rank() == 0 {
					c.WaitUntil(s, tl.EQ, 1)
				} else {
					c.Recv(tl.West, tl.Dims(1), dtype.F32)
				}
			},
			blocked: 3,
			first: fault.Blocked{Place: fault.Place{Rank: 0, Op: "wait_until"}, Word: "window.flags[0]",
				Want: "== 1", Peers: []int{1, 2}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(6) {
				_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
					tt.kernel(c, a.Window(0), c.Signals(a.Window(0), "flags").At(0))
				}, kerneltest.Config{World: 3, Layout: layout(t, 1, 4), Seed: seed})
				var d *fault.Deadlock
				if !errors.As(err, &d) {
					t.Fatalf("seed %d: %T %v, want a deadlock", seed, err, err)
				}
				if len(d.Blocked) != tt.blocked || d.Missing != tt.missing || len(d.Cycle) != tt.cycle ||
					!strings.Contains(d.Advice, tt.advice) {
					t.Errorf("seed %d: %v", seed, err)
				}
				b := d.Blocked[0]
				if !strings.Contains(b.Line, "mock/spin_test.go:") {
					t.Errorf("line %q, want that of the kernel", b.Line)
				}
				if b.Line = ""; b.Op == "compare_swap" {
					tt.first.Rank, tt.first.Held, tt.first.Peers = b.Rank, b.Held, b.Peers // which rank comes first differs
				}
				if b.String() != tt.first.String() || !slices.Equal(b.Peers, tt.first.Peers) {
					t.Errorf("seed %d: first: %v by %v\nwant   %v by %v", seed, &b, b.Peers, &tt.first, tt.first.Peers)
				}
			}
		})
	}
}
