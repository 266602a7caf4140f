package mscclpp

import (
	"bytes"
	"cmp"
	"fmt"
	"math"

	"kernbench/frontend/plan"
)

// Name is the name of the format.
const Name = "mscclpp"

// Is reports whether a file looks like a plan: a JSON object with GPUs.
func Is(data []byte) bool {
	head := bytes.TrimLeft(data, " \t\r\n")
	return len(head) > 0 && head[0] == '{' && bytes.Contains(data, []byte(`"gpus"`))
}

// collectives maps the names of collectives in plans to kernbench's names.
var collectives = map[string]string{
	"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "reduce_scatter": "reduce_scatter",
	"alltoall": "all_to_all", "broadcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter",
}

// Program reads a plan as a program of the common form.
func Program(file plan.File) (*plan.Program, []plan.Finding) {
	p, err := Read(file.Name, bytes.NewReader(file.Data))
	if err != nil {
		f := plan.Finding{Verdict: plan.ParseReject, File: file.Name, Text: err.Error()}
		if e, ok := err.(*Error); ok {
			f.Line, f.Text = e.Line, fmt.Sprintf("column %d: %s", e.Column, e.Reason)
			if e.Key != "" {
				f.Text = fmt.Sprintf("column %d: %s: %s", e.Column, e.Key, e.Reason)
			}
		}
		return nil, []plan.Finding{f}
	}
	p.findNotes()
	collective := collectives[p.Collective]
	if collective == "" {
		collective = "custom"
	}
	out := &plan.Program{Dialect: Name, Name: p.Name, Collective: collective, World: len(p.GPUs), Modes: []bool{p.InPlace},
		Notes: p.Notes, MinBytes: int64(min(p.MinBytes, math.MaxInt64))}
	out.SumsOnly = true
	for i := range p.GPUs {
		out.Blocks = max(out.Blocks, len(p.GPUs[i].Blocks))
	}
	if p.Packets {
		out.Protocol = plan.LL
	}
	if p.MaxBytes < math.MaxInt64 {
		out.MaxBytes = int64(p.MaxBytes)
	}
	out.Plan = func(call plan.Call) (*plan.Plan, []plan.Finding) { return p.lower(call, collective) }
	out.WhyNot = func(_ string, q plan.Query) ([]string, bool) { return p.whyNot(collective, q), true }
	out.Probes = p.probes(collective)
	return out, nil
}

// buffers returns how large input and output of a rank are if the larger has some bytes.
func (p *Plan) buffers(collective string, most int64) (in, out int64) {
	n := int64(len(p.GPUs))
	switch collective {
	case "all_gather", "gather":
		return most / n, most
	case "reduce_scatter", "scatter":
		return most, most / n
	case "custom":
		g := &p.GPUs[0]
		chunks := int64(max(g.InputChunks, g.OutputChunks))
		return most / chunks * int64(g.InputChunks), most / chunks * int64(g.OutputChunks)
	}
	return most, most
}

// most returns the inverse of buffers: the bytes of the larger buffer if a chunk has some.
func (p *Plan) most(chunk int64) int64 {
	g := &p.GPUs[0]
	return chunk * int64(max(g.InputChunks, g.OutputChunks))
}

// probes are sizes that show what a plan does. They include thread block groups that do not divide
// a chunk, several iterations of a pipeline with a rest, and scratch that is used again.
func (p *Plan) probes(collective string) []int64 {
	group, unit := 1, int64(0)
	visit := func(op *Op) { group = max(group, op.Parts) }
	for _, g := range p.GPUs {
		for _, b := range g.Blocks {
			for i := range b.Ops {
				visit(&b.Ops[i])
				for k := range b.Ops[i].Ops {
					visit(&b.Ops[i].Ops[k])
				}
				unit = max(unit, int64(b.Ops[i].UnitSize))
			}
		}
	}
	a := int64(p.Alignment)
	chunk := a
	if group > 1 {
		chunk = a * int64(group+1)
	}
	list := []int64{p.most(chunk)}
	if unit > 0 {
		list = append(list, p.most((2*unit+unit/2)/a*a+a*int64(group)))
		if z := (&sizes{plan: p, gpu: &p.GPUs[0]}); p.ReuseResources && z.reusedChunk() > 0 {
			list = append(list, p.most(2*z.reusedChunk()+a))
		}
	}
	var out []int64
	for _, bytes := range list {
		step := p.most(a)
		if low := (int64(min(p.MinBytes, 1<<40)) + step - 1) / step * step; bytes < low {
			bytes = low
		}
		if p.MaxBytes >= uint64(bytes) || len(out) == 0 {
			out = append(out, bytes)
		}
	}
	return out
}

