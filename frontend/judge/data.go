package judge

import (
	"fmt"

	"kernbench/frontend/plan"
)

// data is the memory of all ranks, in symbols.
type data struct {
	run    *run
	values *values
	memory [][][]value // rank, memory, cell
	access [][]access  // of each rank's memory, in the order of the events

	// earlier is the outputs of all calls but the last: launch, rank, cell.
	earlier [][][]value

	undefinedReads int
	findings       []plan.Finding

	overlaps    int            // steps that write cells which they read for others
	overlapping []plan.Finding // some of them
}

// access is one access of a range of cells.
type access struct {
	event  int32
	block  int32 // of all
	step   int32
	memory int32
	first  int32
	n      int32
	write  bool
}

func newData(r *run) *data {
	d := &data{run: r, values: newValues(), access: make([][]access, len(r.plan.Ranks))}
	for range r.plan.Launches - 1 {
		d.earlier = append(d.earlier, make([][]value, len(r.plan.Ranks)))
	}
	for rank := range r.plan.Ranks {
		k := &r.plan.Ranks[rank]
		memory := make([][]value, len(k.Memories))
		for m, cells := range k.Memories {
			memory[m] = make([]value, cells)
		}
		d.memory = append(d.memory, memory)
		d.fill(rank, 0)
	}
	return d
}

// fill gives a rank's input the contributions of a call.
func (d *data) fill(rank, launch int) {
	k := &d.run.plan.Ranks[rank]
	if k.Input == plan.None {
		return
	}
	in := k.Views[k.Input]
	for c := range in.Cells {
		d.memory[rank][in.Memory][in.First+c] = d.values.leaf(plan.Contribution{Rank: rank, Cell: c, Launch: launch})
	}
}

// begin keeps the result of the previous call, and starts the next one.
func (d *data) begin(b int32, s *plan.Step, event int32) {
	rank := int(d.run.blocks[b].rank)
	k := &d.run.plan.Ranks[rank]
	if k.Output != plan.None {
		span := plan.Span{Rank: plan.None, View: k.Output, N: k.Views[k.Output].Cells}
		d.note(b, rank, span, event, false)
		d.earlier[s.Launch-1][rank] = append([]value(nil), d.at(rank, span)...)
	}
	if k.Input != plan.None {
		d.note(b, rank, plan.Span{Rank: plan.None, View: k.Input, N: k.Views[k.Input].Cells}, event, true)
		d.fill(rank, s.Launch)
	}
}

// step performs the reads and writes of a step, and returns the cells that it made.
func (d *data) step(b int32, s *plan.Step, taken []value, event int32) []value {
	rank := int(d.run.blocks[b].rank)
	if s.Begin {
		d.begin(b, s, event)
	}
	var sum []value
	if s.Take != plan.None {
		sum = fit(taken, s)
	}
	for i, span := range s.Src {
		cells := d.at(rank, span)
		d.note(b, rank, span, event, false)
		for c, v := range cells {
			if v == undefined {
				d.undefined(b, rank, s, span, c)
				break
			}
		}
		if i == 0 && s.Take == plan.None {
			sum = append([]value(nil), cells...)
			continue
		}
		both := make([]value, len(sum))
		for c := range both {
			both[c] = d.values.add(sum[c], cells[c])
		}
		sum = both
	}
	for _, span := range s.Dst {
		d.overlap(b, s, span)
		if !d.again(b, span, sum, event) {
			d.note(b, rank, span, event, true)
		}
		copy(d.at(rank, span), sum)
	}
	return sum
}

// overlap finds a step whose destination covers a part of a source, other than cell for cell. Its
// threads would write cells that other threads have still to read.
func (d *data) overlap(b int32, s *plan.Step, dst plan.Span) {
	for _, src := range s.Src {
		rank := d.run.owner(b, src)
		if rank != d.run.owner(b, dst) {
			continue
		}
		x, y := d.run.plan.Ranks[rank].Views[src.View], d.run.plan.Ranks[rank].Views[dst.View]
		from, to := x.First+src.First, y.First+dst.First
		if x.Memory != y.Memory || from == to || from >= to+dst.N || to >= from+src.N {
			continue
		}
		if d.overlaps++; d.overlaps <= limit {
			own := int(d.run.blocks[b].rank)
			d.overlapping = append(d.overlapping, plan.Finding{Verdict: plan.Race, Line: s.Line,
				Text: fmt.Sprintf("%s reads %s and writes %s: nothing orders its threads", d.run.where(b),
					d.run.plan.SpanName(own, src), d.run.plan.SpanName(own, dst))})
		}
		return
	}
}

// again reports whether a step rewrites packets: cells with the flag of this launch and the same
// contents. A reader gets the same from either.
func (d *data) again(b int32, span plan.Span, sum []value, event int32) bool {
	if !span.Packet {
		return false
	}
	rank := d.run.owner(b, span)
	for c, f := range d.run.flags(rank, span) {
		if f.event == event { // its own
			return false
		}
		has := d.at(rank, plan.Span{Rank: rank, View: span.View, First: span.First + c, N: 1})[0]
		if has == undefined || sum[c] == undefined || d.values.nodes[has].sum != d.values.nodes[sum[c]].sum {
			return false
		}
	}
	return true
}

// fit cuts or extends a message to the number of cells of its step, because an invalid program may
// have sent another number.
func fit(taken []value, s *plan.Step) []value {
	n := len(taken)
	for _, span := range s.Src {
		n = span.N
	}
	for _, span := range s.Dst {
		n = span.N
	}
	if n == len(taken) {
		return taken
	}
	sum := make([]value, n)
	copy(sum, taken)
	return sum
}

func (d *data) at(rank int, s plan.Span) []value {
	if s.Rank != plan.None {
		rank = s.Rank
	}
	v := d.run.plan.Ranks[rank].Views[s.View]
	return d.memory[rank][v.Memory][v.First+s.First:][:s.N]
}

func (d *data) note(b int32, rank int, s plan.Span, event int32, write bool) {
	if s.Rank != plan.None {
		rank = s.Rank
	}
	v := d.run.plan.Ranks[rank].Views[s.View]
	d.access[rank] = append(d.access[rank], access{event: event, block: b, step: int32(d.run.blocks[b].at),
		memory: int32(v.Memory), first: int32(v.First + s.First), n: int32(s.N), write: write})
}

// limit is the number of findings of one verdict that are listed.
const limit = 5

func (d *data) undefined(b int32, rank int, s *plan.Step, span plan.Span, cell int) {
	d.undefinedReads++
	if d.undefinedReads > limit {
		return
	}
	span.First, span.N = span.First+cell, 1
	d.findings = append(d.findings, plan.Finding{Verdict: plan.UndefinedRead, Line: s.Line,
		Text: fmt.Sprintf("%s reads %s, to which nothing was written before", d.run.where(b), d.run.plan.SpanName(rank, span))})
}

// where names the current step of a block.
func (r *run) where(b int32) string {
	bl := &r.blocks[b]
	return r.plan.Where(int(bl.rank), int(bl.index), bl.at)
}
