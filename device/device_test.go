package device_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// small is a machine of 2 SIPs × (2 × 1 cubes) × 4 PEs = 16 PEs.
var small = []string{"system.sips.count=2", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1"}

// open makes a context on the mock executor, with data, on a machine changed by sets.
func open(t testing.TB, sets ...string) *device.Context {
	t.Helper()
	topo, ccl, err := conf.SplitSets(sets)
	if err != nil {
		t.Fatal(err)
	}
	log := oplog.New(oplog.Options{Inline: true})
	t.Cleanup(log.Close)
	return openOn(t, mock.New(mock.Options{Data: log}), topo, ccl)
}

func openOn(t testing.TB, x exec.Executor, topoSets, cclSets []string) *device.Context {
	t.Helper()
	top, err := conf.LoadTopology(nil, append(small[:len(small):len(small)], topoSets...))
	if err != nil {
		t.Fatal(err)
	}
	ccl, err := conf.LoadCCL(nil, cclSets)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(top)
	if err != nil {
		t.Fatal(err)
	}
	c, err := device.New(device.Config{Machine: m, CCL: ccl, Executor: x})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ramp is 0, 1, 2, ...
func ramp(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestTensorsAreRefused(t *testing.T) {
	perPE := device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}
	tests := []struct {
		name string
		make func(c *device.Context) error
		want error
		text string
	}{
		{"no elements", func(c *device.Context) error { _, err := c.Zeros(0, 4, dtype.F16, perPE); return err }, device.ErrShape, "0 × 4"},
		{"no type", func(c *device.Context) error { _, err := c.Zeros(1, 4, dtype.Invalid, perPE); return err }, device.ErrShape, "type"},
		{"too wide", func(c *device.Context) error { _, err := c.Zeros(1, 1<<40, dtype.F16, perPE); return err },
			device.ErrShape, "extent"},
		{"too many cubes", func(c *device.Context) error {
			_, err := c.Zeros(1, 8, dtype.F16, device.DPPolicy{NumCubes: 3})
			return err
		}, device.ErrPolicy, "a SIP has 2 cubes"},
		{"too many PEs", func(c *device.Context) error {
			_, err := c.Zeros(1, 8, dtype.F16, device.DPPolicy{NumPEs: 5})
			return err
		}, device.ErrPolicy, "a cube has 4 PEs"},
		{"negative", func(c *device.Context) error {
			_, err := c.Zeros(1, 8, dtype.F16, device.DPPolicy{NumPEs: -1})
			return err
		}, device.ErrPolicy, "num_pes -1"},
		{"unknown placement", func(c *device.Context) error {
			_, err := c.Zeros(1, 8, dtype.F16, device.DPPolicy{PE: 9})
			return err
		}, device.ErrPolicy, "placement(9)"},
		{"out of memory", func(c *device.Context) error {
			_, err := c.Empty(1<<10, 1<<20, dtype.F16, device.DPPolicy{NumCubes: 1, NumPEs: 1})
			return err
		}, mem.ErrFull, "HBM of sip0.cube0.pe0"},
		{"no such SIP", func(c *device.Context) error { return c.SetDevice(2) }, nil, "SIPs 0 to 1"},
		{"values and shape", func(c *device.Context) error {
			_, err := c.FromSlice(ramp(3), 2, 2, dtype.F32)
			return err
		}, device.ErrShape, "3 values"},
		{"copy of other length", func(c *device.Context) error {
			x, err := c.Zeros(1, 8, dtype.F16, perPE)
			return errors.Join(err, x.CopyIn(ramp(7)))
		}, device.ErrShape, "7 values"},
		{"copy of another type", func(c *device.Context) error {
			x, _ := c.Zeros(1, 8, dtype.F16, perPE)
			h, err := c.FromSlice(ramp(8), 1, 8, dtype.F32)
			return errors.Join(err, x.CopyFrom(h))
		}, device.ErrShape, "1 × 8 f16 from 1 × 8 f32"},
		{"freed twice", func(c *device.Context) error {
			x, err := c.Zeros(1, 8, dtype.F16, perPE)
			return errors.Join(err, x.Free(), x.Free())
		}, device.ErrFreed, "tensor1"},
		{"read after free", func(c *device.Context) error {
			x, _ := c.Zeros(1, 8, dtype.F16, perPE)
			_ = x.Free()
			_, err := x.Read()
			return err
		}, device.ErrFreed, "tensor1"},
		{"launch of a freed one", func(c *device.Context) error {
			x, _ := c.Zeros(1, 8, dtype.F16, perPE)
			_ = x.Free()
			_, err := c.LaunchKernel(context.Background(), "k", func(*tl.Context, tl.Args) {}, x)
			return err
		}, device.ErrFreed, "argument 1"},
		{"launch with a tensor on the host", func(c *device.Context) error {
			x, _ := c.FromSlice(ramp(8), 1, 8, dtype.F32)
			_, err := c.LaunchKernel(context.Background(), "k", func(*tl.Context, tl.Args) {}, x)
			return err
		}, device.ErrHost, "host1"},
		{"launch with a float", func(c *device.Context) error {
			_, err := c.LaunchKernel(context.Background(), "k", func(*tl.Context, tl.Args) {}, 1.5)
			return err
		}, device.ErrLaunch, "float64"},
		{"launch without a place", func(c *device.Context) error {
			_, err := c.LaunchKernel(context.Background(), "k", func(*tl.Context, tl.Args) {}, 1)
			return err
		}, device.ErrLaunch, "to choose the PEs"},
		{"launch of no kernel", func(c *device.Context) error {
			x, _ := c.Zeros(1, 8, dtype.F16, perPE)
			_, err := c.LaunchKernel(context.Background(), "k", nil, x)
			return err
		}, device.ErrLaunch, "no kernel"},
		{"launch of a nil tensor", func(c *device.Context) error {
			_, err := c.LaunchKernel(context.Background(), "k", nil, (*device.Tensor)(nil))
			return err
		}, device.ErrLaunch, "no tensor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.make(open(t, "cube.hbm.capacity_per_pe=1GiB"))
			if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %v with %q", err, tt.want, tt.text)
			}
		})
	}
}

