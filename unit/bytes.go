package unit

import (
	"fmt"
	"strconv"
	"strings"
)

// Bytes is a size in bytes. Its units are binary: 1 KiB is 1024 B.
type Bytes int64

// The units of Bytes.
const (
	Byte Bytes = 1
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
	TiB        = 1024 * GiB
)

// byteUnits goes from large to small, the order in which String tries them.
var byteUnits = []struct {
	name string
	size Bytes
}{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}

// String prints b exactly, in the largest unit that needs at most two decimals: "4 KiB", "1.5 MiB",
// "4097 B".
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if (b >= u.size || b <= -u.size) && b%(u.size/4) == 0 {
			quarters := b % u.size / (u.size / 4)
			// 25 hundredths for each quarter; the whole part is printed apart so that nothing can
			// overflow.
			return formatDecimal(int64(b/u.size)*100+int64(quarters)*25, 2) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + " B"
}

// ParseBytes reads a number of bytes, "4096", or a number and a binary unit in either case: "4KiB",
// "64K", "1.5 GiB". K means KiB and so on; "KB" is refused because half of the world reads it as
// 1000.
func ParseBytes(s string) (Bytes, error) {
	number, name := splitNumber(s)
	scale := Byte
	switch lower := strings.ToLower(name); lower {
	case "", "b":
	case "k", "ki", "kib":
		scale = KiB
	case "m", "mi", "mib":
		scale = MiB
	case "g", "gi", "gib":
		scale = GiB
	case "t", "ti", "tib":
		scale = TiB
	case "kb", "mb", "gb", "tb":
		return 0, fmt.Errorf("size %q is ambiguous: write %s%siB for powers of 1024, or the number of bytes",
			s, number, strings.ToUpper(lower[:1]))
	default:
		return 0, fmt.Errorf("size %q has the unknown unit %q: use B, KiB, MiB, GiB or TiB, such as 64KiB", s, name)
	}
	v, err := scaleDecimal(number, int64(scale), "1 byte")
	if err == nil && v < 0 {
		err = errNegative
	}
	if err != nil {
		return 0, fmt.Errorf("size %q: %w; write a number of bytes or a size such as 64KiB", s, err)
	}
	return Bytes(v), nil
}
