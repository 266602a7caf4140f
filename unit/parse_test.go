package unit

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
)

func TestParseTime(t *testing.T) {
	tests := []struct {
		text    string
		want    Time
		wantErr string // part of the message; empty means that the text is good
	}{
		{"30ns", 30 * Nanosecond, ""},
		{"1.5us", 1500 * Nanosecond, ""},
		{"1.5µs", 1500 * Nanosecond, ""},
		{"1.5μs", 1500 * Nanosecond, ""},
		{" 346.4 ns ", 346400, ""},
		{"7ps", 7, ""},
		{"2ms", 2 * Millisecond, ""},
		{"0.000000000001s", 1, ""},
		{".5ns", 500, ""},
		{"5.ns", 5 * Nanosecond, ""},
		{"-1.25ns", -1250, ""},
		{"+3ns", 3 * Nanosecond, ""},
		{"1.100000000000000000000000ns", 1100, ""},
		{"0", 0, ""},
		{"9223372.036854775807s", MaxTime, ""},
		{"-9223372.036854775808s", math.MinInt64, ""},
		{"9223372.036854775808s", 0, "too large"},
		{"99999999999999999999s", 0, "too large"},
		{"1.0001ns", 0, "finer than 1 ps"},
		{"0.5ps", 0, "finer than 1 ps"},
		{"0.0000000000000000000000001s", 0, "finer than 1 ps"},
		{"30", 0, "write 30ns"},
		{"", 0, "is empty"},
		{"ns", 0, "does not start with a number"},
		{".ns", 0, "does not start with a number"},
		{"1.2.3ns", 0, "not a decimal number"},
		{"--1ns", 0, "not a decimal number"},
		{"1e3ns", 0, `unknown unit "e3ns"`},
		{"5 Ms", 0, `unknown unit "Ms"`},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := ParseTime(test.text)
			checkParse(t, test.text, got, err, test.want, test.wantErr)
		})
	}
}

func TestParseBytes(t *testing.T) {
	tests := []struct {
		text    string
		want    Bytes
		wantErr string
	}{
		{"4096", 4096, ""},
		{"4KiB", 4096, ""},
		{"64K", 64 * KiB, ""},
		{"64k", 64 * KiB, ""},
		{"128M", 128 * MiB, ""},
		{"1 GiB", GiB, ""},
		{"1.5Gi", 3 * GiB / 2, ""},
		{"2TiB", 2 * TiB, ""},
		{"17 B", 17, ""},
		{"0", 0, ""},
		{"9223372036854775807", math.MaxInt64, ""},
		{"8388608TiB", 0, "too large"},
		{"1.5", 0, "finer than 1 byte"},
		{"0.3KiB", 0, "finer than 1 byte"},
		{"-1", 0, "must not be negative"},
		{"64KB", 0, "write 64KiB"},
		{"64XiB", 0, `unknown unit "XiB"`},
		{"", 0, "does not start with a number"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := ParseBytes(test.text)
			checkParse(t, test.text, got, err, test.want, test.wantErr)
		})
	}
}

func TestParseRate(t *testing.T) {
	tests := []struct {
		text    string
		want    Rate
		wantErr string
	}{
		{"128GB/s", 128e9, ""},
		{"204.8 GB/s", 204.8e9, ""},
		{"1.2TB/s", 1.2e12, ""},
		{"3kB/s", 3000, ""},
		{"3KB/s", 3000, ""},
		{"3MB/s", 3e6, ""},
		{"7 B/s", 7, ""},
		{"1KiB/s", 1024, ""},
		{"1MiB/s", 1 << 20, ""},
		{"1GiB/s", 1 << 30, ""},
		{"1TiB/s", 1 << 40, ""},
		{"8Mbit/s", 1e6, ""},
		{"400 Gbit/s", 50e9, ""},
		{"1.6Tbit/s", 200e9, ""},
		{"128", 0, "has no unit"},
		{"400Gb/s", 0, "write GB/s for bytes or Gbit/s for bits"},
		{"400Gbps", 0, "ambiguous"},
		{"128GB", 0, `unknown unit "GB"`},
		{"-1GB/s", 0, "must not be negative"},
		{"0.5B/s", 0, "finer than 1 byte per second"},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			got, err := ParseRate(test.text)
			checkParse(t, test.text, got, err, test.want, test.wantErr)
		})
	}
}

