package text

import (
	"slices"

	"kernbench/tl"
	"kernbench/tl/launch"
)

// This file is about ranks with several blocks. The blocks share the rank's memory. Each ring end
// of the rank, and each rendezvous, belongs to one of them.

// Runnable reports why the file cannot be run: a rank has no block, or lacks one of a lower number.
func (f *File) Runnable() error {
	blocks := f.blocksOfRanks()
	for r, list := range blocks {
		if len(list) == 0 {
			line := 0 // of the last section
			for _, b := range f.Blocks {
				line = max(line, b.line)
			}
			return f.errorf(line, "found the last section, and none for rank %d of %d, want a line \"rank %d\" and its statements below it",
				r, f.World, r)
		}
		for k, b := range list {
			if b.Number != k {
				return f.errorf(b.line, "rank %d has a block %d and no block %d: blocks are numbered from 0 on", r, b.Number, k)
			}
		}
	}
	return nil
}

// blocksOfRanks lists the blocks of each rank, by number.
func (f *File) blocksOfRanks() [][]*Block {
	all := make([][]*Block, f.World)
	for _, b := range f.Blocks {
		for _, r := range b.Ranks {
			all[r] = append(all[r], b)
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(a, b *Block) int { return a.Number - b.Number })
	}
	return all
}

// several reports whether some rank may have several blocks.
func (f *File) several() bool {
	return slices.ContainsFunc(f.Blocks, func(b *Block) bool { return b.Number > 0 })
}

// shared is a property of a rank that only one block may use. It is a direction that the rank sends
// in or receives from, or the rendezvous of a window.
type shared struct {
	use    uint8
	dir    tl.Dir
	window int16
}

// Uses of what is shared.
const (
	sends uint8 = iota
	receives
	meets
)

// shares returns what a statement needs for its block alone.
func (s *Stmt) shares() (shared, bool) {
	switch s.Op {
	case Send, SendRef:
		return shared{use: sends, dir: s.Dir}, true
	case Recv, RecvTo, RecvAsync, Wait:
		return shared{use: receives, dir: s.Dir}, true
	case Sync:
		return shared{use: meets, window: s.Words.Window}, true
	}
	return shared{}, false
}

// checkSharing returns an error if two blocks of a rank use the same end of a ring, or the same
// rendezvous.
func (f *File) checkSharing() error {
	if !f.several() {
		return nil
	}
	type key struct {
		rank int32
		shared
	}
	type user struct {
		block int
		line  int32
	}
	users := map[key]user{}
	for _, b := range f.Blocks {
		for i := range b.Stmts {
			s := &b.Stmts[i]
			what, ok := s.shares()
			if !ok {
				continue
			}
			for _, r := range b.Ranks {
				k := key{r, what}
				first, used := users[k]
				switch {
				case !used:
					users[k] = user{b.Number, s.Line}
				case first.block == b.Number:
				case what.use == meets:
					return f.errorf(int(s.Line), "found sync w%d in block %d of rank %d, want it in block %d only, which has it in line %d",
						what.window, b.Number, r, first.block, first.line)
				default:
					does := [...]string{"sends in", "receives from"}[what.use]
					return f.errorf(int(s.Line), "block %d of rank %d %s direction %v, which is for block %d, see line %d: "+
						"one block has an end of a ring", b.Number, r, does, what.dir, first.block, first.line)
				}
			}
		}
	}
	return nil
}

// Split returns the blocks of all ranks and their rings, as launch.Group has them. Rings that no
// block uses belong to block 0. If each rank has one block, there are no blocks, and the rings are
// those of the ranks. The file must be Runnable.
func (f *File) Split() ([]launch.Block, []tl.Wiring) {
	if !f.several() {
		return nil, f.Wiring
	}
	var blocks []launch.Block
	first := make([]int, f.World) // block of each rank, among those of all
	owner := make([]map[shared]int, f.World)
	for r, list := range f.blocksOfRanks() {
		first[r], owner[r] = len(blocks), map[shared]int{}
		for _, b := range list {
			blocks = append(blocks, launch.Block{Rank: r, Number: b.Number, Of: len(list)})
			for i := range b.Stmts {
				if what, ok := b.Stmts[i].shares(); ok {
					owner[r][what] = b.Number
				}
			}
		}
	}
	_, rings := ringsOf(f.Wiring)
	for i := range rings {
		q := &rings[i]
		q.from = int32(first[q.from] + owner[q.from][shared{use: sends, dir: q.out}])
		q.to = int32(first[q.to] + owner[q.to][shared{use: receives, dir: q.in}])
	}
	w, _, err := wire(len(blocks), rings)
	if err != nil {
		panic(err) // each end of a ring has one block
	}
	return blocks, w
}

// wiringOfRanks joins the rings of the blocks of each rank.
func wiringOfRanks(g *launch.Group) []tl.Wiring {
	if g.Blocks == nil {
		return g.Wiring
	}
	_, rings := ringsOf(g.Wiring)
	for i := range rings {
		q := &rings[i]
		q.from, q.to = int32(g.Blocks[q.from].Rank), int32(g.Blocks[q.to].Rank)
	}
	w, _, err := wire(len(g.PEs), rings)
	if err != nil {
		panic(err) // directions of a rank differ
	}
	return w
}
