package cli

import "testing"

func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing yet, so that the first is at 32 MiB", 0, 800},
		{"a small run", 20 << 20, 300},
		{"128 MiB beside as much", 128 << 20, 100},
		{"640 MiB, so that all is 960", 640 << 20, 50},
		{"768 MiB, so that all is 960", 768 << 20, 25},
		{"900 MiB, so that all is 960", 900 << 20, 6},
		{"930 MiB, which cannot stay below", 930 << 20, 50},
		{"a large machine", 2 << 30, 50},
	} {
		if got := garbagePercent(c.live); got != c.want {
			t.Errorf("%s: %d bytes in use may have %d %% of garbage, want %d", c.name, c.live, got, c.want)
		}
	}
}
