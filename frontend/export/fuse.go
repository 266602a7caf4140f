package export

import "slices"

// A block's operations are joined into steps that do several things at once. Each rule checks the
// operations between the two that it joins. The later one is moved up to the earlier one. So
// nothing between may conflict with it, and messages of one peer keep their order. A temporary
// belongs to one block, so only joins of other memory look at blocks.

// fuse joins operations. partner is the port that messages from a port are sent on to; fixed is the
// first element of temporaries in scratch memory.
func fuse(ops []op, fixed int, partner map[int]int) []op {
	for changed := true; changed; {
		changed = joinAdditions(ops, fixed) || joinCopies(ops, fixed) || joinSums(ops, fixed)
		ops = slices.DeleteFunc(ops, func(o op) bool { return o.gone })
	}
	joinSends(ops, partner)
	ops = slices.DeleteFunc(ops, func(o op) bool { return o.gone })
	for i := range ops {
		o := &ops[i]
		if o.kind == opRrcs && isTemporary(o.dst, fixed) && !readLater(ops[i+1:], o.dst) {
			o.kind = opRrs
		}
	}
	return ops
}

func isTemporary(p piece, fixed int) bool { return p.buf == bufScratch && p.off >= fixed }

// between reports whether any operation of a list matches.
func between(ops []op, is func(*op) bool) bool {
	for i := range ops {
		if !ops[i].gone && is(&ops[i]) {
			return true
		}
	}
	return false
}

// readLater reports whether a piece is read before all of it is written anew.
func readLater(ops []op, p piece) bool {
	for i := range ops {
		if ops[i].gone {
			continue
		}
		if ops[i].reads(p) {
			return true
		}
		if ops[i].writesDst() && ops[i].dst == p {
			return false
		}
	}
	return false
}

// next returns the first operation that touches a piece; -1: none does.
func next(ops []op, from int, p piece) int {
	for i := from; i < len(ops); i++ {
		if !ops[i].gone && ops[i].touches(p) {
			return i
		}
	}
	return -1
}

// joinAdditions makes rrc from a receive and the next addition. It reports whether it joined any.
func joinAdditions(ops []op, fixed int) (changed bool) {
	for i := range ops {
		r := &ops[i]
		if r.gone || r.kind != opR || !isTemporary(r.dst, fixed) {
			continue
		}
		j := next(ops, i+1, r.dst)
		if j < 0 || ops[j].kind != opRe {
			continue
		}
		re := &ops[j]
		mid := ops[i+1 : j]
		switch {
		case re.dst == r.dst && !re.src.overlaps(r.dst):
			// message + src, in place of the message
			if between(mid, func(o *op) bool { return o.writes(re.src) }) {
				continue
			}
			r.kind, r.src = opRrc, re.src
		case re.src == r.dst && !re.dst.overlaps(r.dst) && !readLater(ops[j+1:], r.dst):
			// added to what dst holds
			if between(mid, func(o *op) bool { return o.touches(re.dst) }) {
				continue
			}
			r.kind, r.src, r.dst = opRrc, re.dst, re.dst
		default:
			continue
		}
		re.gone, changed = true, true
	}
	return changed
}

// joinCopies replaces a receive and a later copy by a receive into the copy's destination. It
// reports whether it joined any.
func joinCopies(ops []op, fixed int) (changed bool) {
	for i := range ops {
		r := &ops[i]
		if r.gone || r.kind != opR && r.kind != opRrc || !isTemporary(r.dst, fixed) {
			continue
		}
		t := r.dst
		var users []int
		copied, ok := -1, true
		for j := i + 1; j < len(ops) && ok; j++ {
			o := &ops[j]
			switch {
			case o.gone || !o.touches(t):
			case o.writes(t):
				ok = false
			case o.src != t: // another part of it
				ok = false
			case o.kind == opCpy && copied < 0:
				copied = j
			default:
				users = append(users, j)
			}
		}
		if !ok || copied < 0 {
			continue
		}
		d := ops[copied].dst
		if between(ops[i+1:copied], func(o *op) bool { return o.touches(d) }) || r.kind == opRrc && r.src.overlaps(d) && r.src != d {
			continue
		}
		if end := len(users) - 1; end >= 0 && users[end] > copied &&
			between(ops[copied+1:users[end]], func(o *op) bool { return o.writes(d) }) {
			continue
		}
		r.dst = d
		for _, j := range users {
			ops[j].src = d
		}
		ops[copied].gone, changed = true, true
	}
	return changed
}

