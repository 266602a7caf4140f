package conf

import (
	"testing"

	"kernbench/unit"
)

// TestChannels: few bytes use few channels, and fewer channels than all add the rest of their time.
func TestChannels(t *testing.T) {
	c := Channels{Count: 24, Bytes: 4 * unit.KiB, Rate: 4 * unit.GBPerSecond}
	for bytes, want := range map[unit.Bytes]int{
		1: 1, 32 * unit.KiB: 1, 64 * unit.KiB: 2, 65 * unit.KiB: 2, 768 * unit.KiB: 24, unit.GiB: 24,
	} {
		if got := c.Of(bytes, 8); got != want {
			t.Errorf("%v: %d channels, want %d", bytes, got, want)
		}
	}
	if got := (&Channels{}).Of(unit.MiB, 8); got != 0 {
		t.Errorf("a machine without channels has %d", got)
	}
	const bytes = 96_000
	all := (24 * c.Rate).Time(bytes)
	for n := 1; n < 24; n++ {
		want := (unit.Rate(n) * c.Rate).Time(bytes)
		if got := all + c.Slows(n).Time(bytes); got < want-2 || got > want+2 {
			t.Errorf("%d channels take %v, want %v", n, got, want)
		}
	}
	for _, none := range []unit.Rate{c.Slows(24), c.Slows(25), (&Channels{Count: 24}).Slows(1), (&Channels{}).Slows(0)} {
		if none != 0 {
			t.Errorf("slower by %v, want none", none)
		}
	}
}