func TestForeignTensor(t *testing.T) {
	a, b := open(t), open(t)
	x := must(a.Zeros(1, 16, dtype.F16, device.DPPolicy{}))(t)
	_, err := b.LaunchKernel(context.Background(), "k", func(*tl.Context, tl.Args) {}, x)
	if !errors.Is(err, device.ErrForeign) {
		t.Fatal(err)
	}
}

func TestFailedAllocationLeavesNothingBehind(t *testing.T) {
	c := open(t, "cube.hbm.capacity_per_pe=4096")
	hog := must(c.Empty(1, 1024, dtype.F16, device.DPPolicy{NumCubes: 1, NumPEs: 3}))(t) // PEs 0 to 2 are half full
	if _, err := c.Empty(1, 2048, dtype.F16, device.DPPolicy{NumCubes: 1}); !errors.Is(err, mem.ErrFull) {
		t.Fatal(err)
	}
	if n := must(c.HBMInUse(machine.Coord{PE: 3}))(t); n != 0 {
		t.Fatalf("%v are in use on a PE that has no tensor", n)
	}
	if err := hog.Free(); err != nil {
		t.Fatal(err)
	}
	must(c.Empty(1, 2048, dtype.F16, device.DPPolicy{NumCubes: 1}))(t)
}

func TestLeaksAreNamed(t *testing.T) {
	c := open(t)
	must(c.Zeros(1, 16, dtype.F16, device.DPPolicy{Cube: device.ColumnWise, PE: device.ColumnWise}))(t).Named("a")
	b := must(c.Zeros(1, 16, dtype.F16, device.DPPolicy{}))(t)
	must(c.Zeros(1, 16, dtype.F32, device.DPPolicy{}))(t).Named("c")
	if err := b.Free(); err != nil {
		t.Fatal(err)
	}
	leaks := must(c.ReleaseAll())(t)
	if got, want := fmt.Sprint(leaks), "[{a 32 B} {c 512 B}]"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for pe := range c.Machine().NumPEs() {
		if n := must(c.HBMInUse(c.Machine().Coord(pe)))(t); n != 0 {
			t.Fatalf("%v are in use on PE %d after everything was released", n, pe)
		}
	}
}

func TestReadsNeedData(t *testing.T) {
	c := openOn(t, mock.New(mock.Options{}), nil, nil)
	x := must(c.Zeros(1, 16, dtype.F16, device.DPPolicy{}))(t)
	if err := x.CopyIn(ramp(16)); err != nil {
		t.Fatal(err)
	}
	var none *fault.NoData
	if _, err := x.Read(); !errors.As(err, &none) {
		t.Fatalf("got %v, want NoData", err)
	}
}

func TestReadOfUnwritten(t *testing.T) {
	x := must(open(t).Empty(1, 16, dtype.F16, device.DPPolicy{}))(t)
	var unwritten *fault.Unwritten
	if _, err := x.Read(); !errors.As(err, &unwritten) {
		t.Fatalf("got %v, want Unwritten", err)
	}
}

func TestReplicasThatDiffer(t *testing.T) {
	c := open(t)
	x := must(c.Zeros(1, 4, dtype.F32, device.DPPolicy{}))(t)
	_, err := c.LaunchKernel(context.Background(), "mark", func(c *tl.Context, a tl.Args) {
		c.Store(a.Tensor(0), c.Full(a.Tensor(0).Shape, a.DType, float64(c.Rank()/5)))
	}, x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = x.Read(); err == nil || !strings.Contains(err.Error(),
		"replicas in sip0.cube0.pe0 and sip0.cube1.pe1 differ from element 0") {
		t.Fatalf("got %v", err)
	}
}
