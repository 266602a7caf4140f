package limits_test

import (
	"context"
	"slices"
	"testing"

	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/unit"
)

// started is a machine whose collectives have a start in software.
var started = []string{
	"software.launch_ns=8400", "software.protocols.ll.launch_ns=6600.5", "software.protocols.ll.latency_ns=184",
	"software.protocols.ll.efficiency=0.5", "software.protocols.simple.latency_ns=2984",
}

var ctx = context.Background()

// TestProtocolsInTheLimits: limits of the machine do not include software. Limits of rings include
// its latency and flags. The start is reported separately.
func TestProtocolsInTheLimits(t *testing.T) {
	limits := func(sets ...string) (*limits.Limits, *limits.Limit) {
		l, err := limits.Run(ctx, limits.Spec{
			Base: run.Spec{Ranks: 2, NElem: 1 << 20, Algorithm: "ring_allreduce_chunked", Sets: sets}, Collective: "all_reduce",
		})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(l.Rows[0].Bounds, func(b limits.Limit) bool { return b.Kind == limits.BySlots })
		return l, &l.Rows[0].Bounds[i]
	}
	plain, slots := limits()
	soft, its := limits(append(started[:len(started):len(started)], "defaults.protocol=ll")...)
	if soft.Launch != 6_600_500 || plain.Launch != 0 || soft.Rows[0].Hardware != plain.Rows[0].Hardware {
		t.Errorf("%v beside %v, and %v beside %v without software", soft.Launch, soft.Rows[0].Hardware, plain.Launch,
			plain.Rows[0].Hardware)
	}
	a, b := its.Witness.Ring, slots.Witness.Ring
	flags := b.Rate.Serial().Time(a.SlotBytes)
	if want := b.RoundTrip + flags + 2*184*unit.Nanosecond; a.RoundTrip != want || a.Rate != b.Rate/2 {
		t.Errorf("a round trip of %v at %v, want %v at half of %v", a.RoundTrip, a.Rate, want, b.Rate)
	}
	if its.Time <= slots.Time {
		t.Errorf("slots limit to %v with software, to %v without", its.Time, slots.Time)
	}
}

// TestRingsOfTheMachineArrive: rings are made with the settings of the machine, unless the user
// overrides them.
func TestRingsOfTheMachineArrive(t *testing.T) {
	for _, tt := range []struct {
		sets  []string
		slots int
		size  int64
	}{
		{nil, 4, 4096},
		{[]string{"rings.n_slots=7", "rings.slot_size=256"}, 7, 256},
		{[]string{"rings.n_slots=7", "defaults.n_slots=3", "rings.slot_size=256"}, 3, 256},
		{[]string{"rings.n_slots=7", "algorithms.ring_allreduce_chunked.slot_size=512"}, 7, 512},
	} {
		l, err := limits.Run(ctx, limits.Spec{
			Base: run.Spec{Ranks: 4, NElem: 1 << 20, Algorithm: "ring_allreduce_chunked", Sets: tt.sets}, Collective: "all_reduce",
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range l.Rows[0].Bounds {
			if c := b.Witness.Ring; c != nil && (c.Slots != tt.slots || c.SlotBytes != tt.size) {
				t.Errorf("%v: %d slots of %d bytes, want %d of %d", tt.sets, c.Slots, c.SlotBytes, tt.slots, tt.size)
			}
		}
	}
}