// lowering makes the common form of a plan for one call.
type lowering struct {
	*Plan
	collective string
	in, out    int64
	inPlace    bool
	launches   int
	packet     int64 // bytes of data in a packet

	plan     *plan.Plan
	actions  [][]action // of each thread block, of all ranks
	cells    cells
	counters map[string]int
	findings []plan.Finding
}

func (p *Plan) lower(call plan.Call, collective string) (*plan.Plan, []plan.Finding) {
	if call.Bytes == 0 {
		call.Bytes = p.probes(collective)[0]
	}
	l := &lowering{Plan: p, collective: collective, inPlace: call.InPlace, launches: max(call.Launches, 1),
		packet: int64(cmp.Or(call.Packet, 8)), counters: map[string]int{}}
	l.in, l.out = p.buffers(collective, call.Bytes)
	if l.check(call.Bytes); len(l.findings) > 0 {
		return nil, l.findings
	}
	l.expand()
	if len(l.findings) > 0 {
		return nil, l.findings
	}
	l.plan = &plan.Plan{Name: p.Name, Collective: collective, InPlace: call.InPlace, Launches: l.launches, Cell: []int64{0}}
	if p.Packets {
		l.plan.Protocol = plan.LL
	}
	if err := l.cut(); err != nil {
		l.ill(0, "%v", err)
		return nil, l.findings
	}
	for rank := range p.GPUs {
		l.plan.Ranks = append(l.plan.Ranks, l.memory(rank))
	}
	for rank := range p.GPUs {
		l.blocks(rank)
	}
	if len(l.findings) > 0 {
		return nil, l.findings
	}
	root := plan.None
	if call.Root > 0 {
		root = call.Root - 1
	}
	k := &l.plan.Ranks[0]
	l.plan.Want = plan.RelationOf(collective, len(p.GPUs), max(k.Views[0].Cells, k.Views[1].Cells), root)
	if call.Want != nil {
		l.plan.Want = call.Want.For(len(p.GPUs), max(k.Views[0].Cells, k.Views[1].Cells))
	}
	return l.plan, nil
}

func (l *lowering) ill(line int, format string, args ...any) {
	l.findings = append(l.findings, plan.Finding{Verdict: plan.IllFormed, File: l.File, Line: line, Text: fmt.Sprintf(format, args...)})
}

// check finds sizes that the executor cannot carry out.
func (l *lowering) check(bytes int64) {
	a := int64(l.Alignment)
	switch {
	case l.in >= mostBytes || l.out >= mostBytes:
		l.ill(0, "%d bytes: the executor's offsets have 32 bits", bytes)
	case l.in < a || l.out < a:
		l.ill(0, "%d bytes: input and output have %d and %d bytes, want at least buffer_alignment, %d", bytes, l.in, l.out, a)
	case l.in%a != 0 || l.out%a != 0:
		l.ill(0, "%d bytes: input and output have %d and %d bytes, which buffer_alignment %d does not divide", bytes, l.in, l.out, a)
	}
	for rank, g := range l.GPUs {
		if in, out := l.in/int64(g.InputChunks), l.out/int64(g.OutputChunks); in != out && len(l.findings) == 0 {
			l.ill(0, "rank %d: %d input chunks of %d bytes and %d output chunks of %d bytes, want equal ones for %s",
				rank, g.InputChunks, in, g.OutputChunks, out, l.collective)
		}
	}
}

// expand lists the actions of all thread blocks.
func (l *lowering) expand() {
	total := 0
	for rank := range l.GPUs {
		g := &l.GPUs[rank]
		for b := range g.Blocks {
			e := &expansion{sizes: &sizes{l.Plan, g, l.in, l.out}, rank: rank, block: &g.Blocks[b], payload: l.packet, total: &total}
			e.expand()
			if e.err != nil {
				l.ill(e.at.Line, "rank %d tb %d: %v", rank, b, e.err)
			}
			for i := range e.actions {
				l.inside(rank, b, &e.actions[i])
			}
			l.actions = append(l.actions, e.actions)
			if len(l.findings) > 8 {
				return
			}
		}
	}
}

// inside finds accesses beyond the end of a buffer.
func (l *lowering) inside(rank, block int, a *action) {
	check := func(s byteRange, does string) {
		size, end := a.size, l.size(s)
		if s.packet {
			size *= 2
		}
		if s.first+size > end && len(l.findings) <= 8 {
			l.ill(a.op.Line, "rank %d tb %d step %d (%s) %s bytes %d to %d of buffer %c of rank %d, which has %d",
				rank, block, a.index, a.op.Name, does, s.first, s.first+size, s.buffer, s.rank, end)
		}
	}
	for _, s := range a.src {
		check(s, "reads")
	}
	for _, s := range a.dst {
		check(s, "writes")
	}
}

