package unit

import (
	"fmt"
	"math"
	"strings"
)

// Time is a span or an instant of simulated time in picoseconds. An int64 of them reaches 106 days.
type Time int64

// The units of Time.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// MaxTime is later than every instant of a run; Serial.Time returns it where the true time does
	// not fit.
	MaxTime Time = math.MaxInt64
)

// Nanoseconds returns f nanoseconds rounded to the nearest picosecond. A result that does not fit
// saturates; NaN gives 0.
func Nanoseconds(f float64) Time { return Time(roundToInt64(f * float64(Nanosecond))) }

// Ns returns t in nanoseconds.
func (t Time) Ns() float64 { return float64(t) / float64(Nanosecond) }

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Spaced prints t as String does, with a space before the unit, for pages and pictures.
func (t Time) Spaced() string {
	text := t.String()
	i := strings.IndexAny(text, "nµms")
	return text[:i] + " " + text[i:]
}

// String prints t exactly. It prints ns up to 10 µs, then µs up to 10 ms, ms up to 10 s, and s
// above.
func (t Time) String() string {
	magnitude := t
	if t < 0 {
		magnitude = -t // MinInt64 stays negative; it falls to the last case below, as it should
	}
	switch {
	case magnitude < 0:
		return formatDecimal(int64(t), 12) + "s"
	case magnitude < 10*Microsecond:
		return formatDecimal(int64(t), 3) + "ns"
	case magnitude < 10*Millisecond:
		return formatDecimal(int64(t), 6) + "µs"
	case magnitude < 10*Second:
		return formatDecimal(int64(t), 9) + "ms"
	}
	return formatDecimal(int64(t), 12) + "s"
}

// ParseTime reads a number and one of ps, ns, us (or µs), ms, s, such as "346.4ns" or "1.5 us". The
// unit may be left out of 0 only. Digits below a picosecond are an error, since they would be lost
// by rounding.
func ParseTime(s string) (Time, error) {
	number, name := splitNumber(s)
	var scale Time
	switch name {
	case "ps":
		scale = Picosecond
	case "ns":
		scale = Nanosecond
	case "us", "µs", "μs": // micro sign and Greek mu
		scale = Microsecond
	case "ms":
		scale = Millisecond
	case "s":
		scale = Second
	case "":
		if number == "0" {
			return 0, nil
		}
		if number == "" {
			return 0, fmt.Errorf("time %q is empty: write a number and a unit, such as 30ns", s)
		}
		return 0, fmt.Errorf("time %q has no unit: write %sns, or use ps, us, ms or s", s, number)
	default:
		return 0, fmt.Errorf("time %q has the unknown unit %q: use ps, ns, us, ms or s, such as 1.5us", s, name)
	}
	v, err := scaleDecimal(number, int64(scale), "1 ps")
	if err != nil {
		return 0, fmt.Errorf("time %q: %w; write a number and a unit, such as 1.5us", s, err)
	}
	return Time(v), nil
}
