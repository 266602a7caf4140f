package device_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

var firstRoot = []int{0}

// seen are the windows that kernels of this file got.
var seen []*mem.Window

func init() {
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_gather", Collective: "all_gather", Topology: "none",
		Kernel: func(c *tl.Context, a tl.Args) {
			out := a.Out(c.Rank(), c.WorldSize()*a.NElem)
			for r := range c.WorldSize() {
				c.Copy(out.Slice(r*a.NElem, a.NElem), a.Shard(r))
			}
		},
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_gather_nothing", Collective: "all_gather", Topology: "none", Kernel: func(*tl.Context, tl.Args) {},
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_scatter", Collective: "reduce_scatter", Topology: "none",
		Kernel: func(c *tl.Context, a tl.Args) {
			n := mem.ChunkOf(a.NElem, c.WorldSize(), c.Rank())
			acc := c.Full(tl.Dims(n.N), a.DType, 0)
			for r := range c.WorldSize() {
				acc = c.Add(acc, c.Load(a.Shard(r).Slice(n.Lo, n.N)))
			}
			c.Store(a.Out(c.Rank(), n.N), acc)
		},
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_broadcast", Collective: "broadcast", Topology: "none",
		KernelArgs: func(int, int) []int { return firstRoot }, // the same slice each time
		Kernel: func(c *tl.Context, a tl.Args) {
			if root := a.Int(0); root != c.Rank() {
				c.Copy(a.Out(c.Rank(), a.NElem), a.Shard(root))
			} else if a.Outs != nil {
				c.Copy(a.Out(root, a.NElem), a.Shard(root))
			}
		},
	})
	window := func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return mem.NewLayout(0, []mem.Buffer{
			{Name: "data", Parts: []mem.Part{mem.DataPart("", t, nElem)}},
			{Name: "words", Parts: []mem.Part{mem.SignalPart("", mem.Int64, world)}},
		})
	}
	shift := func(c *tl.Context, a tl.Args) {
		w := a.Window(0)
		if c.Rank() == 0 {
			seen = append(seen, w)
		}
		mine, next := a.Shard(c.Rank()), (c.Rank()+1)%c.WorldSize()
		dirty := c.Load(c.Local(c.Data(w, "data")))
		c.Store(c.At(c.Data(w, "data"), next), c.Load(a.Shard(c.Rank())))
		c.Store(mine, c.Add(dirty, c.Load(a.Shard((c.Rank()+c.WorldSize()-1)%c.WorldSize()))))
	}
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_window", Collective: "barrier", Topology: "none", Kernel: shift, Window: window,
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_no_layout", Collective: "barrier", Topology: "none", Kernel: shift,
		Window: func(int, int, dtype.Type) (*mem.Layout, error) { return nil, nil },
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_bad_layout", Collective: "barrier", Topology: "none", Kernel: shift,
		Window: func(int, int, dtype.Type) (*mem.Layout, error) { panic("no idea") },
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_fails", Collective: "barrier", Topology: "none", Window: window,
		Kernel: func(c *tl.Context, a tl.Args) { c.Data(a.Window(0), "nothing") },
	})
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_atomics", Collective: "barrier", Topology: "none", Kernel: func(*tl.Context, tl.Args) {}, Atomics: true,
	})
}

