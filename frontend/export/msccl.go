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

// Options holds what a user may choose.
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

// MSCCL makes an algorithm from a recorded program.
func MSCCL(f *text.File, o Options) (*msccl.Algorithm, error) {
	co, err := collective.Lookup(f.Collective)
	if err != nil {
		return nil, err
	}
	if co.Reduces && f.Op == tl.Avg {
		return nil, errors.New("avg divides, and no step of MSCCL does: export sum")
	}
	ranks, first, err := carry(f)
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
	unit = gcd(unit, first)
	for r := range ranks {
		for _, p := range ranks[r].ops {
			for _, x := range []piece{p.src, p.dst} {
				unit = gcd(gcd(unit, x.off), x.n)
			}
		}
	}
	channels := max(o.Channels, 1)
	chunks := max(in, out) / unit
	if chunks > mostChunks/channels {
		return nil, fmt.Errorf("%d elements fall into chunks of %d, and %d channels have at most %d chunks: export fewer elements",
			max(in, out), unit, channels, mostChunks)
	}
	a := &msccl.Algorithm{
		Name: name(f.Algorithm), Collective: f.Collective, Protocol: o.Protocol, Chunks: chunks * channels,
		InPlace: f.Results == 0, MaxBytes: o.MaxBytes,
	}
	// A rank's part of the larger buffer: chunks of a channel are contiguous in it.
	part := min(in, out) / unit
	if f.Collective == "all_to_all" {
		part = chunks / f.World
	}
	for r := range ranks {
		ops := divide(ranks[r].ops, unit)
		if channels > 1 && part < chunks || slices.ContainsFunc(ops, func(p op) bool { return p.src.n > mostCount }) {
			most := mostCount
			if channels > 1 && part < chunks {
				most = 1
			}
			ops = split(ops, most)
		}
		fixed := first / unit
		partner := partners(fuse(slices.Clone(ops), fixed, nil))
		if o.Plain {
			partner = nil
		}
		ops = fuse(ops, fixed, partner)
		scratch := compact(ops)
		g := msccl.GPU{Input: in / unit * channels, Output: out / unit * channels, Scratch: scratch * channels}
		for c := range channels {
			placed, blocks := assignBlocks(onChannel(ops, c, channels, part, scratch), partner, !o.Apart)
			for b := range blocks {
				blocks[b].Channel = c
			}
			steps(placed, blocks)
			for b := range blocks { // dependencies count blocks of this channel
				for s := range blocks[b].Steps {
					if st := &blocks[b].Steps[s]; st.DepBlock >= 0 {
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