// checkParse compares an outcome with what was wanted; an error must also quote the text that it is
// about.
func checkParse[T comparable](t *testing.T, text string, got T, err error, want T, wantErr string) {
	t.Helper()
	if wantErr == "" {
		if err != nil || got != want {
			t.Errorf("parsing %q gave %v, %v; want %v", text, got, err, want)
		}
		return
	}
	if err == nil {
		t.Fatalf("parsing %q gave %v; want an error with %q", text, got, wantErr)
	}
	for _, part := range []string{wantErr, `"` + text + `"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("parsing %q: the error %q lacks %q", text, err, part)
		}
	}
}

func TestStrings(t *testing.T) {
	tests := []struct {
		value interface{ String() string }
		want  string
	}{
		{Time(0), "0ns"},
		{Time(346400), "346.4ns"},
		{Time(1), "0.001ns"},
		{Time(-1250), "-1.25ns"},
		{10*Microsecond - 1, "9999.999ns"},
		{10 * Microsecond, "10µs"},
		{10*Millisecond - 1, "9999.999999µs"},
		{10 * Millisecond, "10ms"},
		{12 * Second, "12s"},
		{MaxTime, "9223372.036854775807s"},
		{Time(math.MinInt64), "-9223372.036854775808s"},
		{Bytes(0), "0 B"},
		{4 * KiB, "4 KiB"},
		{Bytes(4097), "4097 B"},
		{Bytes(1536), "1.5 KiB"},
		{96 * KiB, "96 KiB"},
		{GiB / 4 * 5, "1.25 GiB"},
		{Bytes(-4096), "-4 KiB"},
		{Bytes(1000000), "1000000 B"},
		{Bytes(math.MinInt64), "-8388608 TiB"},
		{GBs(128), "128 GB/s"},
		{GBs(204.8), "204.8 GB/s"},
		{GBs(1200), "1.2 TB/s"},
		{Rate(0), "0 B/s"},
		{Rate(1500), "1.5 kB/s"},
		{Rate(2500000), "2.5 MB/s"},
		{Rate(math.MinInt64), "-9223372.036854775808 TB/s"},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			if v, ok := test.value.(Time); ok {
				if got := strings.Replace(v.Spaced(), " ", "", 1); got != test.want || strings.Count(v.Spaced(), " ") != 1 {
					t.Errorf("Spaced() = %q of %q", v.Spaced(), test.want)
				}
			}
			if got := test.value.String(); got != test.want {
				t.Errorf("String() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestFloats(t *testing.T) {
	tests := []struct {
		name      string
		got, want any
	}{
		{"rounds to the ps", Nanoseconds(0.0015), Time(2)},
		{"346.4", Nanoseconds(346.4), Time(346400)},
		{"not a number", Nanoseconds(math.NaN()), Time(0)},
		{"infinite", Nanoseconds(math.Inf(1)), MaxTime},
		{"minus infinite", GBs(math.Inf(-1)), Rate(math.MinInt64)},
		{"ns", Time(346400).Ns(), 346.4},
		{"seconds", (1500 * Millisecond).Seconds(), 1.5},
		{"GB/s", Rate(204.8e9).GBs(), 204.8},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("got %v, want %v", test.got, test.want)
			}
		})
	}
}

func TestStringsParseBack(t *testing.T) {
	anyValue := rapid.OneOf(rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(0, 1<<20),
		rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64Range(0, 1<<13).Draw(t, "n") << rapid.IntRange(0, 49).Draw(t, "shift")
		}))
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue.Draw(t, "value")
		if got, err := ParseTime(Time(-v).String()); err != nil || got != Time(-v) {
			t.Fatalf("ParseTime(%q) = %d, %v; want %d", Time(-v), got, err, -v)
		}
		if got, err := ParseBytes(Bytes(v).String()); err != nil || got != Bytes(v) {
			t.Fatalf("ParseBytes(%q) = %d, %v; want %d", Bytes(v), got, err, v)
		}
		if got, err := ParseRate(Rate(v).String()); err != nil || got != Rate(v) {
			t.Fatalf("ParseRate(%q) = %d, %v; want %d", Rate(v), got, err, v)
		}
	})
}