// oneCube makes a vector with n elements on each PE of the first cube: 0, 1, 2, ...
func oneCube(t testing.TB, c *device.Context, n int) *device.Tensor {
	t.Helper()
	x := must(c.Zeros(1, 4*n, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t)
	if err := x.CopyIn(ramp(4 * n)); err != nil {
		t.Fatal(err)
	}
	return x
}

func installed(t testing.TB, c *device.Context, name string, world int) *device.Plan {
	t.Helper()
	return must(c.InstallIPCQ(name, device.Install{World: world}))(t)
}

// Separate results are in the requested place, and contributions are unchanged.
func TestSeparateResults(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name   string
		result func(t testing.TB, c *device.Context) *device.Tensor
		want   string
	}{
		{"device_test_gather", func(t testing.TB, c *device.Context) *device.Tensor {
			return must(c.EmptyRanks(4, 12, dtype.F32))(t)
		}, fmt.Sprint(slices.Repeat(ramp(12), 4))},
		{"device_test_gather", func(t testing.TB, c *device.Context) *device.Tensor {
			return must(c.Empty(1, 12, dtype.F32, device.DPPolicy{NumCubes: 1}))(t) // a replica each
		}, fmt.Sprint(ramp(12))},
		{"device_test_scatter", func(t testing.TB, c *device.Context) *device.Tensor {
			return must(c.Empty(1, 3, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t) // none on the last PE
		}, "[18 22 26]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t)
			x, y := oneCube(t, c, 3), tt.result(t, c)
			run := must(c.Perform(ctx, installed(t, c, tt.name, 4), tl.Sum, []*device.Tensor{x}, device.Into(y)))(t)
			if got := fmt.Sprint(must(y.Read())(t)); got != tt.want {
				t.Errorf("results %s, want %s", got, tt.want)
			}
			if got := must(x.Read())(t); !slices.Equal(got, ramp(12)) {
				t.Errorf("the contributions became %v", got)
			}
			g := run.Calls[0].Groups[0]
			for r, s := range y.Shards() {
				if g.Out(r) != s.Addr || g.Addrs[r] != x.Shards()[r].Addr || g.Out(r) == g.Addrs[r] {
					t.Errorf("rank %d: %v and %v", r, g.Addrs[r], g.Out(r))
				}
			}
			must(c.Launch(ctx, tt.name, x, device.Into(y)))(t) // by name, too
		})
	}
}

// Results of an earlier call do not pass for those of a later one.
func TestOldResultsAreForgotten(t *testing.T) {
	ctx, c := context.Background(), open(t)
	x := oneCube(t, c, 3)
	y := must(c.EmptyRanks(4, 13, dtype.F32))(t)
	if err := y.CopyIn(ramp(52)); err != nil {
		t.Fatal(err)
	}
	installed(t, c, "device_test_gather", 4)
	must(c.Launch(ctx, "device_test_gather", x, device.Into(y)))(t)
	got := must(y.Read())(t)
	if want := append(ramp(12), 12, 0, 1); !slices.Equal(got[:15], want) { // elements after a result are unchanged
		t.Fatalf("got %v, want %v", got[:15], want)
	}
	installed(t, c, "device_test_gather_nothing", 4)
	must(c.Launch(ctx, "device_test_gather_nothing", x, device.Into(y)))(t)
	if got, err := y.Read(); !errors.As(err, new(*fault.Unwritten)) {
		t.Fatalf("after a kernel that writes nothing: %v, %v", got, err)
	}
}

func TestRoots(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name    string
		options []any
		want    float64 // first element of every rank
	}{
		{"the first", nil, 0},
		{"by option", []any{device.Root(2)}, 6},
		{"by number", []any{3}, 9},
		{"by both", []any{3, device.Root(3)}, 9},
		{"the first again", nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t)
			x, y := oneCube(t, c, 3), must(c.EmptyRanks(4, 3, dtype.F32))(t)
			installed(t, c, "device_test_broadcast", 4)
			run := must(c.Launch(ctx, "device_test_broadcast", append([]any{x, device.Into(y)}, tt.options...)...))(t)
			for r, v := range must(y.Read())(t) {
				if v != tt.want+float64(r%3) {
					t.Errorf("element %d is %v", r, v)
				}
			}
			if root := run.Calls[0].Groups[0].Call.Root; root != int(tt.want)/3 {
				t.Errorf("the call's root is %d", root)
			}
		})
	}
}

