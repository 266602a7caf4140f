package plans

import (
	"context"
	"strings"
	"testing"

	"kernbench/frontend/plan"
	"kernbench/frontend/timing"
	"kernbench/unit"
)

// Each change of the list has the time of a run with its flags, and the best comes first.
func TestChangesAreWhatTheirFlagsMake(t *testing.T) {
	ctx := context.Background()
	file := written(t, "ring_allreduce_chunked", 4, 16, 2)
	spec := Spec{File: file, Topology: "leaf-spine-roce", Sets: []string{"system.levels.0.count=2"}}
	l, err := Load(spec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Time(ctx, unit.MiB)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := l.WhatIf(ctx, r, nil)
	if err != nil || len(changes) < 11 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	best, helps := changes[0].Saved, 0
	for _, c := range changes {
		if best < c.Saved || c.Error != "" || c.Saved != r.Time-c.Time {
			t.Errorf("%+v behind one that saves %v, of %v", c, best, r.Time)
		}
		if best = c.Saved; best > 0 {
			helps++
		}
		if c.Flags == "" || strings.HasPrefix(c.Flags, "--in-place") {
			continue
		}
		other := spec
		if set, is := strings.CutPrefix(c.Flags, "--set "); is {
			other.Sets = append([]string{set}, spec.Sets...)
		} else {
			other.Options.Depth = 4
		}
		o, err := Load(other)
		if err != nil {
			t.Fatalf("%s: %v", c.Flags, err)
		}
		if again, err := o.Time(ctx, unit.MiB); err != nil || again.Time != c.Time {
			t.Errorf("%s: %v, %v; the list says %v", c.Flags, again.Time, err, c.Time)
		}
	}
	if helps < 5 {
		t.Errorf("%d changes help; want copies, launch, latency, steps and slices at least", helps)
	}
}

func TestChangesThatAreAskedFor(t *testing.T) {
	ctx := context.Background()
	l, err := Load(Spec{File: written(t, "ring_allreduce_chunked", 4, 16, 1), Topology: "dgx-h100"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Time(ctx, unit.MiB)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := l.WhatIf(ctx, r, []string{"proto=ll", "depth=1", "system.link.latency_ns=1000"})
	if err != nil || len(changes) != 3 {
		t.Fatalf("%v, %v", changes, err)
	}
	for _, c := range changes {
		if c.What == "depth=1" { // blocks send before they receive
			if c.Error != "it hangs" {
				t.Errorf("%+v, want a hang", c)
			}
		} else if c.Time == 0 || c.Time == r.Time {
			t.Errorf("%+v: as before, %v", c, r.Time)
		}
	}
	for setting, want := range map[string]string{
		"depth=0": `found "0", want a number`, "proto=x": `found "x", want Simple, LL or LL128`,
		"software.blocks.copy=1": "software.blocks.copy", "depth": `found ""`,
	} {
		if _, err := l.WhatIf(ctx, r, []string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}

// The critical path of each rank adds up to the rank's end. Waits and operations are parts of it.
func TestPathOfARank(t *testing.T) {
	for _, file := range []string{written(t, "direct_allgather", 4, 4, 2), written(t, "tree_allreduce", 4, 4, 1)} {
		for rank := plan.None; rank < 4; rank++ {
			l, err := Load(Spec{File: file, Topology: "mi300x-8", Detail: &timing.Detail{Rows: 1000, Rank: rank}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Time(context.Background(), unit.MiB)
			if err != nil {
				t.Fatal(err)
			}
			end := r.Time
			if rank != plan.None {
				end = r.Ranks[rank]
			}
			path, ops, waits := unit.Time(0), unit.Time(0), unit.Time(0)
			for _, s := range r.Path {
				path += s.Time
			}
			for _, s := range r.Ops {
				ops += s.Time
			}
			for _, s := range r.Waits {
				waits += s.Time
			}
			if r.Until != end || path != end || ops > end-r.Model.Launch || waits > ops {
				t.Errorf("rank %d ends at %v: the path has %v of %v, operations %v, waits %v", rank, end, path, r.Until, ops, waits)
			}
		}
		l, err := Load(Spec{File: file, Topology: "mi300x-8", Detail: &timing.Detail{Rank: 4}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Time(context.Background(), unit.MiB); err == nil || !strings.Contains(err.Error(), "rank 4: the ranks are 0 to 3") {
			t.Errorf("rank 4 of 4: %v", err)
		}
	}
}
