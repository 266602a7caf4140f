package sim_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/internal/exhaustive"
	_ "kernbench/internal/fewcollections"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// No test leaves a goroutine behind: not after faults, hangs or cancellations.
func TestMain(m *testing.M) {
	exhaustive.Properties("30")
	goleak.VerifyTestMain(m)
}

// TestFaults: every fault of a kernel ends the launch with an error of its type that has the place,
// the time and the cause. With run-ahead and without, the error is the same. After it the executor
// cannot be used again, and its error states this.
func TestFaults(t *testing.T) {
	tests := []struct {
		name   string
		setup  setup
		kernel tl.Kernel
		want   error // its type
		text   []string
	}{
		{
			name:   "invalid direction",
			kernel: func(c *tl.Context, a tl.Args) { c.Send(tl.North, own(c, a)) },
			want:   &fault.InvalidDirection{},
			text:   []string{"rank 0 (sip0.cube0.pe0) send(N) at sim/fault_test.go:", "t=2ns", "this rank can send to: E W "},
		},
		{
			name: "use after credit",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Send(tl.East, x)
				c.Send(tl.East, x)
				first := c.Recv(tl.West, x.Shape(), x.DType())
				c.Recv(tl.West, x.Shape(), x.DType())
				c.Add(first, x)
			},
			want: &fault.UseAfterCredit{},
			text: []string{" add at sim/fault_test.go:", "slot of recv(W) #0 at sim/fault_test.go:", "at recv(W) #1 at sim/fault_test.go:"},
		},
		{
			name: "use after an undirected receive",
			kernel: func(c *tl.Context, a tl.Args) {
				x := own(c, a)
				c.Send(tl.East, x)
				c.Send(tl.West, x)
				first := c.Recv(tl.West, x.Shape(), x.DType())
				c.RecvAny(x.Shape(), x.DType())
				c.Store(a.Shard(c.Rank()), first)
			},
			want: &fault.UseAfterCredit{},
			text: []string{" store at sim/fault_test.go:", "slot of recv(W) #0 at", "at recv(any) at sim/fault_test.go:"},
		},
		{
			name: "shapes that differ",
			kernel: func(c *tl.Context, a tl.Args) {
				c.Send(tl.East, own(c, a))
				c.Recv(tl.West, tl.Dims(2, 2), dtype.F16)
			},
			want: &fault.Mismatch{},
			text: []string{"recv(W)", "expected f16[2 2], rank 0 sent f16[4]"},
		},
		{
			name:   "never received",
			kernel: func(c *tl.Context, a tl.Args) { c.Send(tl.East, own(c, a)) },
			want:   &fault.Unreceived{},
			text: []string{"rank 0 (sip0.cube0.pe0)", "1 message from rank 2 (direction W)",
				"rank 2 sent the first with send(E) at sim/fault_test.go:", "; that ring has no receive at all"},
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
			text: []string{"2 messages from rank 2 (direction W)", "send(E) at sim/fault_test.go:",
				"the last receive of that ring was recv(W) #0 at sim/fault_test.go:"},
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
			text: []string{"1 message from rank 2 (direction W)", "recv_async(W) #1 at sim/fault_test.go:",
				"announced its receive, and nothing waited for it"},
		},
		{
			name:  "never received, longer than all slots",
			setup: setup{slots: 1, slotBytes: 8, n: 40},
			kernel: func(c *tl.Context, a tl.Args) {
				if c.Rank() == 1 {
					c.Send(tl.East, own(c, a))
				}
			},
			want: &fault.Unreceived{},
			text: []string{"rank 2", "1 message from rank 1"},
		},
		{
			name:   "memory that the machine does not have",
			kernel: func(c *tl.Context, a tl.Args) { c.Load(c.Ref(mem.At(mem.HBM, 256, 0), tl.Dims(1), dtype.F16)) },
			want:   &fault.BadAddress{},
			text:   []string{"rank 0", "load at sim/fault_test.go:", "hbm[256]:0x0", "the machine has 256 memories of that kind"},
		},
		{
			name: "beyond the end of a memory",
			kernel: func(c *tl.Context, a tl.Args) {
				c.Store(c.Ref(mem.At(mem.SRAM, 31, 16<<20-2), tl.Dims(2), dtype.F16), c.Full(tl.Dims(2), dtype.F16, 0))
			},
			want: &fault.BadAddress{},
			text: []string{"store", "sram[31]:0xfffffe, 4 bytes", "the memory has 16777216 bytes"},
		},
		{
			name: "a message to a memory that is not there",
			kernel: func(c *tl.Context, a tl.Args) {
				c.Send(tl.East, own(c, a))
				c.RecvTo(tl.West, c.Ref(mem.At(mem.TCM, 999, 0), tl.Dims(4), dtype.F16))
			},
			want: &fault.BadAddress{},
			text: []string{"recv", "tcm[999]"},
		},
		{
			name: "memory that was never written",
			kernel: func(c *tl.Context, a tl.Args) {
				if c.Rank() == 1 {
					c.Load(c.Ref(mem.At(mem.TCM, 0, 0), tl.Dims(3), dtype.F16))
				}
			},
			want: &fault.Unwritten{},
			text: []string{"rank 1", "load at sim/fault_test.go:", "t=", "reads tcm[0]:0x0: element 0 of the access was never written"},
		},
		{
			name:  "too little scratch to assemble",
			setup: setup{slotBytes: 8, n: 8, ring: func(*tl.Ring) {}},
			kernel: func(c *tl.Context, a tl.Args) {
				x := c.Full(tl.Dims(400000), dtype.F16, 0)
				c.Pin(x)
				c.Send(tl.East, own(c, a))
				c.Recv(tl.West, tl.Dims(200000), dtype.F16)
			},
			want: &fault.ScratchFull{},
			text: []string{"recv", "needs 400000 B, scratch has 1 MiB of which 781.25 KiB is pinned"},
		},
		{
			name:   "a panic",
			kernel: func(c *tl.Context, a tl.Args) { _ = a.Ints[c.Rank()] },
			want:   &fault.Panic{},
			text:   []string{" at sim/fault_test.go:", ": kernel panicked: runtime error: index out of range", "fault_test.go:"},
		},
		{
			name:   "forwarding from the only slot",
			setup:  setup{slots: 1},
			kernel: algorithm.RingAllReduce.Kernel,
			want:   &fault.Deadlock{},
			text: []string{"3 of 3 ranks cannot go on", "send(E) at algorithm/ring_allreduce.go:", "ring E 1/1",
				"set n_slots: 2", "my_head=1 peer_tail_cache=0", "since t="},
		},
		{
			name: "a rank that ends without its send",
			kernel: func(c *tl.Context, a tl.Args) {
				if x := own(c, a); c.Rank() != 1 {
					c.Send(tl.East, x)
				}
				c.Recv(tl.West, tl.Dims(4), dtype.F16)
			},
			want: &fault.Deadlock{},
			text: []string{"rank 1 finished without the send that rank 2 waits for in recv(W)", "finished: rank 0, 1"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			def(&tt.setup.n, 4)
			tt.setup.world = 3
			var texts [2]string
			for i, yield := range []bool{false, true} {
				b := newBench(t, tt.kernel, tt.setup)
				log := b.fill(t, func(int, int) float64 { return 1 })
				if err := log.Map(mem.At(mem.TCM, 0, 0), dtype.F16, 4); err != nil {
					t.Fatal(err)
				}
				e := sim.New(b.m, sim.Options{Data: log, RecordLines: true, Yield: yield})
				_, err := e.Launch(t.Context(), b.launch)
				if err == nil || reflect.TypeOf(err) != reflect.TypeOf(tt.want) {
					t.Fatalf("%T %v, want %T", err, err, tt.want)
				}
				texts[i] = err.Error()
				for _, text := range tt.text {
					if !strings.Contains(texts[i], text) {
						t.Errorf("%v\nlacks %q", err, text)
					}
				}
				if _, again := e.Launch(t.Context(), b.launch); !errors.Is(again, sim.ErrBroken) || !errors.Is(again, err) {
					t.Errorf("a launch after it: %v", again)
				}
			}
			if _, ok := tt.want.(*fault.Panic); !ok && texts[0] != texts[1] { // but for the stack
				t.Errorf("with run-ahead\n%s\nwithout\n%s", texts[0], texts[1])
			}
		})
	}
}

