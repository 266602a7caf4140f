package judge

import (
	"fmt"

	"kernbench/frontend/plan"
)

// races finds unordered pairs of accesses to one cell of which at least one is a write, in two
// steps or in one. It returns some of them, and how many pairs of steps there are.
//
// Each rank's memory is examined separately, with the clocks of the blocks that use it. The order
// by the steps of these blocks is tried first. All events are followed only if that leaves a pair
// unordered, because most programs order their blocks by local dependencies.
func (d *data) races() (found []plan.Finding, pairs int) {
	o := d.run.order
	found, pairs = d.overlapping, d.overlaps
	place := make([]int32, len(d.run.blocks))
	var local [][]int32 // events of each rank's users
	for rank := range d.access {
		width := d.users(rank, place)
		if width < 2 {
			continue
		}
		if local == nil {
			local = d.eventsByRank()
		}
		c := o.clocksOf(place, width, len(d.run.blocks), local[rank])
		rowOf := make(map[int32]int32, len(local[rank]))
		for i, e := range local[rank] {
			rowOf[e] = int32(i)
		}
		doubts := d.conflicts(rank, place, c, func(e int32) int { return int(rowOf[e]) })
		if len(doubts) == 0 {
			continue
		}
		c = o.clocksOf(place, width, len(d.run.blocks), nil)
		for _, p := range d.conflicts(rank, place, c, func(e int32) int { return int(e) }) {
			pairs++
			if len(found) < limit {
				found = append(found, d.raceFinding(rank, p))
			}
		}
	}
	return found, pairs
}

// eventsByRank lists, for each rank, the events of the blocks that use its memory.
func (d *data) eventsByRank() [][]int32 {
	uses := make([][]int32, len(d.run.blocks)) // ranks whose memory a block uses
	for rank := range d.access {
		for _, a := range d.access[rank] {
			if l := uses[a.block]; len(l) == 0 || l[len(l)-1] != int32(rank) {
				uses[a.block] = append(l, int32(rank))
			}
		}
	}
	// Blocks that touch no memory order the others of their rank: nops, rcs without data.
	for b := range uses {
		own := d.run.blocks[b].rank
		has := false
		for _, r := range uses[b] {
			has = has || r == own
		}
		if !has {
			uses[b] = append(uses[b], own)
		}
	}
	out := make([][]int32, len(d.access))
	for e, b := range d.run.order.block {
		for _, r := range uses[b] {
			out[r] = append(out[r], int32(e))
		}
	}
	return out
}

// users numbers the blocks that access a rank's memory, if any cell is written by one and accessed
// by another; else it returns 0.
func (d *data) users(rank int, place []int32) int {
	for b := range place {
		place[b] = -1
	}
	type use struct {
		by      int32 // plus 1; -1: several
		written bool
	}
	cells := make([][]use, len(d.memory[rank]))
	for m := range cells {
		cells[m] = make([]use, len(d.memory[rank][m]))
	}
	n, shared := int32(0), false
	for _, a := range d.access[rank] {
		if place[a.block] < 0 {
			place[a.block] = n
			n++
		}
		for c := a.first; c < a.first+a.n; c++ {
			u := &cells[a.memory][c]
			if u.by != 0 && u.by != a.block+1 {
				u.by = -1
			} else if u.by == 0 {
				u.by = a.block + 1
			}
			u.written = u.written || a.write
			shared = shared || u.written && u.by < 0
		}
	}
	if !shared {
		return 0
	}
	return int(n)
}

// conflict is two accesses, by their places in data.access of the rank, and a cell.
type conflict struct {
	a, b         int32
	memory, cell int32
}

// conflicts lists unordered pairs, each pair of steps once. row finds an event's clocks.
func (d *data) conflicts(rank int, place []int32, c *clocks, row func(int32) int) []conflict {
	type history struct {
		write int32   // access, plus 1
		reads []int32 // accesses since, one for each block
	}
	cells := make([][]history, len(d.memory[rank]))
	for m := range cells {
		cells[m] = make([]history, len(d.memory[rank][m]))
	}
	type pair struct{ a, b int32 }
	known := map[pair]bool{}
	var out []conflict
	list := d.access[rank]
	for i := range list {
		a := &list[i]
		clock := c.at[row(a.event)*c.width:][:c.width]
		check := func(before int32, cell int32) {
			e := &list[before]
			if clock[place[e.block]] > e.event {
				return
			}
			if p := (pair{e.event, a.event}); !known[p] {
				known[p] = true
				out = append(out, conflict{before, int32(i), a.memory, cell})
			}
		}
		for cell := a.first; cell < a.first+a.n; cell++ {
			h := &cells[a.memory][cell]
			if h.write > 0 {
				check(h.write-1, cell)
			}
			if a.write {
				for _, e := range h.reads {
					check(e, cell)
				}
				h.write, h.reads = int32(i)+1, h.reads[:0]
				continue
			}
			same := false
			for k, e := range h.reads {
				if list[e].block == a.block {
					h.reads[k], same = int32(i), true
				}
			}
			if !same {
				h.reads = append(h.reads, int32(i))
			}
		}
	}
	return out
}

func (d *data) raceFinding(rank int, p conflict) plan.Finding {
	a, b := &d.access[rank][p.a], &d.access[rank][p.b]
	does := func(x *access) string {
		if x.write {
			return "writes"
		}
		return "reads"
	}
	at := func(x *access) string {
		bl := &d.run.blocks[x.block]
		return d.run.plan.Where(int(bl.rank), int(bl.index), int(x.step))
	}
	bl := &d.run.blocks[b.block]
	return plan.Finding{Verdict: plan.Race, Line: bl.steps[b.step].Line,
		Text: fmt.Sprintf("%s %s and %s %s %s of rank %d; nothing orders them", at(a), does(a), at(b), does(b),
			d.run.plan.CellName(rank, int(p.memory), int(p.cell)), rank)}
}
