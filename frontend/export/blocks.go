package export

import (
	"maps"
	"slices"

	"kernbench/frontend/msccl"
)

// placed is an op with its block and its step in that block. A step may have only one dependency,
// so nop steps before it carry the others.
type placed struct {
	op
	block int
	needs []int // indices of ops of other blocks that it waits for
	step  int   // number in its block; nops count
}

// assignBlocks assigns a block to each op. Each peer that the rank sends to or receives from has a
// block. partner[q] is the peer whose sends share the block of the receives from q. If pairs is
// set, sends to a peer and receives from it share a block too. A local op goes to the block that
// used its memory last.
func assignBlocks(ops []op, partner map[int]int, pairs bool) (out []placed, blocks []msccl.TB) {
	sends, receives := map[int]int{}, map[int]int{} // peer -> block
	open := func(to, from int) int {
		blocks = append(blocks, msccl.TB{Send: to, Recv: from})
		if to >= 0 {
			sends[to] = len(blocks) - 1
		}
		if from >= 0 {
			receives[from] = len(blocks) - 1
		}
		return len(blocks) - 1
	}
	to, from := map[int]bool{}, map[int]bool{}
	for i := range ops {
		if ops[i].sends() {
			to[ops[i].to] = true
		}
		if ops[i].receives() {
			from[ops[i].from] = true
		}
	}
	for _, q := range slices.Sorted(maps.Keys(from)) {
		if p, has := partner[q]; has && to[p] {
			open(p, q)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(to)) {
		if _, has := sends[p]; has {
			continue
		}
		if _, has := receives[p]; pairs && from[p] && !has {
			open(p, p)
		} else {
			open(p, -1)
		}
	}
	for _, q := range slices.Sorted(maps.Keys(from)) {
		if _, has := receives[q]; !has {
			open(-1, q)
		}
	}
	if len(blocks) == 0 {
		open(-1, -1)
	}
	for i := range ops {
		p := placed{op: ops[i]}
		switch {
		case p.sends():
			p.block = sends[p.to]
		case p.receives():
			p.block = receives[p.from]
		default:
			for j := i - 1; j >= 0; j-- {
				if p.conflicts(&ops[j]) {
					p.block = out[j].block
					break
				}
			}
		}
		out = append(out, p)
	}
	return out, blocks
}

// findDependencies sets needs of each op. From each other block it takes the last op that
// conflicts, unless another dependency implies it.
func findDependencies(ops []placed, blocks int) {
	known := make([][]int, len(ops)) // vector clocks: op, block -> last op of the block that ended before
	last := make([]int, blocks)
	for b := range last {
		last[b] = -1
	}
	for i := range ops {
		o := &ops[i]
		clock := make([]int, blocks)
		for b := range clock {
			clock[b] = -1
		}
		join := func(j int) {
			for b, at := range known[j] {
				clock[b] = max(clock[b], at)
			}
		}
		if last[o.block] >= 0 {
			join(last[o.block])
		}
		for j := i - 1; j >= 0; j-- {
			if ops[j].block == o.block || clock[ops[j].block] >= j || !o.conflicts(&ops[j].op) {
				continue
			}
			o.needs = append(o.needs, j)
			join(j)
		}
		clock[o.block] = i
		known[i], last[o.block] = clock, i
	}
	// A later dependency may imply an earlier one.
	for i := range ops {
		o := &ops[i]
		o.needs = slices.DeleteFunc(o.needs, func(j int) bool {
			return slices.ContainsFunc(o.needs, func(k int) bool { return k != j && known[k][ops[j].block] >= j })
		})
	}
}

// steps writes the ops of a rank into its blocks. A step can wait for one other step, so each
// further wait becomes a nop step before it.
func steps(ops []placed, blocks []msccl.TB) {
	findDependencies(ops, len(blocks))
	awaited := map[int]bool{}
	at := make([]int, len(blocks))
	for i := range ops {
		o := &ops[i]
		o.step = at[o.block] + max(len(o.needs)-1, 0)
		at[o.block] = o.step + 1
		for _, j := range o.needs {
			awaited[j] = true
		}
	}
	for i := range ops {
		o := &ops[i]
		tb := &blocks[o.block]
		st := msccl.Step{
			Type: kindNames[o.kind], SrcBuf: letters[o.src.buf], SrcOff: o.src.off, DstBuf: letters[o.dst.buf], DstOff: o.dst.off,
			Count: max(o.src.n, o.dst.n), DepBlock: -1, DepStep: -1, HasDep: awaited[i],
		}
		for n, j := range o.needs {
			if n == len(o.needs)-1 {
				st.DepBlock, st.DepStep = ops[j].block, ops[j].step
				break
			}
			tb.Steps = append(tb.Steps, msccl.Step{Type: "nop", SrcBuf: 'i', SrcOff: -1, DstBuf: 'o', DstOff: -1,
				DepBlock: ops[j].block, DepStep: ops[j].step})
		}
		tb.Steps = append(tb.Steps, st)
	}
}