// TestRingMemory: rings that do not fit are refused before anything runs. The executor can be used
// afterwards, and no kernels remain that had been made already.
func TestRingMemory(t *testing.T) {
	for _, space := range []mem.Space{mem.TCM, mem.HBM, mem.SRAM} {
		// At the corners of a mesh there are two rings, elsewhere three or four.
		b := newBench(t, func(*tl.Context, tl.Args) {}, setup{world: 9, topology: "mesh_2d", space: space})
		size := map[mem.Space]int64{mem.TCM: 15 << 20, mem.HBM: 4 << 30, mem.SRAM: 2 << 20}[space]
		e := sim.New(b.m, sim.Options{})
		b.launch.Ring.SlotBytes = size / 10
		_, err := e.Launch(t.Context(), b.launch)
		var r *fault.RingMemory
		if !errors.As(err, &r) || r.Rank != 1 || int64(r.Have) != size || int64(r.Need) != 3*4*(size/10) || r.Kind != space.String() {
			t.Errorf("%v: %v", space, err)
		}
		b.launch.Ring.SlotBytes = size / 16
		if _, err := e.Launch(t.Context(), b.launch); err != nil {
			t.Errorf("%v: rings that just fit: %v", space, err)
		}
	}
}

// TestRingsBesideTensors: what tensors hold of a slice, rings in HBM cannot have.
func TestRingsBesideTensors(t *testing.T) {
	b := newBench(t, func(*tl.Context, tl.Args) {}, setup{world: 2, space: mem.HBM})
	free := int64(2 * 4 * 4096) // two rings of four slots
	b.launch.Tensors = func(pe int) unit.Bytes { return 4<<30 - unit.Bytes(free) + unit.Bytes(pe) }
	_, err := b.run(sim.Options{})
	var r *fault.RingMemory
	if !errors.As(err, &r) || r.Rank != 1 || int64(r.Have) != free-1 || int64(r.Need) != free {
		t.Errorf("one byte short on rank 1: %v", err)
	}
	b.launch.Tensors = func(int) unit.Bytes { return 4<<30 - unit.Bytes(free) }
	if _, err := b.run(sim.Options{}); err != nil {
		t.Errorf("rings that just fit: %v", err)
	}
}

