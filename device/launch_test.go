package device_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/tl"
)

var columns = device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}

// The author's guide, section 1: install, tensor, launch by name with plain arguments.
func TestHelloByName(t *testing.T) {
	c := open(t)
	const n = 8
	plan := must(c.InstallIPCQ("hello_send", device.Install{World: 4}))(t)
	x := must(c.Zeros(1, 4*n, dtype.F16, device.DPPolicy{PE: device.ColumnWise, NumCubes: 1}))(t)
	values := make([]float64, 4*n)
	for i := range values {
		values[i] = float64(i/n + 1)
	}
	if err := x.CopyIn(values); err != nil {
		t.Fatal(err)
	}
	run := must(c.Launch(context.Background(), "hello_send", x, n))(t)
	if run.World != 4 || run.Result.Messages != 4 || len(run.Calls) != 1 || run.Calls[0].Collective.Name != "shift" {
		t.Fatalf("%+v", run)
	}
	got := must(x.Read())(t)
	for r, at := range plan.RankToPE {
		if want := float64((r+3)%4 + 1); got[r*n] != want || at.PE != r {
			t.Fatalf("rank %d (%+v) got %v, want %v", r, at, got[r*n], want)
		}
	}
}

func TestPlan(t *testing.T) {
	tests := []struct {
		name, algorithm string
		sets            []string
		world           int // asked for
		want            int
		err             string
	}{
		{"all PEs", "ring_allreduce", nil, 0, 16, ""},
		{"the default", "", nil, 0, 16, ""},
		{"as asked", "ring_allreduce", nil, 5, 5, ""},
		{"of the entry", "tree_allreduce_7", nil, 0, 7, ""},
		{"asked beats the entry", "tree_allreduce_7", nil, 3, 3, ""},
		{"SIPs", "ring_allreduce", []string{"defaults.rank_level=sip"}, 0, 2, ""},
		{"more than there are", "ring_allreduce", nil, 17, 0, "17 ranks: the machine has 16 PEs"},
		{"more SIPs than there are", "ring_allreduce", []string{"defaults.rank_level=sip"}, 3, 0, "the machine has 2 SIPs"},
		{"configured more than there are", "ring_allreduce", []string{"defaults.world_size=99"}, 0, 0, "the machine has 16 PEs"},
		{"a mesh of a prime number", "mesh_allreduce", nil, 7, 0, "7"},
		{"near miss", "ring_alreduce", nil, 0, 0, `did you mean "ring_allreduce"?`},
		{"a module that is not there", "ring_allreduce", []string{"algorithms.ring_allreduce.module=nowhere"}, 0, 0, "nowhere"},
		{"an algorithm without entry as default", "", []string{"defaults.algorithm=no_entry"}, 3, 3, ""},
		{"settings for an algorithm without entry", "no_entry", []string{"algorithms.no_entry.world_size=5"}, 0, 5, ""},
		{"a topology of one's own", "no_entry", []string{"algorithms.no_entry.topology=two_by", "algorithms.no_entry.w=2"}, 6, 6, ""},
		{"half a grid", "mesh_allreduce", []string{"algorithms.mesh_allreduce.w=3"}, 6, 6, ""},
		{"half a grid that does not fit", "mesh_allreduce", []string{"algorithms.mesh_allreduce.h=4"}, 6, 0, "h=4 does not cover them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := open(t, tt.sets...).InstallIPCQ(tt.algorithm, device.Install{World: tt.world})
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %q", err, tt.err)
				}
			case err != nil:
				t.Fatal(err)
			case p.World != tt.want || len(p.Wiring) != tt.want:
				t.Fatalf("world %d with wiring for %d, want %d", p.World, len(p.Wiring), tt.want)
			}
		})
	}
}

