package collective

import "math"

// Replace extends dst by p, with the elements of by in the place of those that are as in old.
// All three are of one length.
func Replace(dst, p, old, by Prov) Prov {
	lists := [3]Prov{p, old, by}
	var run, skip [3]int
	for run[0] < len(p) {
		n := math.MaxInt
		for i, l := range lists {
			n = min(n, int(l[run[i]].N)-skip[i])
		}
		var here [3]Run
		for i, l := range lists {
			here[i] = l[run[i]].part(int32(skip[i]), int32(n))
			if skip[i] += n; skip[i] == int(l[run[i]].N) {
				run[i], skip[i] = run[i]+1, 0
			}
		}
		if here[0].Same(&here[1]) {
			dst = Append(dst, here[2])
		} else {
			dst = Append(dst, here[0])
		}
	}
	return dst
}
