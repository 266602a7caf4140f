package mock_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// own loads the rank's vector.
func own(c *tl.Context, a tl.Args) tl.Tensor { return c.Load(a.Shard(c.Rank())) }

// like receives what looks like t.
func like(c *tl.Context, d tl.Dir, t tl.Tensor) tl.Tensor { return c.Recv(d, t.Shape(), t.DType()) }

// Every mistake of a kernel ends the launch with an error of its own type, which names the place
// and the mistake.
func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		cfg    kerneltest.Config
		kernel tl.Kernel
		want   error // its type
		text   []string
	}{
		{
			name:   "invalid direction",
			kernel: func(c *tl.Context, a tl.Args) { c.Send(tl.North, own(c, a)) },
			want:   &fault.InvalidDirection{},
			text:   []string{"rank 0 send(N) at mock/fault_test.go:", "this rank can send to: E W "},
		},
		{
			name: "use after credit",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Send(tl.East, x)
				c.Send(tl.East, x)
				first := like(c, tl.West, x)
				like(c, tl.West, x)
				c.Add(first, x)
			},
			want: &fault.UseAfterCredit{},
			text: []string{"rank 1 add at mock/fault_test.go:", "slot of recv(W) #0 at mock/fault_test.go:",
				"at recv(W) #1 at mock/fault_test.go:"},
		},
		{
			name: "use after an undirected receive",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Send(tl.East, x)
				c.Send(tl.West, x)
				first := like(c, tl.West, x)
				c.RecvAny(x.Shape(), x.DType())
				c.Add(first, x)
			},
			want: &fault.UseAfterCredit{},
			text: []string{"slot of recv(W) #0", "went back to its sender at recv(any) at mock/fault_test.go:"},
		},
		{
			name: "shapes that differ",
			kernel: func(c *tl.Context, a tl.Args) {
				c.Send(tl.East, own(c, a))
				c.Recv(tl.West, tl.Dims(2, 2), dtype.F32)
			},
			want: &fault.Mismatch{},
			text: []string{"rank 1 recv(W)", "expected f32[2 2], rank 0 sent f32[4]"},
		},
		{
			name: "sizes that differ, loose",
			cfg:  kerneltest.Config{Loose: true},
			kernel: func(c *tl.Context, a tl.Args) {
				c.Send(tl.East, own(c, a))
				c.Recv(tl.West, tl.Dims(4), dtype.F16)
			},
			want: &fault.Mismatch{},
			text: []string{"expected f16[4], rank 0 sent f32[4]"},
		},
		{
			name:   "never received",
			kernel: func(c *tl.Context, a tl.Args) { c.Send(tl.East, own(c, a)) },
			want:   &fault.Unreceived{},
			text: []string{"rank 0", "1 message from rank 2 (direction W)",
				"rank 2 sent the first with send(E) at mock/fault_test.go:", "; that ring has no receive at all"},
		},
		{
			name: "more sent than received",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				for range 3 {
					c.Send(tl.East, x)
				}
				c.Recv(tl.West, x.Shape(), x.DType())
			},
			want: &fault.Unreceived{},
			text: []string{"2 messages from rank 2 (direction W)", "send(E) at mock/fault_test.go:",
				"the last receive of that ring was recv(W) #0 at mock/fault_test.go:"},
		},
		{
			name: "announced, and never waited for",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Send(tl.East, x)
				c.Send(tl.East, x)
				first := c.RecvAsync(tl.West, x.Shape(), x.DType())
				c.RecvAsync(tl.West, x.Shape(), x.DType())
				c.Wait(first)
			},
			want: &fault.Unreceived{},
			text: []string{"1 message from rank 2 (direction W)", "recv_async(W) #1 at mock/fault_test.go:",
				"announced its receive, and nothing waited for it"},
		},
		{
			name: "never received, longer than all slots",
			cfg:  kerneltest.Config{Slots: 1, SlotBytes: 8},
			kernel: func(c *tl.Context, a tl.Args) {
				if c.Rank() == 1 {
					c.Send(tl.East, own(c, a))
				}
			},
			want: &fault.Unreceived{},
			text: []string{"rank 2", "1 message from rank 1"},
		},
		{
			name: "memory that was never written",
			kernel: func(c *tl.Context, a tl.Args) {
				c.Load(c.Ref(mem.At(mem.HBM, 7, 64), tl.Dims(1), dtype.F32))
			},
			want: &fault.BadAddress{},
			text: []string{"rank 0 load at mock/fault_test.go:", "bad address hbm[7]:0x40, 4 bytes: nothing is mapped there"},
		},
		{
			name:   "a panic",
			kernel: func(c *tl.Context, a tl.Args) { _ = a.Ints[c.Rank()] },
			want:   &fault.Panic{},
			text:   []string{"rank 0 at mock/fault_test.go:", ": kernel panicked: runtime error: index out of range", "fault_test.go:"},
		},
		{
			name: "a fault that the kernel tries to swallow",
			kernel: func(c *tl.Context, a tl.Args) {
				defer func() { _ = recover() }()
				c.Send(tl.South, own(c, a))
			},
			want: &fault.InvalidDirection{},
			text: []string{"send(S)"},
		},
		{
			name: "too little scratch to assemble",
			cfg:  kerneltest.Config{Scratch: 24, SlotBytes: 8},
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Pin(x)
				c.Send(tl.East, x)
				like(c, tl.West, x)
			},
			want: &fault.ScratchFull{},
			text: []string{"recv", "needs 16 B, scratch has 24 B of which 16 B is pinned"},
		},
		{
			name: "a receive past announced ones",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Send(tl.East, x)
				c.RecvAsync(tl.West, x.Shape(), x.DType())
				like(c, tl.West, x)
			},
			want: &fault.Misuse{},
			text: []string{"wait for their futures first"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Inputs = vectors(3, 4)
			_, err := kerneltest.Try(tt.kernel, tt.cfg)
			if err == nil || reflect.TypeOf(err) != reflect.TypeOf(tt.want) {
				t.Fatalf("%T %v, want %T", err, err, tt.want)
			}
			for _, text := range tt.text {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%v\nlacks %q", err, text)
				}
			}
		})
	}
}

