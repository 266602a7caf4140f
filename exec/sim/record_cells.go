package sim

import "kernbench/tl"

// reuseCells numbers the cells of a whole record again, so that a tensor takes the place of one that
// nobody reads any more, and returns how many there are. Kernels name them by what they hold on
// to: followed, each rank has as many as it needs at a time.
func reuseCells(ops []op, cells int) int {
	type end uint8 // of the operands a, b, c and of the result, who is not used after the op
	const ofA, ofResult end = 1, 8
	ends := make([]end, len(ops))
	used := make([]bool, cells)
	for i := len(ops) - 1; i >= 0; i-- {
		o := &ops[i]
		if o.dst != tl.None {
			if !used[o.dst] {
				ends[i] |= ofResult
			}
			used[o.dst] = o.continues()
		}
		for k, c := range [...]int32{o.a, o.b, o.c} {
			if c != tl.None && !used[c] {
				ends[i] |= ofA << k
				used[c] = true
			}
		}
	}
	most := int32(0)
	place := make([]int32, cells)
	var free []int32
	for i := range ops {
		o := &ops[i]
		for k, c := range [...]*int32{&o.a, &o.b, &o.c} {
			if *c == tl.None {
				continue
			}
			*c = place[*c]
			if ends[i]&(ofA<<k) != 0 {
				free = append(free, *c)
			}
		}
		if o.dst == tl.None {
			continue
		}
		if !o.continues() {
			if n := len(free); n > 0 {
				place[o.dst], free = free[n-1], free[:n-1]
			} else {
				place[o.dst] = most
				most++
			}
		}
		o.dst = place[o.dst]
		if ends[i]&ofResult != 0 {
			free = append(free, o.dst)
		}
	}
	return int(most)
}

// continues tells whether the op goes on filling a tensor.
func (o *op) continues() bool { return o.kind == opLoad && o.more }
