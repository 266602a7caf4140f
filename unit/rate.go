package unit

import (
	"fmt"
)

// Rate is a transfer rate in bytes per second. Its units are decimal: 1 GB/s is 1e9 bytes per
// second, so that 1 GB/s is also 1 byte per nanosecond.
type Rate int64

// The units of Rate.
const (
	BytePerSecond Rate = 1
	KBPerSecond        = 1000 * BytePerSecond
	MBPerSecond        = 1000 * KBPerSecond
	GBPerSecond        = 1000 * MBPerSecond
	TBPerSecond        = 1000 * GBPerSecond
)

// GBs returns f GB/s rounded to the nearest byte per second. A result that does not fit saturates;
// NaN gives 0.
func GBs(f float64) Rate { return Rate(roundToInt64(f * float64(GBPerSecond))) }

// GBs returns r in GB/s, which is the same number as bytes per nanosecond.
func (r Rate) GBs() float64 { return float64(r) / float64(GBPerSecond) }

// String prints r exactly in the largest unit that leaves a whole part: "128 GB/s", "204.8 GB/s",
// "1.2 TB/s".
func (r Rate) String() string {
	magnitude := r
	if r < 0 {
		magnitude = -r
	}
	switch {
	case magnitude < 0 || magnitude >= TBPerSecond: // below zero only for MinInt64
		return formatDecimal(int64(r), 12) + " TB/s"
	case magnitude >= GBPerSecond:
		return formatDecimal(int64(r), 9) + " GB/s"
	case magnitude >= MBPerSecond:
		return formatDecimal(int64(r), 6) + " MB/s"
	case magnitude >= KBPerSecond:
		return formatDecimal(int64(r), 3) + " kB/s"
	}
	return formatDecimal(int64(r), 0) + " B/s"
}

// ParseRate reads a number and a unit, such as "204.8 GB/s". Units are B/s, kB/s, MB/s, GB/s, TB/s
// (powers of 1000), KiB/s, MiB/s, GiB/s, TiB/s (powers of 1024), and Mbit/s, Gbit/s, Tbit/s (an
// eighth). The unit is required: a bare number is a GB/s figure only where a configuration key
// states so.
func ParseRate(s string) (Rate, error) {
	number, name := splitNumber(s)
	var scale int64
	switch name {
	case "B/s":
		scale = int64(BytePerSecond)
	case "kB/s", "KB/s":
		scale = int64(KBPerSecond)
	case "MB/s":
		scale = int64(MBPerSecond)
	case "GB/s":
		scale = int64(GBPerSecond)
	case "TB/s":
		scale = int64(TBPerSecond)
	case "KiB/s":
		scale = int64(KiB)
	case "MiB/s":
		scale = int64(MiB)
	case "GiB/s":
		scale = int64(GiB)
	case "TiB/s":
		scale = int64(TiB)
	case "Mbit/s":
		scale = int64(MBPerSecond) / 8
	case "Gbit/s":
		scale = int64(GBPerSecond) / 8
	case "Tbit/s":
		scale = int64(TBPerSecond) / 8
	case "":
		return 0, fmt.Errorf("rate %q has no unit: write a number and a unit, such as 128GB/s", s)
	case "Mb/s", "Gb/s", "Tb/s", "Mbps", "Gbps", "Tbps":
		return 0, fmt.Errorf("rate %q is ambiguous: write %cB/s for bytes or %cbit/s for bits", s, name[0], name[0])
	default:
		return 0, fmt.Errorf("rate %q has the unknown unit %q: use B/s, kB/s, MB/s, GB/s or TB/s, such as 128GB/s", s, name)
	}
	v, err := scaleDecimal(number, scale, "1 byte per second")
	if err == nil && v < 0 {
		err = errNegative
	}
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w; write a number and a unit, such as 128GB/s", s, err)
	}
	return Rate(v), nil
}
