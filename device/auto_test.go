package device_test

import (
	"errors"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/machine"
	"kernbench/tl"
)

var _ = algorithm.Register(algorithm.Algorithm{
	Name: "odd_only", Collective: "all_reduce", Topology: "ring_1d", Kernel: func(*tl.Context, tl.Args) {},
	Check: func(_, n int) error {
		if n%2 == 0 {
			return errors.New("an odd number is needed")
		}
		return nil
	},
})

// autoRows are for 4 ranks. Small calls use a ring, calls from 64 B on use odd_only where it is
// possible, and calls from 1 KiB on use it alone.
var autoRows = []algorithm.TuningRow{
	{From: 0, Use: "ring_allreduce"},
	{From: 64, Use: "odd_only", Else: []string{"tree_allreduce"}},
	{From: 512, Use: "ring_allreduce_chunked", Settings: []string{"n_slots=7"}},
	{From: 1024, Use: "odd_only"},
}

// openTuned makes a context on the small machine with a table for its ranks.
func openTuned(t *testing.T, tuned bool, cfg device.Config, sets ...string) *device.Context {
	t.Helper()
	top, err := conf.LoadTopology(nil, small)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.CCL, err = conf.LoadCCL(nil, sets); err != nil {
		t.Fatal(err)
	}
	if cfg.Machine, err = machine.Build(top); err != nil {
		t.Fatal(err)
	}
	if tuned {
		cfg.Tuning = &algorithm.Tuning{File: "t.yaml", Tables: []algorithm.TuningTable{{
			Topology: "small", Machine: top.Fingerprint(), Collective: "all_reduce", Ranks: 4, Type: dtype.F32, Rows: autoRows,
		}}}
	}
	cfg.Executor = mock.New(mock.Options{})
	t.Cleanup(cfg.Executor.Close)
	c, err := device.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAutoChoosesForEachCall(t *testing.T) {
	for _, how := range []string{"by its name", "by the default"} {
		name, sets := "auto", []string{}
		if how == "by the default" {
			name, sets = "", []string{"defaults.algorithm=auto"}
		}
		c := openTuned(t, true, device.Config{World: 4}, sets...)
		p, err := c.InstallIPCQ(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != "auto" || p.World != 4 || len(p.PEs) != 4 || p.Algorithm.Collective != "all_reduce" {
			t.Fatalf("%s: installed %s of %d ranks", how, p.Name, p.World)
		}
		for _, x := range []struct {
			elems int
			want  string
			slots int
		}{
			{4, "ring_allreduce", 4}, {17, "odd_only", 4}, {18, "tree_allreduce", 4},
			{128, "ring_allreduce_chunked", 7}, {4, "ring_allreduce", 4},
		} {
			v, err := c.EmptyOn(p.PEs, x.elems, dtype.F32)
			if err != nil {
				t.Fatal(err)
			}
			run, err := c.Perform(t.Context(), p, tl.Sum, []*device.Tensor{v})
			if err != nil {
				t.Fatalf("%s, %d elements: %v", how, x.elems, err)
			}
			if got := run.Calls[0].Plan; got.Name != x.want || got.Ring.Slots != x.slots || c.Plan() != got {
				t.Errorf("%s, %d elements: %s with %d slots, want %s with %d", how, x.elems, got.Name, got.Ring.Slots, x.want, x.slots)
			}
			if err := v.Free(); err != nil {
				t.Fatal(err)
			}
		}
		v, err := c.EmptyOn(p.PEs, 256, dtype.F32)
		if err != nil {
			t.Fatal(err)
		}
		const want = "no tuned algorithm accepts a 1 KiB all_reduce on 4 ranks: an odd number is needed"
		if _, err := c.Perform(t.Context(), p, tl.Sum, []*device.Tensor{v}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, all refuse: %v", how, err)
		}
	}
}

func TestAutoIsRefused(t *testing.T) {
	for _, x := range []struct {
		name  string
		tuned bool
		cfg   device.Config
		sets  []string
		want  string
	}{
		{"without a table", false, device.Config{World: 4}, nil,
			"there is no tuning table; make one with: kernbench tune all_reduce --ranks 4"},
		{"other ranks", true, device.Config{World: 5}, nil, "t.yaml has tables for all_reduce of 4 ranks"},
		{"more ranks than there are", true, device.Config{World: 17}, nil, "17 ranks: the machine has 16 PEs"},
		{"other PEs", true, device.Config{PEs: []int32{4, 5, 6, 7}}, nil,
			"rank 0 is sip0.cube1.pe0: only calls between the first PEs"},
		{"ranks that are SIPs", true, device.Config{World: 2}, []string{"defaults.rank_level=sip"}, "found rank_level sip, want pe"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := openTuned(t, x.tuned, x.cfg, x.sets...)
			if _, err := c.InstallIPCQ("auto"); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%v, want %s", err, x.want)
			}
		})
	}
}

func TestAnEntryCalledAutoIsNoChoice(t *testing.T) {
	c := openTuned(t, false, device.Config{World: 4}, "algorithms.auto.module=ring_allreduce")
	if p, err := c.InstallIPCQ("auto"); err != nil || p.Algorithm.Name != "ring_allreduce" {
		t.Errorf("%v, %v", p, err)
	}
}