// The first fault in the order in which ranks run ends the launch. Rank 1 is the first to reach
// one, since rank 0 waits for it.
func TestFirstFaultWins(t *testing.T) {
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		x := own(c, a)
		if c.Rank() == 0 {
			x = like(c, tl.East, x)
		} else if c.Rank() == 1 {
			c.Send(tl.West, x)
		}
		c.Send(tl.North, x)
	}, kerneltest.Config{Inputs: vectors(3, 1)})
	var f *fault.InvalidDirection
	if !errors.As(err, &f) || f.Rank != 1 {
		t.Errorf("%v, want the fault of rank 1", err)
	}
}

// Abandon is for executors. If a kernel calls it, its end means nothing.
func TestAbandonIsNotForKernels(t *testing.T) {
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) { tl.DriverOf(c).Abandon() }, kerneltest.Config{World: 2})
	var f *fault.Misuse
	if !errors.As(err, &f) || f.Rank != 0 || !strings.Contains(f.Reason, "for executors") {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	turns := 0
	kernels := map[string]tl.Kernel{
		"in turns": func(c *tl.Context, a tl.Args) {
			for x := own(c, a); ; x = like(c, tl.West, x) {
				if turns++; turns == 100 {
					cancel()
				}
				c.Send(tl.East, x)
			}
		},
		"without ever waiting": func(c *tl.Context, a tl.Args) {
			for {
				c.Free(own(c, a))
			}
		},
	}
	for _, name := range []string{"in turns", "without ever waiting"} {
		_, err := kerneltest.Observe(ctx, kernels[name], kerneltest.Config{Inputs: vectors(3, 4)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want it cancelled", name, err)
		}
	}
}

// What Observe cannot run it refuses.
func TestBadConfig(t *testing.T) {
	idle := func(*tl.Context, tl.Args) {}
	tests := []struct {
		name string
		cfg  kerneltest.Config
		want string
	}{
		{"no ranks", kerneltest.Config{}, "no ranks"},
		{"inputs of other ranks", kerneltest.Config{World: 3, Inputs: vectors(2, 1)}, "2 inputs for 3 ranks"},
		{"ragged", kerneltest.Config{Inputs: [][]float64{{1}, {1, 2}}}, "rank 1 has 2 elements, rank 0 has 1"},
		{"results of other ranks", kerneltest.Config{World: 2, OutElems: []int{1, 2, 3}}, "3 results for 2 ranks"},
		{"topology", kerneltest.Config{World: 2, Topology: "circle"}, `unknown topology "circle"`},
		{"grid", kerneltest.Config{World: 3, Topology: "mesh_2d"}, "w or h must be given"},
		{"slots", kerneltest.Config{World: 2, Slots: -1}, "n_slots -1"},
		{"slot size", kerneltest.Config{World: 2, SlotBytes: 2}, "slot_size 2"},
	}
	for _, tt := range tests {
		if _, err := kerneltest.Try(idle, tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := kerneltest.Try(nil, kerneltest.Config{World: 2}); err == nil || !strings.Contains(err.Error(), "no kernel") {
		t.Errorf("no kernel: %v", err)
	}
}
