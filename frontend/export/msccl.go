package export

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/frontend/msccl"
	"kernbench/frontend/plan"
	"kernbench/program/text"
	"kernbench/tl"
)

// Options holds the choices of the user.
type Options struct {
	Channels int // copies of the program, each with a part of every chunk
	Protocol plan.Protocol
	Apart    bool  // a block for each peer and direction; else one for both directions of a peer
	Plain    bool  // no step that receives and sends
	MaxBytes int64 // of a call; 0: no limit
}

// mostCount is the most chunks that a step moves, mostChunks those of a buffer.
const (
	mostCount  = 71
	mostChunks = 1 << 20
)

// MSCCL makes an algorithm from a program. The ranks of the program may have several blocks, and no
// two accesses of blocks to memory may race. A block becomes a thread block if it sends to one rank
// and receives from one rank at most, else several.
func MSCCL(f *text.File, o Options) (*msccl.Algorithm, error) {
	co, err := collective.Lookup(f.Collective)
	if err != nil {
		return nil, err
	}
	if co.Reduces && f.Op == tl.Avg {
		return nil, errors.New("MSCCL has no step that divides, as avg does: export sum")
	}
	c, first, err := carry(f)
	if err != nil {
		return nil, err
	}
	in, out := f.Elems, f.Elems
	if f.Results > 0 {
		out = f.Results
	} else if f.Collective == "all_gather" {
		in, out = f.Elems, f.Elems*f.World
	}
	unit := gcd(in, out)
	if f.Collective == "all_to_all" {
		unit = gcd(unit, in/f.World)
	}
	c.connect()
	ranks := c.ranks
	unit = gcd(unit, first)
	for r := range ranks {
		for _, p := range ranks[r].ops {
			for _, x := range []piece{p.src, p.dst} {
				unit = gcd(gcd(unit, x.off), x.n)
			}
		}
	}
	copies := max(o.Channels, 1)
	chunks := max(in, out) / unit
	if chunks > mostChunks/copies {
		return nil, fmt.Errorf("%d elements fall into chunks of %d, and %d channels have at most %d chunks: export fewer elements",
			max(in, out), unit, copies, mostChunks)
	}
	a := &msccl.Algorithm{
		Name: name(f.Algorithm), Collective: f.Collective, Protocol: o.Protocol, Chunks: chunks * copies,
		InPlace: f.Results == 0, MaxBytes: o.MaxBytes,
	}
	// A rank's part of the larger buffer: chunks of a channel are contiguous in it.
	part := min(in, out) / unit
	if f.Collective == "all_to_all" {
		part = chunks / f.World
	}
	layouts, tbs := make([]layout, len(ranks)), make([][]msccl.TB, len(ranks))
	for r := range ranks {
		k, x := &ranks[r], &layouts[r]
		x.ops = divide(k.ops, unit)
		if copies > 1 && part < chunks || slices.ContainsFunc(x.ops, func(p op) bool { return p.src.n > mostCount }) {
			most := mostCount
			if copies > 1 && part < chunks {
				most = 1
			}
			x.ops = split(x.ops, most)
		}
		fixed := first / unit
		partner := partners(fuse(slices.Clone(x.ops), fixed, nil))
		if o.Plain {
			partner = nil
		}
		x.ops = fuse(x.ops, fixed, partner)
		x.scratch = compact(x.ops)
		x.place = func(ops []op) ([]placed, []msccl.TB, []int) {
			return assignBlocks(ops, max(len(k.agents), 1)+len(k.passive), len(ranks), partner, !o.Apart, c.several)
		}
		_, tbs[r], _ = x.place(x.ops)
	}
	each, err := channels(tbs)
	if err != nil {
		if o.Apart && o.Plain {
			return nil, err
		}
		o.Apart, o.Plain = true, true // each thread block has one connection
		return MSCCL(f, o)
	}
	if n := each * copies; n > MostChannels {
		return nil, fmt.Errorf("it needs %d channels, and MSCCL has at most %d", n, MostChannels)
	}
	for r := range ranks {
		x := &layouts[r]
		g := msccl.GPU{Input: in / unit * copies, Output: out / unit * copies, Scratch: x.scratch * copies}
		for n := range copies {
			ops, blocks, first := x.place(onChannel(x.ops, n, copies, part, x.scratch))
			ranks[r].steps(ops, blocks, first)
			for b := range blocks { // dependencies count blocks of this copy
				tb := &blocks[b]
				tb.Channel = tbs[r][b].Channel*copies + n
				tb.Send, tb.Recv = peer(tb.Send, len(ranks)), peer(tb.Recv, len(ranks))
				for s := range tb.Steps {
					if st := &tb.Steps[s]; st.DepBlock >= 0 {
						st.DepBlock += len(g.Blocks)
					}
				}
			}
			g.Blocks = append(g.Blocks, blocks...)
		}
		a.GPUs = append(a.GPUs, g)
	}
	return a, nil
}