func TestCollectivesAreRefused(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name string
		call func(c *device.Context) error
		text string
	}{
		{"fewer shards than ranks", func(c *device.Context) error {
			x, _ := c.Zeros(1, 8, dtype.F16, columns)
			_, err := c.Launch(ctx, "ring_allreduce", x)
			return err
		}, "8 shards and the plan 16 ranks"},
		{"other PEs than the ranks", func(c *device.Context) error {
			_ = c.SetDevice(1)
			x, _ := c.Zeros(1, 8, dtype.F16, columns)
			_, _ = c.InstallIPCQ("ring_allreduce", device.Install{World: 8})
			_, err := c.Launch(ctx, "ring_allreduce", x)
			return err
		}, "rank 0 is sip0.cube0.pe0"},
		{"contributions of different length", func(c *device.Context) error {
			x, _ := c.Zeros(1, 9, dtype.F16, columns)
			_, _ = c.InstallIPCQ("ring_allreduce", device.Install{World: 8})
			_, err := c.Launch(ctx, "ring_allreduce", x)
			return err
		}, "rank 1 (sip0.cube0.pe1) contributes 1 elements, but rank 0 contributes 2"},
		{"tensors of different type", func(c *device.Context) error {
			x, _ := c.Zeros(1, 8, dtype.F16, columns)
			_ = c.SetDevice(1)
			y, _ := c.Zeros(1, 8, dtype.F32, columns)
			_, err := c.Launch(ctx, "ring_allreduce", []*device.Tensor{x, y})
			return err
		}, "is f16 and tensor2 is f32"},
		{"no tensor", func(c *device.Context) error {
			_, err := c.Launch(ctx, "ring_allreduce", []*device.Tensor{})
			return err
		}, "0 shards"},
		{"unknown name", func(c *device.Context) error {
			_, err := c.Launch(ctx, "ring")
			return err
		}, "unknown algorithm"},
		{"never written", func(c *device.Context) error {
			x, _ := c.Empty(1, 8, dtype.F16, columns)
			_, _ = c.InstallIPCQ("ring_allreduce", device.Install{World: 8})
			_, err := c.Launch(ctx, "ring_allreduce", x)
			return err
		}, "contribution of rank 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(open(t)); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %q", err, tt.text)
			}
		})
	}
}

func TestFaultsComeThrough(t *testing.T) {
	c := open(t)
	x := must(c.Zeros(1, 8, dtype.F16, columns))(t)
	must(c.InstallIPCQ("ring_allreduce", device.Install{World: 8}))(t)
	_, err := c.LaunchKernel(context.Background(), "north", func(c *tl.Context, a tl.Args) {
		c.Send(tl.North, c.Load(a.Shard(c.Rank())))
	}, x)
	var wrong *fault.InvalidDirection
	if !errors.As(err, &wrong) || wrong.Dir != "N" {
		t.Fatalf("got %v, want InvalidDirection", err)
	}
}

// A host read between launches sees what was computed so far.
func TestHostReadsBetweenLaunches(t *testing.T) {
	c := open(t)
	x := must(c.Zeros(2, 8, dtype.F32, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}))(t)
	addOne := func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		v := c.Load(mine)
		c.Store(mine, c.Add(v, c.Full(v.Shape(), a.DType, float64(a.Int(0)))))
	}
	want := make([]float64, 16)
	for step := 1; step <= 3; step++ {
		must(c.LaunchKernel(context.Background(), "add", addOne, x, step))(t)
		for i := range want {
			want[i] += float64(step)
		}
		if got := must(x.Read())(t); !slices.Equal(got, want) {
			t.Fatalf("after launch %d: got %v, want %v", step, got, want)
		}
	}
	if n := len(c.Launches()); n != 3 {
		t.Fatalf("%d launches are on record", n)
	}
}

// Two SIPs, one tensor on each, one launch.
func TestOneLaunchOverAllSIPs(t *testing.T) {
	c := open(t)
	var tensors []*device.Tensor
	for sip := range 2 {
		if err := c.SetDevice(sip); err != nil {
			t.Fatal(err)
		}
		x := must(c.Zeros(1, 24, dtype.I32, columns))(t)
		if err := x.CopyIn(slices.Repeat([]float64{float64(sip + 1)}, 24)); err != nil {
			t.Fatal(err)
		}
		tensors = append(tensors, x)
	}
	run := must(c.Launch(context.Background(), "ring_allreduce_chunked", tensors, tl.Avg))(t)
	if run.World != 16 || len(c.Launches()) != 1 {
		t.Fatalf("%+v", run)
	}
	for _, x := range tensors {
		if got := must(x.Read())(t); !slices.Equal(got, slices.Repeat([]float64{1}, 24)) { // 24 / 16, truncated
			t.Fatalf("got %v", got)
		}
	}
}

func TestAlgorithmsOfOthers(t *testing.T) {
	algorithm.Register(algorithm.Algorithm{
		Name: "device_test_keep", Collective: "barrier", Topology: "none",
		Kernel: func(c *tl.Context, a tl.Args) {
			if a.Int(0) != 16 || a.Int(1) != a.NElem {
				tl.DriverOf(c).Fail(&fault.Misuse{Place: tl.DriverOf(c).Place("check"), Reason: "arguments"})
			}
		},
		KernelArgs: func(world, nElem int) []int { return []int{world, nElem} },
	})
	c := open(t)
	var tensors []*device.Tensor
	for sip := range 2 {
		_ = c.SetDevice(sip)
		tensors = append(tensors, must(c.Zeros(1, 24, dtype.F16, columns))(t))
	}
	must(c.Launch(context.Background(), "device_test_keep", tensors))(t)
}
