package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// millions is a flag with a large number: 50M, 2G or all its digits.
type millions int64

func (m *millions) Type() string { return "N" }

func (m *millions) String() string {
	switch n := int64(*m); {
	case n == 0:
		return ""
	case n%1e9 == 0:
		return strconv.FormatInt(n/1e9, 10) + "G"
	case n%1e6 == 0:
		return strconv.FormatInt(n/1e6, 10) + "M"
	default:
		return strconv.FormatInt(n, 10)
	}
}

func (m *millions) Set(s string) error {
	number, scale := s, int64(1)
	for suffix, times := range map[string]int64{"k": 1e3, "M": 1e6, "G": 1e9} {
		if before, found := strings.CutSuffix(s, suffix); found {
			number, scale = before, times
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/scale {
		return fmt.Errorf("found %q, want a number of at least 1, such as 500k, 50M or 2G", s)
	}
	*m = millions(n * scale)
	return nil
}
