package cli

import "testing"

func TestGarbagePercent(t *testing.T) {
	for _, c := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing yet, so that the first is at 128 MiB", 0, 3200},
		{"a small run", 20 << 20, 300},
		{"128 MiB beside as much", 128 << 20, 100},
		{"500 MiB, of which half is less", 500 << 20, 50},
		{"640 MiB, so that all is 880", 640 << 20, 37},
		{"768 MiB, so that all is 880", 768 << 20, 14},
		{"900 MiB, which leave little", 900 << 20, 4},
		{"920 MiB, which stay below 960", 920 << 20, 4},
		{"930 MiB, which do not", 930 << 20, 50},
		{"a large machine", 2 << 30, 50},
	} {
		if got := garbagePercent(c.live); got != c.want {
			t.Errorf("%s: %d bytes in use may have %d %% of garbage, want %d", c.name, c.live, got, c.want)
		}
	}
}
