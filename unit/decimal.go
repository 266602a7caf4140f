package unit

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// splitNumber cuts s into its number and its unit, both without surrounding space.
func splitNumber(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] == '.' || s[i] == '-' || s[i] == '+' || '0' <= s[i] && s[i] <= '9') {
		i++
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// maxDecimals bounds the digits after the point: 10^18 is the largest power of ten in which a
// scaled fraction fits.
const maxDecimals = 18

var (
	errNoNumber = errors.New("it does not start with a number")
	errTooLarge = errors.New("it is too large for 64 bits")
	errNegative = errors.New("it must not be negative")
)

// scaleDecimal returns number × scale exactly, or an error if that is not a whole int64. fine names
// the smallest step ("1 ps") for the error about digits that would be lost.
func scaleDecimal(number string, scale int64, fine string) (int64, error) {
	digits, negative := strings.CutPrefix(number, "-")
	if !negative {
		digits = strings.TrimPrefix(digits, "+")
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" && fraction == "" {
		return 0, errNoNumber
	}
	if strings.ContainsAny(whole+fraction, "+-.") {
		return 0, fmt.Errorf("%q is not a decimal number", number)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > maxDecimals {
		return 0, fmt.Errorf("it is finer than %s", fine)
	}
	high, low := uint64(0), uint64(0)
	if whole != "" {
		w, err := strconv.ParseUint(whole, 10, 64)
		if err != nil {
			return 0, errTooLarge
		}
		high, low = bits.Mul64(w, uint64(scale))
	}
	if fraction != "" {
		f, err := strconv.ParseUint(fraction, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a decimal number", number)
		}
		power := pow10(len(fraction))
		// f < 10^k, so the quotient f × scale / 10^k is below scale and Div64 cannot overflow.
		fh, fl := bits.Mul64(f, uint64(scale))
		quotient, rest := bits.Div64(fh, fl, power)
		if rest != 0 {
			return 0, fmt.Errorf("it is finer than %s", fine)
		}
		var carry uint64
		low, carry = bits.Add64(low, quotient, 0)
		high += carry
	}
	if high != 0 || low > math.MaxInt64 {
		if negative && high == 0 && low == 1<<63 {
			return math.MinInt64, nil
		}
		return 0, errTooLarge
	}
	if negative {
		return -int64(low), nil
	}
	return int64(low), nil
}

func pow10(k int) uint64 {
	p := uint64(1)
	for range k {
		p *= 10
	}
	return p
}

// formatDecimal prints v / 10^places exactly, without trailing zeros.
func formatDecimal(v int64, places int) string {
	sign, magnitude := "", uint64(v)
	if v < 0 {
		sign, magnitude = "-", -uint64(v)
	}
	power := pow10(places)
	text := sign + strconv.FormatUint(magnitude/power, 10)
	if rest := magnitude % power; rest != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%0*d", places, rest), "0")
	}
	return text
}

// roundToInt64 rounds half away from zero and saturates; NaN gives 0.
func roundToInt64(f float64) int64 {
	f = math.Round(f)
	switch {
	case math.IsNaN(f):
		return 0
	case f >= 1<<63:
		return math.MaxInt64
	case f < -1<<63:
		return math.MinInt64
	}
	return int64(f)
}
