package device

// levels is how many ranks that lie together in a part of the machine make one of the next larger
// part: of a cube, of a SIP, of each dimension of each level of SIPs. Where the parts have unequal
// numbers of ranks, as many are taken as divide all; parts of one rank, or of as many as the part
// below, are left out, and so is the last width, which follows.
func (c *Context) levels(pes []int32) []int {
	var widths []int
	one := 1
	for _, size := range c.cfg.Machine.Nested() {
		if n := gcd(together(pes, int32(size)), len(pes)); n > one && n%one == 0 && n < len(pes) {
			widths = append(widths, n/one)
			one = n
		}
	}
	return widths
}

// together is how many PEs of a list, one behind the other, share a part of so many PEs: the most
// that any part has.
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
