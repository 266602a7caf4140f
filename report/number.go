package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// count groups the digits of a number by threes: 130,560.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// significant prints f with three significant digits, and never as a power of ten.
func significant(f float64) string {
	switch a := max(f, -f); {
	case a == 0:
		return "0"
	case a >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(f, 'f', 2, 64)
	}
	return strconv.FormatFloat(f, 'f', 2-int(math.Floor(math.Log10(max(f, -f)))), 64)
}

// perSecond prints a rate with a prefix: 1.25 M.
func perSecond(f float64) string {
	switch {
	case f >= 1e9:
		return significant(f/1e9) + " G"
	case f >= 1e6:
		return significant(f/1e6) + " M"
	case f >= 1e3:
		return significant(f/1e3) + " k"
	}
	return significant(f)
}

// wall prints a duration of wall time with three significant digits.
func wall(d time.Duration) string {
	switch {
	case d >= time.Second:
		return significant(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return significant(float64(d)/1e6) + " ms"
	}
	return significant(float64(d)/1e3) + " µs"
}