// size returns the bytes of a buffer.
func (l *lowering) size(s byteRange) int64 {
	switch s.buffer {
	case Input:
		return l.in
	case Output:
		return l.out
	}
	return (&sizes{l.Plan, &l.GPUs[s.rank], l.in, l.out}).scratch()
}

// cut finds the pieces of all buffers.
func (l *lowering) cut() error {
	l.cells = cells{period: l.period(), user: newCuts(0), scratch: map[int]*cuts{}}
	for rank := range l.GPUs {
		l.cells.scratch[rank] = newCuts(0)
	}
	periods := max(l.in, l.out) / l.cells.period
	if periods <= mostCuts {
		if err := l.cells.cut(l.actions, l.offset); err != nil {
			return err
		}
	}
	if periods*int64(len(l.cells.user.at)) > mostCuts {
		return fmt.Errorf("input and output fall into more than %d pieces", mostCuts)
	}
	return nil
}

// period returns the bytes after which a collective's buffers have the same meaning for another
// rank.
func (l *lowering) period() int64 {
	switch l.collective {
	case "all_to_all":
		return max(l.in/int64(len(l.GPUs)), 1)
	case "all_reduce", "broadcast", "reduce":
		return l.in
	}
	return min(l.in, l.out)
}

// offset returns where a buffer begins in its memory.
func (l *lowering) offset(rank int, b Buffer) int64 {
	switch {
	case l.inPlace && b == Input && l.collective == "all_gather":
		return int64(rank) * l.in
	case l.inPlace && b == Output && l.collective == "reduce_scatter":
		return int64(rank) * l.out
	}
	return 0
}

// The views of a rank.
const (
	viewInput = iota
	viewOutput
	viewScratch
	viewOther // scratch of every second launch
)

// memory lays out the memories of a rank: user buffers, one in place and two out of place,
// then scratch.
func (l *lowering) memory(rank int) plan.Rank {
	k := plan.Rank{Input: viewInput, Output: viewOutput}
	add := func(sizes []int64) int {
		k.Memories = append(k.Memories, len(sizes))
		k.Sizes = append(k.Sizes, sizes)
		return len(k.Memories) - 1
	}
	user := func(bytes int64) []int64 {
		var out []int64
		for start := int64(0); start < bytes; start += l.cells.period {
			out = append(out, l.cells.user.sizesOf(min(l.cells.period, bytes-start))...)
		}
		return out
	}
	in, out := l.in, l.out
	if l.inPlace {
		in, out = max(in, out), 0
	}
	input := add(user(in))
	output := input
	if !l.inPlace {
		output = add(user(out))
	}
	view := func(name string, b Buffer, memory int, bytes int64) {
		first := l.cells.userCell(l.offset(rank, b))
		k.Views = append(k.Views, plan.View{Name: name, Memory: memory, First: first, Cells: len(user(bytes))})
	}
	view("i", Input, input, l.in)
	view("o", Output, output, l.out)
	scratch := l.cells.scratch[rank].sizesOf(l.size(byteRange{rank: rank, buffer: Scratch}))
	halves := []string{"s"}
	if l.DoubleScratch {
		halves = []string{"s", "s(2nd half)"}
	}
	for _, name := range halves {
		k.Views = append(k.Views, plan.View{Name: name, Memory: add(scratch), Cells: len(scratch)})
	}
	return k
}

// span returns a range in the common form.
func (l *lowering) span(rank int, s byteRange, size int64, launch int) plan.Span {
	out := plan.Span{Rank: s.rank, Packet: s.packet && s.flags}
	if s.rank == rank {
		out.Rank = plan.None
	}
	if s.packet {
		size *= 2
	}
	if s.buffer == Scratch {
		c := l.cells.scratch[s.rank]
		out.View, out.First = viewScratch, c.cell(s.first)
		if l.DoubleScratch && launch%2 == 1 {
			out.View = viewOther
		}
		out.N = c.cell(s.first+size) - out.First
		return out
	}
	if out.View = viewInput; s.buffer == Output {
		out.View = viewOutput
	}
	base := l.offset(s.rank, s.buffer)
	first := l.cells.userCell(base)
	out.First = l.cells.userCell(base+s.first) - first
	out.N = l.cells.userCell(base+s.first+size) - first - out.First
	return out
}