// layout holds the operations of a rank, in chunks, and the way to place them in thread blocks.
type layout struct {
	ops     []op
	scratch int
	place   func(ops []op) ([]placed, []msccl.TB, []int)
}

// peer returns the rank of a port.
func peer(port, world int) int {
	if port == none {
		return none
	}
	return port % world
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// divide counts in chunks of some elements.
func divide(ops []op, unit int) []op {
	out := slices.Clone(ops)
	for i := range out {
		for _, p := range []*piece{&out[i].src, &out[i].dst} {
			p.off, p.n = p.off/unit, p.n/unit
		}
	}
	return out
}

// split cuts ops so that each has a limited number of chunks. Both ends of a message are cut in the
// same form.
func split(ops []op, most int) (out []op) {
	for _, o := range ops {
		for at := 0; at < o.src.n; at += most {
			q := o
			q.src.off, q.src.n = o.src.off+at, min(most, o.src.n-at)
			q.dst.off, q.dst.n = o.dst.off+at, min(most, o.dst.n-at)
			out = append(out, q)
		}
	}
	return out
}

// compact closes the gaps in scratch memory, and returns its number of chunks.
func compact(ops []op) int {
	most := 0
	used := map[int]bool{}
	each := func(do func(p *piece)) {
		for i := range ops {
			if ops[i].readsSrc() && ops[i].src.buf == bufScratch {
				do(&ops[i].src)
			}
			if ops[i].writesDst() && ops[i].dst.buf == bufScratch {
				do(&ops[i].dst)
			}
		}
	}
	each(func(p *piece) {
		for c := range p.n {
			used[p.off+c] = true
		}
		most = max(most, p.off+p.n)
	})
	place := make([]int, most+1)
	for c := range most {
		place[c+1] = place[c]
		if used[c] {
			place[c+1]++
		}
	}
	each(func(p *piece) { p.off = place[p.off] })
	for i := range ops { // unused buffers of a step repeat the used ones
		if !ops[i].readsSrc() {
			ops[i].src = ops[i].dst
		}
		if !ops[i].writesDst() {
			ops[i].dst = ops[i].src
		}
	}
	return place[most]
}

// onChannel moves ops to the chunks of a channel: each rank's part of a buffer has those of channel
// 0 first.
func onChannel(ops []op, c, channels, part, scratch int) []op {
	out := slices.Clone(ops)
	for i := range out {
		for _, p := range []*piece{&out[i].src, &out[i].dst} {
			if p.buf == bufScratch {
				p.off += c * scratch
				continue
			}
			p.off = p.off/part*part*channels + c*part + p.off%part
		}
	}
	return out
}

// name returns an algorithm's name in the form that files allow.
func name(s string) string {
	if s == "" {
		s = "kernbench"
	}
	return fmt.Sprintf("%.63s", s)
}
