package machine

import (
	"sync"
	"testing"

	"kernbench/conf"
	"kernbench/unit"
)

// setup is the time to start a descriptor on the default machine.
var setup = sync.OnceValue(func() unit.Time { return conf.DefaultTopology().PE().DMA.Setup })

// reading returns how long a PE needs to read bytes of a slice when nothing else moves: DMA's
// setup, the request to the memory, then the data back, each cut through all its links.
func reading(m *Machine, pe, slice int, bytes int64) unit.Time {
	const request = 16
	wait := setup()
	if hops := m.RouteRequest(nil, m.PE(pe), m.HBM(slice)); len(hops) > 0 {
		head, slowest := m.Latency(hops)
		wait += head + slowest.Serial().Time(request)
	}
	head, slowest := m.Latency(m.Route(nil, m.HBM(slice), m.PE(pe)))
	return wait + head + slowest.Serial().Time(bytes)
}

// TestPublishedReadings holds the default machine against the published figures for 16 KiB that no
// contention enters.
func TestPublishedReadings(t *testing.T) {
	m := mustBuild(t)
	const bytes = 16 << 10
	farthest := unit.Time(0)
	for pe := range 128 { // of the first SIP
		for slice := range 128 {
			farthest = max(farthest, reading(m, pe, slice, bytes))
		}
	}
	tests := []struct {
		name      string
		got       unit.Time
		exact     unit.Time // by hand, from the constants
		published float64   // ns
	}{
		// 13 + 64
		{"own slice", reading(m, 0, 0, bytes), unit.Nanoseconds(77), 77},
		// one router in each direction, 16 B at 256 GB/s
		{"the neighbour's slice", reading(m, 1, 0, bytes), unit.Nanoseconds(77 + 2*3.03 + 0.0625), 82},
		// up and down again the switch: in each direction 2 routers, 2 crossings, 2 chiplets, 2
		// links, the switch; 128 GB/s
		{"other SIP", reading(m, 0, 128, bytes), unit.Nanoseconds(13 + 128 + 2*(2*3.03+2*16+2*15+2*30+5) + 0.125), 409},
		// corner to corner: 40 routers and 6 crossings in each direction
		{"farthest cube", farthest, unit.Nanoseconds(13 + 128 + 2*(40*3.03+6*16) + 0.125), 573},
	}
	for _, test := range tests {
		off := (test.got.Ns()/test.published - 1) * 100
		t.Logf("%-22s %v, published %v ns: %+.1f %%", test.name, test.got, test.published, off)
		if off < -5 || off > 5 {
			t.Errorf("%s: %v is %+.1f %% off the published %v ns", test.name, test.got, off, test.published)
		}
		if d := test.got - test.exact; d < -1 || d > 1 { // the request's 62.5 ps are rounded up
			t.Errorf("%s: %v, by hand %v", test.name, test.got, test.exact)
		}
	}
	if got := reading(m, 0, 0, 32<<10); got != unit.Nanoseconds(141) {
		t.Errorf("32 KiB of the own slice take %v, published 141 ns", got)
	}
}

// TestOrderOfDistances: what is farther takes longer, at every size.
func TestOrderOfDistances(t *testing.T) {
	m := mustBuild(t)
	for _, bytes := range []int64{256, 4 << 10, 1 << 20} {
		last := unit.Time(0)
		for _, to := range []struct {
			name  string
			slice int
		}{{"own", 0}, {"same corner", 1}, {"same half", 2}, {"cross half", 6}, {"next cube", 8}, {"other SIP's nearest cube", 128}} {
			got := reading(m, 0, to.slice, bytes)
			if got <= last {
				t.Errorf("%d B from %s take %v, from nearer %v", bytes, to.name, got, last)
			}
			last = got
		}
	}
}
