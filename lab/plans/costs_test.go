package plans

import (
	"context"
	"slices"
	"testing"

	"kernbench/unit"
)

// Costs come from the machine's file where it has them. The others are marked as estimates.
func TestCostsOfTheMachine(t *testing.T) {
	file := written(t, "ring_allreduce_chunked", 4, 16, 1)
	for _, c := range []struct {
		topology string
		sets     []string
		copy     unit.Rate
		flag     unit.Time
		guessed  []string
	}{
		{"dgx-h100", nil, 367 * unit.GBPerSecond / 10, 600 * unit.Nanosecond, []string{"issue", "slice", "flag", "fence", "reduce"}},
		{"dgx-a100", []string{"software.blocks.copy_gbs=25", "software.blocks.flag_ns=1000",
			"software.blocks.reduce_gbs=50"}, 25 * unit.GBPerSecond, unit.Microsecond,
			[]string{"issue", "slice", "fence"}},
		{"", nil, 20 * unit.GBPerSecond, 600 * unit.Nanosecond,
			[]string{"launch", "issue", "slice", "flag", "fence", "latency", "copy", "reduce"}},
	} {
		l, err := Load(Spec{File: file, Topology: c.topology, Sets: c.sets})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Time(context.Background(), unit.MiB)
		if err != nil {
			t.Fatal(err)
		}
		if m := &r.Model; m.Copy != c.copy || m.Flag != c.flag || !slices.Equal(m.Guessed, c.guessed) {
			t.Errorf("%s: a block copies %v, flags take %v, guessed %v; want %v, %v, %v", c.topology, m.Copy, m.Flag,
				m.Guessed, c.copy, c.flag, c.guessed)
		}
	}
}

// Between hosts messages have the latency of the network, channels hold twice as many, and flags
// have a fence.
func TestNetwork(t *testing.T) {
	file := written(t, "ring_allreduce_chunked", 8, 8, 1)
	inside := timed(t, file, "leaf-spine-roce", unit.MiB)
	if inside.Network || inside.Model.Flag != 600*unit.Nanosecond {
		t.Errorf("one host: network %v, flags take %v", inside.Network, inside.Model.Flag)
	}
	l, err := Load(Spec{File: file, Topology: "leaf-spine-roce", Sets: []string{"system.levels.0.count=4"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Time(context.Background(), unit.MiB)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Network || r.Model.Flag != unit.Microsecond || len(r.Model.Hops) != 3 {
		t.Errorf("two hosts: network %v, flags take %v, latencies %v", r.Network, r.Model.Flag, r.Model.Hops)
	}
	// Of a chunk's 14 steps around the ring, at least one in four crosses between hosts.
	if late := 3 * (r.Model.Hops[2] - r.Model.Hops[0]); r.Time < inside.Time+late {
		t.Errorf("two hosts take %v, one takes %v; want %v more at least", r.Time, inside.Time, late)
	}
}
