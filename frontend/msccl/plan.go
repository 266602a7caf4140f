package msccl

import (
	"slices"

	"kernbench/frontend/plan"
)

// chunkBytes returns how much of a chunk one round of the outer loop covers. For Simple it is half
// of the runtimes' buffers of 4 MiB; for LL it is 32 KiB of data, for LL128 576,000 bytes.
func chunkBytes(p plan.Protocol) int64 {
	switch p {
	case plan.LL:
		return 32 << 10
	case plan.LL128:
		return 576000
	}
	return 2 << 20
}

// depth returns how many messages a connection holds: 8 steps, of which a message of Simple takes
// 4.
func depth(p plan.Protocol) int {
	if p == plan.Simple {
		return 2
	}
	return 8
}

// cellBytes returns the bytes of a chunk, given the bytes of the call.
func (a *algo) cellBytes(bytes int64) int64 {
	return max((bytes+int64(a.chunks)-1)/int64(a.chunks), 1)
}

// most returns the greatest cnt that goes as one message.
func (a *algo) most(p plan.Protocol, bytes int64) int {
	return int(min(max(chunkBytes(p)/a.cellBytes(bytes), 1), maxCount))
}

// sizes returns the sizes from which on some step is cut into more messages than just below.
func (a *algo) sizes(p plan.Protocol) []int64 {
	var counts []int
	for g := range a.gpus {
		for b := range a.gpus[g].blocks {
			for _, s := range a.gpus[g].blocks[b].steps {
				if s.op.sends() && s.count > 1 {
					counts = append(counts, s.count)
				}
			}
		}
	}
	slices.Sort(counts)
	counts = slices.Compact(counts)
	var out []int64
	for k := maxCount - 1; k >= 1; k-- {
		for _, n := range counts {
			if (n+k-1)/k != (n+k)/(k+1) {
				// more than chunkBytes/(k+1) in a chunk
				out = append(out, int64(a.chunks)*(chunkBytes(p)/int64(k+1))+1)
				break
			}
		}
	}
	return out
}

// plan makes the plan of a call.
func (a *algo) plan(file string, call plan.Call) (*plan.Plan, []plan.Finding) {
	proto := a.proto
	if call.Protocol != nil {
		proto = *call.Protocol
	}
	p := &plan.Plan{Name: a.name, Collective: collectives[a.coll], InPlace: call.InPlace, Protocol: proto, Cell: []int64{1}}
	if call.Want != nil {
		p.Want = call.Want.For(a.ngpus, a.larger())
	}
	l := &lowering{a: a, plan: p, channels: map[link]int{}, depth: call.Depth, most: maxCount}
	if call.Bytes > 0 {
		l.most = a.most(proto, call.Bytes)
		p.Cell = rounds(a.cellBytes(call.Bytes), chunkBytes(proto))
	}
	if l.depth == 0 {
		l.depth = depth(proto)
	}
	in, out := sizes(p.Collective, a.chunks, a.ngpus)
	if p.Want == nil && in*out > 0 && (in == a.chunks && out == a.chunks || a.chunks%a.ngpus == 0) {
		p.Want = plan.RelationOf(p.Collective, a.ngpus, a.chunks, call.Root-1)
	}
	for rank := range a.gpus {
		p.Ranks = append(p.Ranks, a.memory(rank, in, out, call.InPlace))
	}
	for rank := range a.gpus {
		g := &a.gpus[rank]
		for i := range g.blocks {
			p.Ranks[rank].Blocks = append(p.Ranks[rank].Blocks, l.block(rank, g, &g.blocks[i]))
		}
	}
	return p, nil
}

// larger returns the chunks of the larger of input and output.
func (a *algo) larger() int {
	n := a.chunks
	if in, out := sizes(collectives[a.coll], a.chunks, a.ngpus); in+out == 0 {
		n = 0
		for g := range a.gpus {
			n = max(n, a.gpus[g].chunks[input], a.gpus[g].chunks[output])
		}
	}
	return n
}

// rounds cuts a chunk into the parts of the rounds of the outer loop.
func rounds(cell, most int64) []int64 {
	var out []int64
	for ; cell > most; cell -= most {
		out = append(out, most)
	}
	return append(out, cell)
}

// memory lays out the buffers of a rank. In place, input and output share memory. They begin at the
// same chunk. For all_gather and reduce_scatter NCCL makes the smaller one the rank's block of the
// larger one.
func (a *algo) memory(rank, in, out int, inPlace bool) plan.Rank {
	g := &a.gpus[rank]
	if in+out == 0 { // the file decides
		in, out, inPlace = g.chunks[input], g.chunks[output], false
	}
	// A file whose counts do not fit is ill-formed, but it is executed.
	in, out = max(in, g.chunks[input]), max(out, g.chunks[output])
	k := plan.Rank{Input: input, Output: output}
	view := func(name string, memory, first, cells int) {
		k.Views = append(k.Views, plan.View{Name: name, Memory: memory, First: first, Cells: cells})
	}
	block := a.chunks / a.ngpus
	switch {
	case !inPlace:
		k.Memories = []int{in, out}
		view("i", 0, 0, in)
		view("o", 1, 0, out)
	case in < out && rank*block+in <= out:
		k.Memories = []int{out}
		view("i", 0, rank*block, in)
		view("o", 0, 0, out)
	case out < in && rank*block+out <= in:
		k.Memories = []int{in}
		view("i", 0, 0, in)
		view("o", 0, rank*block, out)
	default:
		k.Memories = []int{max(in, out)}
		view("i", 0, 0, in)
		view("o", 0, 0, out)
	}
	k.Memories = append(k.Memories, g.chunks[scratch])
	view("s", len(k.Memories)-1, 0, g.chunks[scratch])
	return k
}
