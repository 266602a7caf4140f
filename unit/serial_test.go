package unit

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactSerial is ⌈bytes × 1e12 / rate⌉ in big integers, held to MaxTime.
func exactSerial(bytes int64, rate Rate) Time {
	n := new(big.Int).Mul(big.NewInt(bytes), big.NewInt(1e12))
	n.Add(n, big.NewInt(int64(rate)-1))
	n.Quo(n, big.NewInt(int64(rate)))
	if !n.IsInt64() {
		return MaxTime
	}
	return Time(n.Int64())
}

func TestSerialTime(t *testing.T) {
	tests := []struct {
		name  string
		rate  Rate
		bytes int64
		want  Time
	}{
		{"nothing", GBs(128), 0, 0},
		{"negative", GBs(128), -1, 0},
		{"one byte rounds up", GBs(128), 1, 8}, // 7.8125
		{"a slot", GBs(128), 4096, 32 * Nanosecond},
		{"calibration of an own slice", GBs(256), 16384, 64 * Nanosecond},
		{"a whole ps per byte", GBs(1000), 12345, 12345},
		{"faster than a byte per ps", 3 * TBPerSecond, 1, 1},
		{"two thirds", 3 * TBPerSecond, 2, 1},
		{"four thirds", 3 * TBPerSecond, 4, 2},
		{"one byte per second", 1, 1, Second},
		{"too long for 64 bits", 1, math.MaxInt64, MaxTime},
		{"largest rate", math.MaxInt64, math.MaxInt64, Second},
		{"largest rate, nothing", math.MaxInt64, 0, 0},
		{"prime rate", 999999999989, 4096, 4097},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.rate.Serial().Time(test.bytes); got != test.want {
				t.Errorf("%v.Serial().Time(%d) = %v, want %v", test.rate, test.bytes, got, test.want)
			}
		})
	}
}

func TestSerialIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(
			rapid.Custom(func(t *rapid.T) Rate { return GBs(rapid.Float64Range(0.1, 10000).Draw(t, "GB/s")) }),
			rapid.Custom(func(t *rapid.T) Rate { return Rate(rapid.Int64Range(1, math.MaxInt64).Draw(t, "B/s")) }),
			rapid.Custom(func(t *rapid.T) Rate { return Rate(int64(1) << rapid.IntRange(0, 62).Draw(t, "log")) }),
		).Draw(t, "rate")
		serial := rate.Serial()
		bytes := rapid.OneOf(rapid.Int64Range(0, 1<<24), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "bytes")
		// A mistake would hide at the boundary between the two ways of dividing.
		boundary := int64(min(serial.wide, math.MaxInt64))
		for _, n := range []int64{bytes, boundary - 1, boundary, boundary / 2} {
			if n < 0 {
				continue
			}
			if got, want := serial.Time(n), exactSerial(n, rate); got != want {
				t.Fatalf("Rate(%d).Serial().Time(%d) = %d ps, want %d ps", int64(rate), n, int64(got), int64(want))
			}
		}
	})
}

func TestZeroSerialTakesNoTime(t *testing.T) {
	for _, n := range []int64{0, 1, math.MaxInt64} {
		if got := (Serial{}).Time(n); got != 0 {
			t.Errorf("Serial{}.Time(%d) = %v, want 0", n, got)
		}
	}
}

func TestSerialOfNoRatePanics(t *testing.T) {
	for _, r := range []Rate{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Rate(%d).Serial() did not panic", int64(r))
				}
			}()
			r.Serial()
		}()
	}
}

func BenchmarkSerialTime(b *testing.B) {
	serial := GBs(128).Serial()
	total := Time(0)
	for i := int64(0); b.Loop(); i++ {
		total += serial.Time(i & 4095)
	}
	if total < 0 {
		b.Fatal("time ran backwards")
	}
}

// Repeated calls return the same result.
func TestRateTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate(rapid.Int64Range(1, math.MaxInt64).Draw(t, "rate"))
		n := rapid.Int64().Draw(t, "bytes")
		if got, want := r.Time(n), r.Serial().Time(n); got != want {
			t.Fatalf("%d bytes at %d B/s take %d, want %d", n, int64(r), got, want)
		}
	})
}