func TestOptionsAreRefused(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name, algorithm string
		args            func(t testing.TB, c *device.Context) []any
		want            error
		text            string
	}{
		{"no place for the results", "device_test_gather", func(t testing.TB, c *device.Context) []any { return nil },
			device.ErrShape, "all_gather needs 12 elements on rank 0, its shard has 3"},
		{"results of another type", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			return []any{device.Into(must(c.EmptyRanks(4, 12, dtype.F16))(t))}
		}, device.ErrShape, "is f16, the contributions are f32"},
		{"results that are too small", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			return []any{device.Into(must(c.EmptyRanks(4, 11, dtype.F32))(t))}
		}, device.ErrShape, "all_gather leaves 12 elements on rank 0, its shard of the results has 11"},
		{"no result for a rank", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			return []any{device.Into(must(c.EmptyRanks(3, 12, dtype.F32))(t))}
		}, device.ErrShape, "on rank 3, its shard of the results has 0"},
		{"two results for a rank", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			return []any{device.Into(must(c.EmptyRanks(4, 12, dtype.F32))(t), must(c.EmptyRanks(1, 12, dtype.F32))(t))}
		}, device.ErrShape, "two results on sip0.cube0.pe0"},
		{"Into nothing", "device_test_gather", func(t testing.TB, c *device.Context) []any { return []any{device.Into()} },
			device.ErrLaunch, "given once, with the tensors"},
		{"Into twice", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			y := device.Into(must(c.EmptyRanks(4, 12, dtype.F32))(t))
			return []any{y, y}
		}, device.ErrLaunch, "given once"},
		{"into what was freed", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			y := must(c.EmptyRanks(4, 12, dtype.F32))(t)
			return []any{device.Into(y), y.Free()}[:1]
		}, device.ErrFreed, "Into"},
		{"the root of no collective with one", "device_test_gather", func(t testing.TB, c *device.Context) []any {
			return []any{device.Root(1)}
		}, device.ErrLaunch, "all_gather has no root"},
		{"a root that is no rank", "device_test_broadcast", func(t testing.TB, c *device.Context) []any {
			return []any{device.Root(4)}
		}, nil, "broadcast with root 4: the ranks are 0 to 3"},
		{"two roots", "device_test_broadcast", func(t testing.TB, c *device.Context) []any {
			return []any{1, device.Root(2)}
		}, device.ErrLaunch, "Root(2): the first number is 1, which is the root too"},
		{"Root twice", "device_test_broadcast", func(t testing.TB, c *device.Context) []any {
			return []any{device.Root(2), device.Root(2)}
		}, device.ErrLaunch, "given once"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t)
			x := oneCube(t, c, 3)
			installed(t, c, tt.algorithm, 4)
			_, err := c.Launch(ctx, tt.algorithm, append([]any{x}, tt.args(t, c)...)...)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v with %q", err, tt.want, tt.text)
			}
			if len(c.Launches()) != 0 {
				t.Fatal("it was launched")
			}
		})
	}
	c := open(t)
	x := oneCube(t, c, 3)
	idle := func(*tl.Context, tl.Args) {}
	_, kernel := c.LaunchKernel(ctx, "k", idle, x, device.Root(0))
	_, team := c.LaunchTeam(ctx, "k", idle, must(c.NewTeam("t", []int32{0}))(t), device.Into(x))
	installed(t, c, "device_test_broadcast", 4)
	_, into := c.Launch(ctx, "device_test_broadcast", x, device.Into(x))
	for i, err := range []error{kernel, team, into} {
		if !errors.Is(err, device.ErrLaunch) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	installed(t, c, "window_all_to_all_v", 4)
	if _, err := c.Launch(ctx, "window_all_to_all_v", oneCube(t, c, 4)); !errors.Is(err, device.ErrShape) ||
		!strings.Contains(err.Error(), "say with Into") {
		t.Errorf("blocks that differ, in the place of others: %v", err)
	}
}

