package program

import "kernbench/tl"

// Uses are the tensors of an operation that no later one reads, a bit each.
type Uses uint8

// The bits of Uses.
const (
	LastA Uses = 1 << iota
	LastB
	LastC
	DeadDst // the result is never read
)

// LastUses finds which tensors end with each operation of a record.
func (k *Record) LastUses() []Uses {
	ends := make([]Uses, len(k.Ops))
	used := make([]bool, k.Tensors)
	for i := len(k.Ops) - 1; i >= 0; i-- {
		o := &k.Ops[i]
		if o.Dst != tl.None {
			if !used[o.Dst] {
				ends[i] |= DeadDst
			}
			used[o.Dst] = o.Continues()
		}
		for n, t := range [...]int32{o.A, o.B, o.C} {
			if t != tl.None && !used[t] {
				ends[i] |= LastA << n
				used[t] = true
			}
		}
	}
	return ends
}

// Continues reports whether the operation fills a further piece of a tensor.
func (o *Op) Continues() bool { return o.Code == tl.OpLoad && o.Sub == FurtherPiece }

// Renumber numbers the tensors of a record again, so that one takes the place of another that has
// ended. It calls set with each operation's numbers and returns how many places there are.
// Kernels number tensors by what they hold on to; a back end needs those that are still read.
func (k *Record) Renumber(set func(op int, dst, a, b, c int32)) int {
	ends := k.LastUses()
	most := int32(0)
	place := make([]int32, k.Tensors)
	var free []int32
	for i := range k.Ops {
		o := &k.Ops[i]
		in := [...]int32{o.A, o.B, o.C}
		for n, t := range in {
			if t == tl.None {
				continue
			}
			in[n] = place[t]
			if ends[i]&(LastA<<n) != 0 {
				free = append(free, in[n])
			}
		}
		dst := o.Dst
		if dst != tl.None {
			if !o.Continues() {
				if n := len(free); n > 0 {
					place[dst], free = free[n-1], free[:n-1]
				} else {
					place[dst] = most
					most++
				}
			}
			dst = place[dst]
			if ends[i]&DeadDst != 0 {
				free = append(free, dst)
			}
		}
		set(i, dst, in[0], in[1], in[2])
	}
	return int(most)
}
