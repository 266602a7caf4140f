package mock_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// What a kernel can do wrong with windows ends the launch with an error of its type, under
// every schedule.
func TestOneSidedFaults(t *testing.T) {
	tests := []struct {
		name   string
		cfg    kerneltest.Config
		kernel func(c *tl.Context, a tl.Args, w *mem.Window)
		want   error // its type
		text   []string
	}{
		{
			name: "data out of bounds",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.Put(c.Data(w, "data").Slice(2, 4), 1, a.Shard(0))
			},
			want: &fault.OutOfBounds{},
			text: []string{"put at mock/onesided_fault_test.go:", "elements 2 to 5 of window.data, which has 0 to 3"},
		},
		{
			name: "a word out of bounds",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.Notify(c.Signals(w, "small").At(4), 1, tl.SignalSet, 1)
			},
			want: &fault.OutOfBounds{},
			text: []string{"notify", "word 4 of window.small, which has 0 to 3"},
		},
		{
			name: "a tensor of words out of bounds",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.WaitUntil(c.Signals(w, "flags").At(0).Grid([]int{3}, []int{2}), tl.EQ, 0)
			},
			want: &fault.OutOfBounds{},
			text: []string{"wait_until", "word 4 of window.flags"},
		},
		{
			name: "no member",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				other := mem.NewWindow("other", team(t, 0, 1, 2), w.Layout, 1<<21)
				if c.Rank() == 0 {
					c.Data(other, "data")
				}
			},
			want: &fault.NotMember{},
			text: []string{"rank 0 data", "not a member of team team0, which has 2 members"},
		},
		{
			name: "a peer that there is not",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.Get(a.Shard(0), c.Data(w, "data"), 3)
			},
			want: &fault.NotMember{},
			text: []string{"get", "no peer 3: team world has ranks 0 to 2"},
		},
		{
			name: "the null peer",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.PutSignal(c.Data(w, "data"), -1, a.Shard(0), c.Signals(w, "flags").At(0), tl.SignalSet, 1)
			},
			want: &fault.NotMember{},
			text: []string{"put_signal", "no peer -1"},
		},
		{
			name: "a window that was freed",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				s := c.Signals(w, "flags").At(0)
				w.Released = true
				c.FetchAdd(s, 0, 1)
			},
			want: &fault.Released{},
			text: []string{"fetch_add", "window window was freed"},
		},
		{
			name:   "data taken for signals",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) { c.Signals(w, "data") },
			want:   &fault.Misuse{},
			text:   []string{"signals", "window.data f32 × 4 holds data"},
		},
		{
			name:   "signals taken for data",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) { c.Data(w, "flags") },
			want:   &fault.Misuse{},
			text:   []string{"data", "are control words"},
		},
		{
			name: "a value that does not fit",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.Notify(c.Signals(w, "small").At(0), 1, tl.SignalSet, math.MaxInt32+1)
			},
			want: &fault.Misuse{},
			text: []string{"notify", "2147483648 does not fit in small int32 × 4"},
		},
		{
			name: "shapes that differ",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.PutNBI(c.Data(w, "data").Slice(0, 2), 1, a.Shard(0))
			},
			want: &fault.Misuse{},
			text: []string{"put_nbi", "the destination is f32[2], the source f32[4]"},
		},
		{
			name: "a put of memory that was never written",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.PutNBI(c.Data(w, "data"), 1, a.Out(0, 4))
			},
			cfg:  kerneltest.Config{OutElems: []int{4, 4, 4}},
			want: &fault.Unwritten{},
			text: []string{" put_nbi at mock/onesided_fault_test.go:", "element 0 of the access was never written"},
		},
		{
			name: "a get into no memory",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.Get(c.Ref(mem.At(mem.HBM, 0, 1<<30), tl.Dims(4), dtype.F32), c.Data(w, "data"), 1)
			},
			want: &fault.BadAddress{},
			text: []string{"get at", "nothing is mapped there"},
		},
		{
			name: "words reached as data",
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				c.Load(c.Ref(w.WordAddr(0, 0), tl.Dims(2), dtype.F32))
			},
			want: &fault.BadAddress{},
			text: []string{"load at", "nothing is mapped there"},
		},
		{
			name: "atomics that the machine lacks",
			cfg:  kerneltest.Config{NoAtomics: true},
			kernel: func(c *tl.Context, a tl.Args, w *mem.Window) {
				s := c.Signals(w, "flags").At(0)
				c.FetchAdd(s, c.Rank(), 1) // its own word
				c.CompareSwap(s, (c.Rank()+1)%3, 0, 1)
			},
			want: &fault.Unsupported{},
			text: []string{"compare_swap at", "does not have fabric.p2p_native_atomics"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(4) {
				tt.cfg.Inputs, tt.cfg.Layout, tt.cfg.Seed = vectors(3, 4), layout(t, 4, 4), seed
				_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) { tt.kernel(c, a, a.Window(0)) }, tt.cfg)
				target := reflect.New(reflect.TypeOf(tt.want)).Interface()
				if !errors.As(err, target) {
					t.Fatalf("seed %d: %T %v, want %T", seed, err, err, tt.want)
				}
				for _, text := range tt.text {
					if !strings.Contains(err.Error(), text) {
						t.Errorf("seed %d: %v\nlacks %q", seed, err, text)
					}
				}
			}
		})
	}
}

// A launch that fails while many operations are in flight drops all references to values.
func TestFailedLaunchLeavesNoValues(t *testing.T) {
	log := oplog.New(oplog.Options{Inline: true})
	defer log.Close()
	for seed := range uint64(100) {
		tm := team(t, 0, 0, 1, 2)
		w := mem.NewWindow("w", tm, layout(t, 4, 1), 0)
		e := mock.New(mock.Options{Data: log, Seed: seed, Order: mem.Ordering(seed % 4)})
		_, err := e.Launch(t.Context(), &launch.Launch{
			Groups: []launch.Group{{PEs: tm.PEs, Wiring: make([]tl.Wiring, 3)}},
			Ring:   tl.Ring{Slots: 1, SlotBytes: 8, Space: mem.TCM}, Addrs: &mem.Map{}, Scratch: 1 << 16,
			Kernel: func(c *tl.Context, a tl.Args) {
				data := c.Data(w, "data")
				x := c.Full(tl.Dims(4), dtype.F32, 1)
				for range 5 {
					c.PutTensor(data, 1, x)
					c.Fence()
					c.PutTensor(data, 2, c.Add(x, x))
				}
				if c.Rank() == 2 {
					c.PutTensor(data, 3, x)
				}
				c.Barrier(tm)
			},
		})
		var f *fault.NotMember
		if !errors.As(err, &f) || f.Rank != 2 {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if v := log.NewValue(); v > 60 {
		t.Errorf("the next value is number %d: some are still held", v)
	}
}
