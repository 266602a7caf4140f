package lab_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/exec/mock"
	"kernbench/lab"
	"kernbench/unit"
)

// started is a machine whose collectives have a start in software.
var started = []string{
	"software.launch_ns=8400", "software.protocols.ll.launch_ns=6600.5", "software.protocols.ll.latency_ns=184",
	"software.protocols.ll.efficiency=0.5", "software.protocols.simple.latency_ns=2984",
}

// TestLaunchIsBesideTheTime: the start of a collective is no part of what is simulated, and is told beside it, once for
// each launch with collectives.
func TestLaunchIsBesideTheTime(t *testing.T) {
	for _, tt := range []struct {
		name string
		spec lab.Spec
		sets []string
		want unit.Time
	}{
		{"simple", lab.Spec{Ranks: 4, NElem: 64}, nil, 8400 * unit.Nanosecond},
		{"ll", lab.Spec{Ranks: 4, NElem: 64}, []string{"defaults.protocol=ll"}, 6_600_500},
		{"of the algorithm", lab.Spec{Ranks: 4, NElem: 64, Algorithm: "ring_allreduce"}, []string{"algorithms.ring_allreduce.protocol=ll"}, 6_600_500},
		{"mock", lab.Spec{Ranks: 4, NElem: 64, Executor: mock.Name}, nil, 0},
		{"no collective", lab.Spec{Bench: "gemm_single_pe"}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(sets ...string) *lab.Result {
				s := tt.spec
				s.Sets = slices.Concat(sets, tt.sets)
				r, err := lab.Run(ctx, s)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			with, without := run(started...), run(append(started[2:len(started):len(started)], "software.launch_ns=0")...)
			if with.Launch != tt.want || without.Launch != 0 {
				t.Errorf("%v for the start, and %v without any; want %v", with.Launch, without.Launch, tt.want)
			}
			if with.SimulatedTime != without.SimulatedTime || with.AlgBW != without.AlgBW || with.BusBW != without.BusBW {
				t.Errorf("%v with a start, %v without", with.SimulatedTime, without.SimulatedTime)
			}
		})
	}
}

// TestPerfAddsTheLaunch, to times, to what bandwidths follow from, and to bounds: exactly.
func TestPerfAddsTheLaunch(t *testing.T) {
	sweep := func(sets ...string) *lab.Sweep {
		s := perfOf("all_reduce", 4)
		s.Bound, s.Check = true, false
		s.Vary = []lab.Variation{{Key: "protocol", Values: []string{"simple", "ll"}}}
		s.Base.Sets = sets
		return measured(t, s)
	}
	with := sweep(started...)
	without := sweep(append(started[2:len(started):len(started)], "software.protocols.ll.launch_ns=0")...)
	for i, launch := range []unit.Time{8400 * unit.Nanosecond, 6_600_500} {
		a, b := &with.Rows[i], &without.Rows[i]
		if a.Launch != launch || b.Launch != 0 {
			t.Errorf("row %d: %v and %v for the start, want %v and nothing", i, a.Launch, b.Launch, launch)
		}
		for k, p := range a.Placements() {
			q := b.Placements()[k]
			if p.Time != q.Time+launch {
				t.Errorf("row %d: %v, and %v without the %v of the start", i, p.Time, q.Time, launch)
			}
			near(t, "algbw", p.AlgBW, float64(a.Size)/p.Time.Ns())
			near(t, "busbw", p.BusBW, p.AlgBW*1.5)
		}
		near(t, "bound", *a.Us, *b.Us+launch.Ns()/1e3)
		fastest := math.Inf(1)
		for _, p := range a.Placements() {
			fastest = min(fastest, p.Time.Ns()/1e3)
		}
		near(t, "of the bound", *a.Fraction, *a.Us/fastest)
	}
	says := func(s *lab.Sweep) bool {
		return slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "6600.5ns to 8400ns") })
	}
	if !says(with) || says(without) {
		t.Errorf("notes %q, and without a start %q", with.Notes, without.Notes)
	}
}

// TestProtocolsInTheLimits: limits of the machine know nothing of software; those of rings have its latency and its flags,
// and the start stands beside them.
func TestProtocolsInTheLimits(t *testing.T) {
	limits := func(sets ...string) (*lab.Limits, *lab.Limit) {
		l, err := lab.Bound(ctx, lab.BoundSpec{
			Base: lab.Spec{Ranks: 2, NElem: 1 << 20, Algorithm: "ring_allreduce_chunked", Sets: sets}, Collective: "all_reduce",
		})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(l.Rows[0].Bounds, func(b lab.Limit) bool { return b.Kind == lab.BySlots })
		return l, &l.Rows[0].Bounds[i]
	}
	plain, slots := limits()
	soft, its := limits(append(started[:len(started):len(started)], "defaults.protocol=ll")...)
	if soft.Launch != 6_600_500 || plain.Launch != 0 || soft.Rows[0].Hardware != plain.Rows[0].Hardware {
		t.Errorf("%v beside %v, and %v beside %v without software", soft.Launch, soft.Rows[0].Hardware, plain.Launch, plain.Rows[0].Hardware)
	}
	a, b := its.Witness.Channel, slots.Witness.Channel
	flags := b.Rate.Serial().Time(a.SlotBytes)
	if want := b.RoundTrip + flags + 2*184*unit.Nanosecond; a.RoundTrip != want || a.Rate != b.Rate/2 {
		t.Errorf("a round trip of %v at %v, want %v at half of %v", a.RoundTrip, a.Rate, want, b.Rate)
	}
	if its.Time <= slots.Time {
		t.Errorf("slots limit to %v with software, to %v without", its.Time, slots.Time)
	}
}

// TestRingsOfTheMachineArrive where rings are made, and what the user says goes before them.
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
		l, err := lab.Bound(ctx, lab.BoundSpec{
			Base: lab.Spec{Ranks: 4, NElem: 1 << 20, Algorithm: "ring_allreduce_chunked", Sets: tt.sets}, Collective: "all_reduce",
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range l.Rows[0].Bounds {
			if c := b.Witness.Channel; c != nil && (c.Slots != tt.slots || c.SlotBytes != tt.size) {
				t.Errorf("%v: %d slots of %d bytes, want %d of %d", tt.sets, c.Slots, c.SlotBytes, tt.slots, tt.size)
			}
		}
	}
}
