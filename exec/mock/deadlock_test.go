package mock_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/tl"
)

func TestDeadlocks(t *testing.T) {
	tests := []struct {
		name     string
		cfg      kerneltest.Config
		kernel   tl.Kernel
		cycle    []int
		missing  string
		finished []int
		first    fault.Blocked // but for its line
		text     []string
	}{
		{
			name: "all ranks receive first",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				y := like(c, tl.West, x)
				c.Send(tl.East, y)
			},
			cycle: []int{0, 2, 1},
			first: fault.Blocked{Place: fault.Place{Rank: 0, Op: "recv(W)"}, Dir: "W", Peers: []int{2}, Slots: 4},
			text: []string{"3 of 3 ranks cannot go on", "let one of them send first",
				"rank 1 from W (rank 0): my_tail=0 peer_head_cache=0"},
		},
		{
			name:   "forwarding from the only slot",
			cfg:    kerneltest.Config{Slots: 1},
			kernel: algorithm.RingAllReduce.Kernel,
			cycle:  []int{0, 1, 2},
			first: fault.Blocked{Place: fault.Place{Rank: 0, Op: "send(E)"}, Sending: true, Dir: "E",
				Peers: []int{1}, Occupancy: 1, Slots: 1},
			text: []string{"ring E 1/1", "set n_slots: 2", "my_head=1 peer_tail_cache=0"},
		},
		{
			name: "a rank that ends without its send",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				if c.Rank() != 1 {
					c.Send(tl.East, x)
				}
				like(c, tl.West, x)
			},
			missing:  "missing send: rank 1 finished without the send that rank 2 waits for in recv(W)",
			finished: []int{0, 1},
			first:    fault.Blocked{Place: fault.Place{Rank: 2, Op: "recv(W)"}, Dir: "W", Peers: []int{1}, Slots: 4},
		},
		{
			name: "a rank that ends without its receives",
			kernel: func(c *tl.Context, a tl.Args) {
				for range 5 {
					if c.Rank() == 0 {
						c.Send(tl.East, own(c, a))
					}
				}
			},
			missing:  "missing receive: rank 1 finished without the receive that rank 0 waits for in send(E)",
			finished: []int{1, 2},
			first: fault.Blocked{Place: fault.Place{Rank: 0, Op: "send(E)"}, Sending: true, Dir: "E",
				Peers: []int{1}, Occupancy: 4, Slots: 4},
			text: []string{"ring E 4/4"},
		},
		{
			name: "the rest of a long payload",
			cfg:  kerneltest.Config{Slots: 2, SlotBytes: 8},
			kernel: func(c *tl.Context, a tl.Args) {
				if c.Rank() == 1 {
					c.Send(tl.West, own(c, a)) // returns with its first part
					c.Send(tl.West, own(c, a).Slice(0, 1))
				}
			},
			missing:  "missing receive: rank 0 finished without the receive that rank 1 waits for in send(W)",
			finished: []int{0, 2},
			first: fault.Blocked{Place: fault.Place{Rank: 1, Op: "send(W)"}, Sending: true, Dir: "W",
				Peers: []int{0}, Occupancy: 2, Slots: 2},
			text: []string{"rank 1 to W (rank 0): my_head=2 peer_tail_cache=0, sent 4 of 6 elements"},
		},
		{
			name: "any direction, and no rank sends",
			kernel: func(c *tl.Context, a tl.Args) {
				if x := own(c, a); c.Rank() == 0 {
					c.RecvAny(x.Shape(), x.DType())
				}
			},
			missing:  "missing send: rank 1, 2 finished without the send that rank 0 waits for in recv(any)",
			finished: []int{1, 2},
			first:    fault.Blocked{Place: fault.Place{Rank: 0, Op: "recv(any)"}, Dir: "any", Peers: []int{1, 2}, Slots: 4},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Inputs = vectors(3, 6)
			_, err := kerneltest.Try(tt.kernel, tt.cfg)
			var d *fault.Deadlock
			if !errors.As(err, &d) {
				t.Fatalf("%T %v, want a deadlock", err, err)
			}
			if !slices.Equal(d.Cycle, tt.cycle) || d.Missing != tt.missing || !slices.Equal(d.Finished, tt.finished) {
				t.Errorf("cycle %v, missing %q, finished %v; want %v, %q, %v", d.Cycle, d.Missing, d.Finished,
					tt.cycle, tt.missing, tt.finished)
			}
			b := d.Blocked[0]
			if !strings.Contains(b.Line, "_test.go:") && !strings.Contains(b.Line, "algorithm/ring_allreduce.go:") {
				t.Errorf("line %q, want that of the kernel", b.Line)
			}
			b.Line = ""
			if b.String() != tt.first.String() || b.Slots != tt.first.Slots || b.Sending != tt.first.Sending {
				t.Errorf("first: %v\nwant   %v", &b, &tt.first)
			}
			for _, text := range tt.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%v\nlacks %q", err, text)
				}
			}
		})
	}
}
