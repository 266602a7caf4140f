package ipcq

import (
	"testing"

	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

const ns = unit.Nanosecond

func TestPartOf(t *testing.T) {
	whole := Token{Value: 9, Off: 100, N: 25, Total: 25, Parts: 3, Type: dtype.F32}
	at := int32(100)
	for i, n := range []int32{10, 10, 5} {
		p := whole.PartOf(i, 10)
		if p.Part != int32(i) || p.Off != at || p.N != n || p.Bytes() != int64(4*n) || p.Value != 9 || p.Total != 25 {
			t.Errorf("part %d: %+v", i, p)
		}
		at += n
	}
	if p := (Token{Parts: 1}).PartOf(0, 8); p.N != 0 || p.Bytes() != 0 {
		t.Errorf("an empty payload is one empty token, not %+v", p)
	}
}

func TestWake(t *testing.T) {
	sleep, poll := tl.Ring{WakeCost: 7 * ns}, tl.Ring{Poll: true, PollEvery: 10 * ns, WakeCost: 99 * ns}
	tests := []struct {
		ring            *tl.Ring
		since, at, want unit.Time
	}{
		{&sleep, 100 * ns, 50 * ns, 100 * ns},
		{&sleep, 100 * ns, 100 * ns, 100 * ns},
		{&sleep, 100 * ns, 101 * ns, 108 * ns},
		{&poll, 100 * ns, 100 * ns, 100 * ns},
		{&poll, 100 * ns, 100*ns + 1, 110 * ns},
		{&poll, 100 * ns, 110 * ns, 110 * ns},
		{&poll, 103 * ns, 134 * ns, 143 * ns},
		{&tl.Ring{Poll: true, WakeCost: 7 * ns}, 100 * ns, 101 * ns, 108 * ns}, // no interval: as if it slept
	}
	for _, tt := range tests {
		if got := Wake(tt.ring, tt.since, tt.at); got != tt.want {
			t.Errorf("poll=%v since %v at %v: %v, want %v", tt.ring.Poll, tt.since, tt.at, got, tt.want)
		}
	}
}