// joinSums replaces a sum in a temporary, of some memory and of others, that is copied to that
// memory in the end. The others are added to the memory itself. It reports whether it replaced any.
func joinSums(ops []op, fixed int) (changed bool) {
	for j := range ops {
		end := &ops[j]
		if end.gone || end.kind != opCpy || !isTemporary(end.src, fixed) || readLater(ops[j+1:], end.src) {
			continue
		}
		if terms := sumOf(ops[:j], end); terms != nil {
			for _, i := range terms {
				if o := &ops[i]; o.src == end.dst {
					o.gone = true
				} else {
					o.kind, o.dst = opRe, end.dst
				}
			}
			end.gone, changed = true, true
		}
	}
	return changed
}

// sumOf lists the operations that make the sum which end copies to its destination. That memory
// must be a term of the sum once, and nothing else may touch it. Else the list is nil.
func sumOf(ops []op, end *op) (terms []int) {
	sum, memory, has := end.src, end.dst, false
	for i := len(ops) - 1; i >= 0; i-- {
		o := &ops[i]
		if o.gone || !o.touches(sum) && !o.touches(memory) {
			continue
		}
		first := o.kind == opCpy
		if o.dst != sum || !first && o.kind != opRe || o.src.overlaps(sum) ||
			o.src.overlaps(memory) && (has || o.src != memory) {
			return nil
		}
		has = has || o.src == memory
		terms = append(terms, i)
		if first {
			break
		}
	}
	if !has || ops[terms[len(terms)-1]].kind != opCpy {
		return nil
	}
	return terms
}

// forward returns the send that can be joined with a receive; -1: there is none.
func forward(ops []op, i int) int {
	r := &ops[i]
	if r.gone || r.kind != opR && r.kind != opRrc {
		return -1
	}
	for j := i + 1; j < len(ops); j++ {
		o := &ops[j]
		switch {
		case o.gone:
		case o.kind == opS && o.src == r.dst:
			if o.block != r.block || between(ops[i+1:j], func(x *op) bool { return x.sends() && x.to == o.to }) {
				return -1
			}
			return j
		case o.writes(r.dst):
			return -1
		}
	}
	return -1
}

// partners finds, for each port that receives, the one to which most of its messages are forwarded.
// A port is the partner of one other at most.
func partners(ops []op) map[int]int {
	type pair struct{ from, to int }
	count := map[pair]int{}
	for i := range ops {
		if j := forward(ops, i); j >= 0 {
			count[pair{ops[i].from, ops[j].to}]++
		}
	}
	var pairs []pair
	for p := range count {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(x, y pair) int {
		if d := count[y] - count[x]; d != 0 {
			return d
		}
		if x.from != y.from {
			return x.from - y.from
		}
		return x.to - y.to
	})
	out, taken := map[int]int{}, map[int]bool{}
	for _, p := range pairs {
		if _, has := out[p.from]; !has && !taken[p.to] {
			out[p.from] = p.to
			taken[p.to] = true
		}
	}
	return out
}

// joinSends makes rcs and rrcs from a receive and the send of its message, where one thread block
// has both ports.
func joinSends(ops []op, partner map[int]int) {
	for i := range ops {
		j := forward(ops, i)
		if j < 0 {
			continue
		}
		if to, has := partner[ops[i].from]; !has || to != ops[j].to {
			continue
		}
		ops[i].to = ops[j].to
		if ops[i].kind == opR {
			ops[i].kind = opRcs
		} else {
			ops[i].kind = opRrcs
		}
		ops[j].gone = true
	}
}
