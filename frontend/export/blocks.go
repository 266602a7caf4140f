package export

import (
	"slices"

	"kernbench/frontend/msccl"
)

// placed is an op with its block and its step in that block. A step may have only one dependency,
// so nop steps before it carry the others.
type placed struct {
	op
	tb    int   // thread block
	needs []int // indices of ops of other thread blocks that it waits for
	step  int   // number in its thread block; nops count
}

// assignBlocks assigns a thread block to each op of a rank. partner[q] is the port whose sends
// share the thread block of the receives from q. If pairs is set, sends to a peer and receives from
// it share one too. A local op goes to the thread block that used its memory last. Each block of
// the program has thread blocks of its own. If several is set, a block with one port for each
// direction has one thread block.
func assignBlocks(ops []op, blocks, world int, partner map[int]int, pairs, several bool) (out []placed, tbs []msccl.TB, first []int) {
	sends, receives := map[int]int{}, map[int]int{} // port -> thread block
	open := func(to, from int) {
		tbs = append(tbs, msccl.TB{Send: to, Recv: from})
		if to >= 0 {
			sends[to] = len(tbs) - 1
		}
		if from >= 0 {
			receives[from] = len(tbs) - 1
		}
	}
	to, from := make([][]int, blocks), make([][]int, blocks) // ports of each block
	for i := range ops {
		o := &ops[i]
		if o.sends() && !slices.Contains(to[o.block], o.to) {
			to[o.block] = append(to[o.block], o.to)
		}
		if o.receives() && !slices.Contains(from[o.block], o.from) {
			from[o.block] = append(from[o.block], o.from)
		}
	}
	for b := range blocks {
		first = append(first, len(tbs))
		slices.Sort(to[b])
		slices.Sort(from[b])
		if several && pairs && len(to[b]) <= 1 && len(from[b]) <= 1 {
			open(only(to[b]), only(from[b]))
			continue
		}
		for _, q := range from[b] {
			if p, has := partner[q]; has && slices.Contains(to[b], p) {
				open(p, q)
			}
		}
		for _, p := range to[b] {
			if _, has := sends[p]; has {
				continue
			}
			at := -1
			if pairs {
				at = slices.IndexFunc(from[b], func(q int) bool {
					_, has := receives[q]
					return q%world == p%world && !has
				})
			}
			if at >= 0 {
				open(p, from[b][at])
			} else {
				open(p, none)
			}
		}
		for _, q := range from[b] {
			if _, has := receives[q]; !has {
				open(none, q)
			}
		}
		if len(tbs) == first[b] {
			open(none, none)
		}
	}
	first = append(first, len(tbs))
	for i := range ops {
		p := placed{op: ops[i], tb: first[ops[i].block]}
		switch {
		case p.sends():
			p.tb = sends[p.to]
		case p.receives():
			p.tb = receives[p.from]
		default:
			for j := i - 1; j >= 0; j-- {
				if ops[j].block == p.block && p.conflicts(&ops[j]) {
					p.tb = out[j].tb
					break
				}
			}
		}
		out = append(out, p)
	}
	return out, tbs, first
}

// only returns the port of a list of at most one.
func only(ports []int) int {
	if len(ports) == 0 {
		return none
	}
	return ports[0]
}

// findDependencies sets needs of each op. These are direct[i], the ops that the program's own
// synchronization of blocks names. From each other thread block it is also the last op that
// conflicts, unless another dependency implies it.
func findDependencies(ops []placed, tbs int, direct [][]int) {
	known := make([][]int, len(ops)) // vector clocks: op, thread block -> last op of it that ended before
	last := make([]int, tbs)
	for b := range last {
		last[b] = -1
	}
	for i := range ops {
		o := &ops[i]
		clock := make([]int, tbs)
		for b := range clock {
			clock[b] = -1
		}
		join := func(j int) {
			for b, at := range known[j] {
				clock[b] = max(clock[b], at)
			}
		}
		if last[o.tb] >= 0 {
			join(last[o.tb])
		}
		for _, j := range direct[i] {
			if clock[ops[j].tb] < j {
				o.needs = append(o.needs, j)
				join(j)
			}
		}
		for j := i - 1; j >= 0; j-- {
			if ops[j].tb == o.tb || clock[ops[j].tb] >= j || !o.conflicts(&ops[j].op) {
				continue
			}
			o.needs = append(o.needs, j)
			join(j)
		}
		clock[o.tb] = i
		known[i], last[o.tb] = clock, i
	}
	// A later dependency may imply an earlier one.
	for i := range ops {
		o := &ops[i]
		o.needs = slices.DeleteFunc(o.needs, func(j int) bool {
			return slices.ContainsFunc(o.needs, func(k int) bool { return k != j && known[k][ops[j].tb] >= j })
		})
	}
}

// synchronized finds the ops that the program's synchronization of blocks names. direct has the ops
// that each op waits for, and posted reports those that make a block go on. Blocks with several
// thread blocks have neither: their dependencies follow from the memory that they use.
func (k *rank) synchronized(ops []placed, first []int) (direct [][]int, posted []bool) {
	direct, posted = make([][]int, len(ops)), make([]bool, len(ops))
	whole := func(block int) bool { return first[block+1] == first[block]+1 }
	of := make([][]int, len(first)-1) // ops of each block, by seq
	for i := range ops {
		of[ops[i].block] = append(of[ops[i].block], i)
	}
	from := func(block, seq int) int { // the first op of a block from a place on, in of[block]
		i, _ := slices.BinarySearchFunc(of[block], seq, func(i, seq int) int { return ops[i].seq - seq })
		return i
	}
	for _, w := range k.waits {
		at, on := from(w.block, w.at), from(w.on, w.upto)-1
		if !whole(w.block) || !whole(w.on) || at == len(of[w.block]) || on < 0 {
			continue
		}
		if i, j := of[w.block][at], of[w.on][on]; j < i && !slices.Contains(direct[i], j) {
			direct[i] = append(direct[i], j)
		}
	}
	for _, p := range k.posts {
		if i := from(p.block, p.upto) - 1; i >= 0 && whole(p.block) {
			posted[of[p.block][i]] = true
		}
	}
	return direct, posted
}

// steps writes the ops of a rank into its thread blocks. A step can wait for one other step, so
// each further wait becomes a nop step before it.
func (k *rank) steps(ops []placed, tbs []msccl.TB, first []int) {
	direct, awaited := k.synchronized(ops, first)
	findDependencies(ops, len(tbs), direct)
	at := make([]int, len(tbs))
	for i := range ops {
		o := &ops[i]
		o.step = at[o.tb] + max(len(o.needs)-1, 0)
		at[o.tb] = o.step + 1
		for _, j := range o.needs {
			awaited[j] = true
		}
	}
	for i := range ops {
		o := &ops[i]
		tb := &tbs[o.tb]
		st := msccl.Step{
			Type: kindNames[o.kind], SrcBuf: letters[o.src.buf], SrcOff: o.src.off, DstBuf: letters[o.dst.buf], DstOff: o.dst.off,
			Count: max(o.src.n, o.dst.n), DepBlock: -1, DepStep: -1, HasDep: awaited[i],
		}
		for n, j := range o.needs {
			if n == len(o.needs)-1 {
				st.DepBlock, st.DepStep = ops[j].tb, ops[j].step
				break
			}
			tb.Steps = append(tb.Steps, msccl.Step{Type: "nop", SrcBuf: 'i', SrcOff: -1, DstBuf: 'o', DstOff: -1,
				DepBlock: ops[j].tb, DepStep: ops[j].step})
		}
		tb.Steps = append(tb.Steps, st)
	}
}
