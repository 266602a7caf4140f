package device

import "kernbench/machine"

// levels returns the widths of the machine's levels in ranks: of a cube, of a SIP, of each
// dimension of each level of SIPs. If parts have unequal numbers of ranks, it takes their greatest
// common divisor. It leaves out parts of one rank, parts as large as the one below, and the last
// width, which follows from the others.
func levels(m *machine.Machine, pes []int32) []int {
	var widths []int
	one := 1
	for _, size := range m.Nested() {
		if n := gcd(together(pes, int32(size)), len(pes)); n > one && n%one == 0 && n < len(pes) {
			widths = append(widths, n/one)
			one = n
		}
	}
	return widths
}

// together returns the largest number of adjacent PEs of a list in one part of the machine.
func together(pes []int32, size int32) int {
	most, n := 1, 0
	for i, pe := range pes {
		if i > 0 && pe/size == pes[i-1]/size {
			n++
		} else {
			n = 1
		}
		most = max(most, n)
	}
	return most
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
