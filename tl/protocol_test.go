package tl

import (
	"testing"

	_ "kernbench/internal/fixedseed"
	"kernbench/unit"

	"pgregory.net/rapid"
)

func TestProtocolOnTheLinks(t *testing.T) {
	half, line := Protocol{Payload: 500_000}, Protocol{Payload: 937_500}
	for _, tt := range []struct {
		p          *Protocol
		data, wire int64
	}{
		{&Protocol{}, 12345, 12345},
		{&Protocol{Payload: million}, 12345, 12345},
		{&half, 0, 0},
		{&half, 4, 8},
		{&line, 120, 128},
		{&line, 121, 130}, // 129.07
		{&line, 1, 2},
		{&Protocol{Payload: 1}, 1 << 40, million << 40},
	} {
		if got := tt.p.Wire(tt.data); got != tt.wire {
			t.Errorf("%d of a million: %d bytes of data take %d, want %d", tt.p.Payload, tt.data, got, tt.wire)
		}
	}
	if got := line.Data(100 * unit.GBPerSecond); got != 93_750*unit.GBPerSecond/1000 {
		t.Errorf("100 GB/s carry %v of data", got)
	}
}

// The computed bytes on the links carry at least the data, and one byte fewer would not.
func TestProtocolWastesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Protocol{Payload: rapid.Int64Range(1, million).Draw(t, "payload")}
		data := rapid.Int64Range(1, 1<<40).Draw(t, "data")
		wire := p.Wire(data)
		carries := func(wire int64) float64 { return float64(wire) / million * float64(p.Payload) }
		if carries(wire) < float64(data)*(1-1e-12) || carries(wire-1) > float64(data)*(1+1e-12) {
			t.Fatalf("%d bytes of data take %d", data, wire)
		}
	})
}

func TestProtocolLimits(t *testing.T) {
	for _, p := range []Protocol{{Latency: []unit.Time{0, -1}}, {Credit: []unit.Time{-1}}, {Payload: -1}, {Payload: million + 1},
		{Copy: -1}, {Channel: -1}} {
		ring := Ring{Slots: 1, SlotBytes: 8, Space: 1, Protocol: p}
		if err := p.Validate(); err == nil || ring.Validate() == nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := (&Protocol{Latency: []unit.Time{5}, Credit: []unit.Time{5}, Payload: 1}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestLate: a latency for each level, the last one also for those that are not there.
func TestLate(t *testing.T) {
	p := Protocol{Latency: []unit.Time{1, 2, 3}, Credit: []unit.Time{7}}
	for level, want := range map[int]unit.Time{-1: 1, 0: 2, 1: 3, 2: 3} {
		if message, credit := p.Late(level); message != want || credit != 7 {
			t.Errorf("level %d: %v and %v, want %v and 7ps", level, message, credit, want)
		}
	}
	if message, credit := (&Protocol{}).Late(0); message != 0 || credit != 0 {
		t.Errorf("%v and %v of no protocol", message, credit)
	}
}
