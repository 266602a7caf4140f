package msccl

import (
	"fmt"
	"slices"

	"kernbench/frontend/plan"
)

// link is a connection: a FIFO from one rank to another.
type link struct{ from, to, channel int }

func (l link) String() string { return fmt.Sprintf("%d->%d chan %d", l.from, l.to, l.channel) }

// end is a block that uses a connection, and the counts of the messages of its steps.
type end struct {
	rank, block int
	counts      []int
	lines       []int
}

// checker collects violations of the format's rules.
type checker struct {
	a        *algo
	file     string
	findings []plan.Finding
}

func (c *checker) add(line int, format string, args ...any) {
	if len(c.findings) < mostFindings {
		c.findings = append(c.findings, plan.Finding{Verdict: plan.IllFormed, File: c.file, Line: line, Text: fmt.Sprintf(format, args...)})
	}
}

// check finds violations of rules across elements: chunk counts, and connections that two blocks
// share. It also finds sends and receives that do not match, and dependencies on missing steps.
func (a *algo) check(file string) []plan.Finding {
	c := &checker{a: a, file: file}
	c.chunks()
	c.connections()
	for rank := range a.gpus {
		for b := range a.gpus[rank].blocks {
			c.dependencies(&a.gpus[rank], rank, &a.gpus[rank].blocks[b])
		}
	}
	return c.findings
}

// chunks checks the chunk counts of buffers against nchunksperloop.
func (c *checker) chunks() {
	a := c.a
	coll := collectives[a.coll]
	in, out := sizes(coll, a.chunks, a.ngpus)
	if coll == "custom" || in == 0 && out == 0 {
		return
	}
	if in*out == 0 || (in < a.chunks || out < a.chunks) && a.chunks%a.ngpus != 0 || coll == "all_to_all" && a.chunks%a.ngpus != 0 {
		c.add(a.line, "nchunksperloop is %d: %s over %d gpus needs a multiple of %d", a.chunks, a.coll, a.ngpus, a.ngpus)
		return
	}
	for id := range a.gpus {
		g := &a.gpus[id]
		for i, want := range [...]int{in, out} {
			if has := g.chunks[i]; has != 0 && has != want {
				c.add(g.line, "%c_chunks of gpu %d is %d: with nchunksperloop %d, %s has %d there, or 0 if the buffer is not used",
					bufferNames[i], id, has, a.chunks, a.coll, want)
			}
		}
	}
}

// sizes returns the chunks of input and output of a collective; 0 if the file decides it.
func sizes(coll string, chunks, ranks int) (in, out int) {
	switch coll {
	case "all_gather", "gather":
		return chunks / ranks, chunks
	case "reduce_scatter", "scatter":
		return chunks, chunks / ranks
	case "all_reduce", "broadcast", "reduce", "all_to_all":
		return chunks, chunks
	}
	return 0, 0
}

// connections checks that one block sends into each connection and one receives from it, and that
// their messages match.
func (c *checker) connections() {
	senders, receivers := map[link][]end{}, map[link][]end{}
	var links []link
	for rank := range c.a.gpus {
		for i := range c.a.gpus[rank].blocks {
			b := &c.a.gpus[rank].blocks[i]
			send, recv := end{rank: rank, block: i}, end{rank: rank, block: i}
			for _, s := range b.steps {
				if s.count == 0 {
					continue
				}
				if s.op.sends() {
					send.counts, send.lines = append(send.counts, s.count), append(send.lines, s.line)
				}
				if s.op.receives() {
					recv.counts, recv.lines = append(recv.counts, s.count), append(recv.lines, s.line)
				}
			}
			if b.send >= 0 {
				l := link{rank, b.send, b.channel}
				senders[l] = append(senders[l], send)
				links = append(links, l)
			}
			if b.recv >= 0 {
				l := link{b.recv, rank, b.channel}
				receivers[l] = append(receivers[l], recv)
				links = append(links, l)
			}
		}
	}
	slices.SortFunc(links, func(x, y link) int {
		return slices.Compare([]int{x.from, x.to, x.channel}, []int{y.from, y.to, y.channel})
	})
	for _, l := range slices.Compact(links) {
		c.connection(l, senders[l], receivers[l])
	}
}

func (c *checker) connection(l link, senders, receivers []end) {
	for _, side := range []struct {
		ends []end
		does string
	}{{senders, "send into"}, {receivers, "receive from"}} {
		if len(side.ends) > 1 {
			x, y := side.ends[0], side.ends[1]
			c.add(c.a.gpus[y.rank].blocks[y.block].line,
				"tb %d and tb %d of gpu %d both %s connection %v: one block may", x.block, y.block, x.rank, side.does, l)
			return
		}
	}
	var sends, takes end
	if len(senders) > 0 {
		sends = senders[0]
	}
	if len(receivers) > 0 {
		takes = receivers[0]
	}
	for i := range min(len(sends.counts), len(takes.counts)) {
		if sends.counts[i] != takes.counts[i] {
			c.add(sends.lines[i], "message %d of connection %v has cnt %d, and its receiver at line %d has cnt %d", i, l,
				sends.counts[i], takes.lines[i], takes.counts[i])
			return
		}
	}
	if n, m := len(sends.counts), len(takes.counts); n != m {
		line := 0
		if n > m {
			line = sends.lines[m]
		} else {
			line = takes.lines[n]
		}
		c.add(line, "connection %v has %d sends and %d receives", l, n, m)
	}
}

// dependencies checks depid and deps of a block's steps, and chains of nops.
func (c *checker) dependencies(g *gpu, rank int, b *block) {
	chain := 0 // line of the first nop that waits for a step to carry its dependency
	for i := range b.steps {
		s := &b.steps[i]
		switch {
		case s.depBlock < 0:
		case s.depBlock >= len(g.blocks):
			c.add(s.line, "depid %d: gpu %d has tb 0 to %d", s.depBlock, rank, len(g.blocks)-1)
		case s.depBlock == b.id:
			c.add(s.line, "depid %d is the block itself: steps of one block follow one another anyway", s.depBlock)
		case s.depStep < 0 || s.depStep >= len(g.blocks[s.depBlock].steps):
			c.add(s.line, "deps %d: tb %d of gpu %d has %d steps", s.depStep, s.depBlock, rank, len(g.blocks[s.depBlock].steps))
		}
		if s.op == opNop {
			if s.depBlock >= 0 && chain == 0 {
				chain = s.line
			}
			continue
		}
		if chain > 0 && s.depBlock < 0 {
			c.add(s.line, "the nop at line %d hands its dependency to this step, which has no depid: runtimes refuse the file", chain)
		}
		chain = 0
	}
}
