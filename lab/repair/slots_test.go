package repair_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/lab/repair"
	"kernbench/lab/run"
	"kernbench/tl"
)

// floods makes an all-reduce that sends some messages in each direction before it receives any.
func floods(name string, east, west int) string {
	return register(name, func(c *tl.Context, a tl.Args) {
		own := c.Load(a.Shard(c.Rank()))
		for _, f := range []struct {
			to tl.Dir
			n  int
		}{{tl.East, east}, {tl.West, west}} {
			for range f.n {
				c.Send(f.to, own)
			}
		}
		for _, f := range []struct {
			from tl.Dir
			n    int
		}{{tl.West, east}, {tl.East, west}} {
			for range f.n {
				c.Recv(f.from, own.Shape(), own.DType())
			}
		}
		reduce(func(c *tl.Context, current, acc tl.Tensor) tl.Tensor {
			c.Send(tl.East, current)
			return c.Recv(tl.West, acc.Shape(), acc.DType())
		})(c, a)
	})
}

var (
	floodsEast = floods("repair_floods_east", 20, 0)
	floodsBoth = floods("repair_floods_both", 20, 9)
)

// Slots are found for all rings, and for the rings of each direction that needs more. If the memory
// is too small for more slots of all rings, more slots of some may still fit.
func TestSlotsOfRings(t *testing.T) {
	for _, tt := range []struct {
		name, algorithm, executor string
		sets                      []string
		slots                     string
		found                     []string // repairs that change numbers of slots
	}{
		{"one direction", floodsEast, "sim", nil,
			"n_slots: 20 works (with 19 it deadlocks): rings to E hold up to 20 at once", []string{"n_slots: 20", "ring_slots: E:20"}},
		{"both directions", floodsBoth, "mock", nil,
			"n_slots: 20 works (with 19 it deadlocks)", []string{"n_slots: 20", "ring_slots: E:20 W:9"}},
		{"no memory for all", floodsEast, "sim", []string{"defaults.slot_size=512KiB"},
			"15 slots do not help, and there is no memory for more", []string{"ring_slots: E:20"}},
		{"no memory for any", floodsEast, "sim", []string{"defaults.slot_size=1MiB"},
			"7 slots do not help, and there is no memory for more", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := run.Spec{Topology: "ahbm-cube", Algorithm: tt.algorithm, Ranks: 4, NElem: 8, Executor: tt.executor, Sets: tt.sets}
			_, err := run.Run(context.Background(), s)
			if !repair.Applies(err) {
				t.Fatalf("the run ends with %v", err)
			}
			r := repair.Search(context.Background(), s, err, time.Minute)
			if !strings.HasPrefix(r.Slots, tt.slots) {
				t.Errorf("%q, not %q", r.Slots, tt.slots)
			}
			var found []string
			for _, f := range r.Found {
				if strings.Contains(f.What, "slots: ") {
					found = append(found, f.What)
					if len(f.Also) != 2 || len(f.NotAt) > 0 {
						t.Errorf("%+v", f)
					}
				}
			}
			if !slices.Equal(found, tt.found) {
				t.Errorf("found %q, not %q", found, tt.found)
			}
		})
	}
}

// TestSlotsOfAProgram: a program file states its slots, so the repair is a number for the file.
func TestSlotsOfAProgram(t *testing.T) {
	var b strings.Builder
	b.WriteString("kernbench program 1\nalgorithm flood\ncollective sendrecv\ntype f16\nelements 64\nresults in place\nworld 2\n" +
		"slots 4 of 4096 bytes\nscratch 1048576 bytes\nwire 0 E->1.W W->1.E\nwire 1 E->0.W W->0.E\n")
	for rank := range 2 {
		fmt.Fprintf(&b, "\nrank %d\n  t0 = load data[0:64]\n", rank)
		b.WriteString(strings.Repeat("  send E t0\n", 20))
		for i := range 20 {
			fmt.Fprintf(&b, "  t%d = recv W f16[64]\n", i+1)
		}
		b.WriteString("  store data[0:64] t20\n")
	}
	file := filepath.Join(t.TempDir(), "flood.txt")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, executor := range []string{"sim", "mock"} {
		spec := run.Spec{Program: file, Executor: executor}
		_, err := run.Run(t.Context(), spec)
		if !repair.Applies(err) {
			t.Fatalf("%s: %v, want a deadlock", executor, err)
		}
		r := repair.Search(t.Context(), spec, err, time.Minute)
		if !strings.HasPrefix(r.Slots, "slots: 20 works (with 19 it deadlocks)") || len(r.Found) != 1 || r.Found[0].What != "slots: 20" {
			t.Errorf("%s: %q, %+v", executor, r.Slots, r.Found)
		}
	}
}