// Each call gets a window of zeros of its own, which is gone after it, and so is its memory.
func TestWindowsOfAlgorithms(t *testing.T) {
	ctx, c := context.Background(), open(t)
	x := must(c.Zeros(1, 16, dtype.F32, columns))(t)
	before := inUse(t, c)
	seen = nil
	plan := installed(t, c, "device_test_window", 8)
	for range 2 {
		if err := x.CopyIn(slices.Repeat([]float64{1}, 16)); err != nil {
			t.Fatal(err)
		}
		must(c.Perform(ctx, plan, tl.Sum, []*device.Tensor{x}))(t)
		if n := inUse(t, c); n != before {
			t.Fatalf("%d bytes are in use, before the call it was %d", n, before)
		}
		if got := must(x.Read())(t); got[0] != 1 { // what rank 0 found in its window, and 1
			t.Fatalf("the window held %v", got[0]-1)
		}
	}
	for _, w := range seen {
		if !w.Released || w.Name != "device_test_window" || w.Team.Size() != 8 ||
			!slices.Equal(w.Team.PEs, plan.PEs) || !w.Team.Meeting.Released {
			t.Errorf("%+v", w)
		}
	}
	if len(seen) != 2 || seen[0] == seen[1] {
		t.Errorf("%d windows", len(seen))
	}
	if leaks := must(c.ReleaseAll())(t); len(leaks) != 1 {
		t.Errorf("leaks: %v", leaks)
	}
}

// With rank_level: sip each group of PEs has its own window.
func TestWindowsOfGroups(t *testing.T) {
	c := open(t, "defaults.rank_level=sip")
	var tensors []*device.Tensor
	for sip := range 2 {
		_ = c.SetDevice(sip)
		tensors = append(tensors, must(c.Zeros(1, 8, dtype.F32, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t))
	}
	seen = nil
	must(c.Perform(context.Background(), installed(t, c, "device_test_window", 2), tl.Sum, tensors))(t)
	var got []string
	for _, w := range seen {
		got = append(got, fmt.Sprint(w.Name, w.Team.PEs))
	}
	slices.Sort(got)
	if want := "[device_test_window.0[0 8] device_test_window.1[1 9] device_test_window.2[2 10] device_test_window.3[3 11]]"; fmt.Sprint(got) != want {
		t.Fatalf("got %v, want %s", got, want)
	}
}

func TestWindowsOfAlgorithmsThatFail(t *testing.T) {
	for name, text := range map[string]string{
		"device_test_no_layout":  "its Window made no layout",
		"device_test_bad_layout": "its Window panicked: no idea",
		"device_test_fails":      `no part "nothing"`,
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			x := must(c.Zeros(1, 16, dtype.F32, columns))(t)
			before := inUse(t, c)
			_, err := c.Perform(context.Background(), installed(t, c, name, 8), tl.Sum, []*device.Tensor{x})
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Fatalf("got %v, want %q", err, text)
			}
			if n := inUse(t, c); n != before {
				t.Fatalf("%d bytes are in use, before the call it was %d", n, before)
			}
		})
	}
	c := open(t, "cube.hbm.capacity_per_pe=1024") // space for the shard and the barrier words, not for the window
	x := must(c.Zeros(1, 8*128, dtype.F32, columns))(t)
	_, err := c.Perform(context.Background(), installed(t, c, "device_test_window", 8), tl.Sum, []*device.Tensor{x})
	if !errors.Is(err, mem.ErrFull) {
		t.Fatalf("got %v", err)
	}
	if n := inUse(t, c); n != 8*512 {
		t.Fatalf("%d bytes are in use after a window that did not fit", n)
	}
}

// A kernel that needs atomics does not come near a machine without.
func TestAtomicsAreNeeded(t *testing.T) {
	_, err := open(t, "fabric.p2p_native_atomics=false").InstallIPCQ("device_test_atomics")
	if no, ok := errors.AsType[*fault.Unsupported](err); !ok || no.What != "fabric.p2p_native_atomics" {
		t.Fatalf("got %v", err)
	}
	must(open(t).InstallIPCQ("device_test_atomics"))(t)
}