// TestRefusedLaunches: what cannot be run at all.
func TestRefusedLaunches(t *testing.T) {
	tests := map[string]struct {
		change func(*launch.Launch)
		want   string
	}{
		"a PE beyond the machine": {func(l *launch.Launch) { l.Groups[0].PEs[1] = 256 }, "rank 1 is to run on PE 256: the machine has 256"},
		"a PE twice":              {func(l *launch.Launch) { l.Groups[0].PEs[1] = 0 }, "PE 0 is in it twice"},
		"no kernel":               {func(l *launch.Launch) { l.Kernel = nil }, "no kernel"},
		"too many rings": {func(l *launch.Launch) { l.Groups[0].Wiring[1].In = make([]tl.InPort, 49) },
			"rank 1 has 49 rings: at most 48"},
	}
	for name, tt := range tests {
		b := newBench(t, func(*tl.Context, tl.Args) {}, setup{world: 2})
		tt.change(b.launch)
		if _, err := b.run(sim.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAbandonIsNotForKernels: the end of a kernel that abandons itself does not mean anything; the
// others are not blamed for it.
func TestAbandonIsNotForKernels(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		if c.Rank() == 1 {
			tl.DriverOf(c).Abandon()
		}
		c.Recv(tl.West, tl.Dims(1), a.DType)
	}, setup{world: 2, n: 1})
	_, err := b.run(sim.Options{})
	var f *fault.Misuse
	if !errors.As(err, &f) || f.Rank != 1 {
		t.Errorf("got %v, want a misuse by rank 1", err)
	}
}
