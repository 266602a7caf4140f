package msccl

import (
	"encoding/xml"
	"math"
	"slices"
	"strings"

	"kernbench/frontend/plan"
	"kernbench/internal/near"
)

// algo is a parsed file.
type algo struct {
	name     string
	line     int
	proto    plan.Protocol
	ngpus    int
	channels int
	chunks   int // nchunksperloop
	coll     string

	inPlace                bool
	outOfPlace             bool
	minBytes               int64
	maxBytes               int64
	hasOut, hasMin, hasMax bool // outofplace, minBytes, maxBytes are given
	threads                int64
	hasThreads             bool

	gpus  []gpu // by id
	nodes int   // XML elements in the largest gpu element, including the gpu element
}

type gpu struct {
	line   int
	given  bool   // the file has this gpu
	chunks [3]int // of i, o, s
	blocks []block
}

// Buffers, as indices into gpu.chunks.
const (
	input = iota
	output
	scratch
)

const bufferNames = "ios"

type block struct {
	id, line   int
	send, recv int
	channel    int
	steps      []step
}

type step struct {
	index, line       int // index is attribute s
	op                op
	src, dst          place
	count             int
	depBlock, depStep int // attributes depid and deps
	hasDep            bool
}

type place struct{ buffer, chunk int }

// op is a step's type.
type op uint8

const (
	opNop op = iota
	opS
	opR
	opRcs
	opRrs
	opRrc
	opRrcs
	opCpy
	opRe
)

var opNames = []string{"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"}

func (o op) String() string { return opNames[o] }

// receives reports whether a step of the type receives from a channel.
func (o op) receives() bool  { return o == opR || o == opRcs || o == opRrs || o == opRrc || o == opRrcs }
func (o op) sends() bool     { return o == opS || o == opRcs || o == opRrs || o == opRrcs }
func (o op) readsSrc() bool  { return o == opS || o >= opRrs }
func (o op) writesDst() bool { return o == opR || o == opRcs || o >= opRrc }

// Limits of reasonable files, far above those of all runtimes.
const (
	maxRanks    = 1 << 16
	maxChunks   = 1 << 20 // of one buffer
	maxCells    = 1 << 23 // chunks of the buffers of all GPUs, and of the inputs and results
	maxBlocks   = 1 << 16
	maxSteps    = 1 << 20
	maxChannels = 32
	maxCount    = 71
)

// collectives are the canonical names of the values of attribute coll. "custom" has no expected
// result of its own.
var collectives = map[string]string{
	"allreduce": "all_reduce", "allgather": "all_gather", "reduce": "reduce", "broadcast": "broadcast",
	"alltoall": "all_to_all", "reduce_scatter": "reduce_scatter", "reducescatter": "reduce_scatter",
	"custom": "custom", "send": "send", "recv": "recv", "gather": "gather", "scatter": "scatter", "alltoallv": "all_to_all_v",
}

func (r *reader) algo() *algo {
	var a *algo
	for !r.full() {
		t := r.token()
		if t == nil {
			break
		}
		s, is := t.(xml.StartElement)
		switch {
		case !is:
			r.broken = true
			r.reject(r.line(), "found an end tag outside of every element")
		case a != nil:
			r.reject(r.line(), "found a second root element %s, want one algo element in a file", s.Name.Local)
			r.broken = true
		case s.Name.Local != "algo":
			r.reject(r.line(), "found root element %s, want algo", s.Name.Local)
			r.broken = true
		default:
			a = r.root(r.start(s))
		}
	}
	if a == nil && len(r.findings) == 0 {
		r.reject(1, "found no element, want algo")
	}
	return a
}

func (r *reader) root(e *element) *algo {
	a := &algo{line: e.line}
	a.name, _ = r.must(e, "name")
	if n := len(a.name); n > 63 {
		r.reject(e.line, "attribute name of algo: found %d characters, want at most 63", n)
	}
	switch v, has := r.must(e, "proto"); {
	case !has || v == "Simple":
	case v == "LL":
		a.proto = plan.LL
	case v == "LL128":
		a.proto = plan.LL128
	default:
		r.reject(e.line, "attribute proto of algo: found %q, want Simple, LL or LL128", shorten(v))
	}
	a.ngpus = r.number(e, "ngpus", 1, maxRanks)
	a.channels = r.number(e, "nchannels", 0, math.MaxInt32)
	a.chunks = r.number(e, "nchunksperloop", 1, maxChunks)
	coll, has := r.must(e, "coll")
	if _, known := collectives[coll]; !known && has {
		var names []string
		for n := range collectives {
			names = append(names, n)
		}
		slices.Sort(names)
		r.reject(e.line, "attribute coll of algo: %v", near.Unknown("collective", shorten(coll), names))
	}
	a.coll = coll
	a.inPlace = r.number(e, "inplace", 0, 1) == 1
	out, has := r.optional(e, "outofplace", 0, 0, 1)
	a.outOfPlace, a.hasOut = out == 1, has
	a.minBytes, a.hasMin = r.optional(e, "minBytes", 0, 0, math.MaxInt64)
	a.maxBytes, a.hasMax = r.optional(e, "maxBytes", 128<<20, 0, math.MaxInt64)
	a.threads, a.hasThreads = r.optional(e, "nthreads", 0, 0, 1024)
	if a.threads%32 != 0 {
		r.reject(e.line, "attribute nthreads of algo: found %d, want a multiple of 32", a.threads)
	}
	r.rest(e)
	r.children(e, func(c *element) {
		if c.name == "gpu" {
			r.gpu(a, c)
		} else {
			r.skip(c, "algo")
		}
	})
	if r.full() {
		return a
	}
	for len(a.gpus) < a.ngpus {
		a.gpus = append(a.gpus, gpu{})
		if len(a.gpus) > 64 { // enough to reject the file
			break
		}
	}
	cells := a.ngpus * 2 * a.chunks
	for id := range a.gpus {
		cells += a.gpus[id].chunks[input] + a.gpus[id].chunks[output] + a.gpus[id].chunks[scratch]
	}
	if cells > maxCells {
		r.reject(a.line, "the buffers of all gpus, with the inputs and results of the collective, have %d chunks; want at most %d", cells, maxCells)
	}
	for id := range a.gpus {
		if !a.gpus[id].given {
			r.reject(a.line, "gpu %d of %d is missing", id, a.ngpus)
			break
		}
	}
	return a
}

func (r *reader) gpu(a *algo, e *element) {
	id := r.number(e, "id", 0, int64(a.ngpus)-1)
	g := gpu{line: e.line, given: true}
	for i, name := range []string{"i_chunks", "o_chunks", "s_chunks"} {
		g.chunks[i] = r.number(e, name, 0, maxChunks)
	}
	r.rest(e)
	nodes := 1
	r.children(e, func(c *element) {
		if c.name == "tb" {
			nodes++
			nodes += r.block(&g, id, a.ngpus, c)
		} else {
			r.skip(c, "gpu")
		}
	})
	if r.full() {
		return
	}
	slices.SortStableFunc(g.blocks, func(x, y block) int { return x.id - y.id })
	for i := range g.blocks {
		switch id := g.blocks[i].id; {
		case i > 0 && id == g.blocks[i-1].id:
			r.reject(g.blocks[i].line, "attribute id of tb: %d is there twice, first at line %d", id, g.blocks[i-1].line)
			return
		case id != i:
			r.reject(g.blocks[i].line, "attribute id of tb: found %d, and no tb %d on this gpu; want 0, 1, 2, ...", id, i)
			return
		}
	}
	for len(a.gpus) <= id {
		a.gpus = append(a.gpus, gpu{})
	}
	if a.gpus[id].given {
		r.reject(e.line, "attribute id of gpu: %d is there twice, first at line %d", id, a.gpus[id].line)
		return
	}
	a.gpus[id] = g
	a.nodes = max(a.nodes, nodes)
}

func (r *reader) block(g *gpu, rank, ranks int, e *element) (steps int) {
	b := block{line: e.line, id: r.number(e, "id", 0, maxBlocks)}
	b.send = r.number(e, "send", -1, int64(ranks)-1)
	b.recv = r.number(e, "recv", -1, int64(ranks)-1)
	b.channel = r.number(e, "chan", 0, maxChannels-1)
	for _, p := range []struct {
		name string
		peer int
	}{{"send", b.send}, {"recv", b.recv}} {
		if p.peer == rank {
			r.reject(e.line, "attribute %s of tb: %d is the gpu itself, want another rank or -1", p.name, rank)
		}
	}
	r.rest(e)
	r.children(e, func(c *element) {
		if c.name != "step" {
			r.skip(c, "tb")
			return
		}
		st := r.step(g, &b, c)
		r.children(c, func(x *element) { r.skip(x, "step") })
		if st.index != len(b.steps) {
			what := "a gap"
			if st.index < len(b.steps) {
				what = "a duplicate, or out of order"
			}
			r.reject(c.line, "attribute s of step: found %d, want %d (%s)", st.index, len(b.steps), what)
			st.index = len(b.steps)
		}
		b.steps = append(b.steps, st)
	})
	g.blocks = append(g.blocks, b)
	return len(b.steps)
}

func (r *reader) step(g *gpu, b *block, e *element) step {
	st := step{line: e.line}
	st.index = r.number(e, "s", 0, maxSteps)
	name, _ := r.must(e, "type")
	i := slices.Index(opNames, name)
	switch {
	case name == "ra":
		r.reject(e.line, "attribute type of step: found \"ra\", which no runtime performs; want one of %s", strings.Join(opNames[1:], ", ")+", nop")
	case i < 0:
		r.reject(e.line, "attribute type of step: found %q, want one of %s", shorten(name), strings.Join(opNames[1:], ", ")+", nop")
	default:
		st.op = op(i)
	}
	st.src = r.place(e, "src")
	st.dst = r.place(e, "dst")
	st.count = r.number(e, "cnt", 0, maxCount)
	st.depBlock = r.number(e, "depid", -1, maxBlocks)
	st.depStep = r.number(e, "deps", -1, maxSteps)
	st.hasDep = r.number(e, "hasdep", 0, 1) == 1
	r.rest(e)
	if st.op.sends() && b.send < 0 {
		r.reject(e.line, "attribute type of step: %s sends, but its tb (line %d) has send=-1", st.op, b.line)
	}
	if st.op.receives() && b.recv < 0 {
		r.reject(e.line, "attribute type of step: %s receives, but its tb (line %d) has recv=-1", st.op, b.line)
	}
	check := func(name string, p place, used bool) {
		if !used || st.count == 0 {
			return
		}
		if n := g.chunks[p.buffer]; p.chunk < 0 || p.chunk+st.count > n {
			r.reject(e.line, "attribute %soff of step: %s uses chunks %d to %d of buffer %c, which has %d", name, st.op,
				p.chunk, p.chunk+st.count-1, bufferNames[p.buffer], n)
		}
	}
	check("src", st.src, st.op.readsSrc())
	check("dst", st.dst, st.op.writesDst())
	return st
}

func (r *reader) place(e *element, side string) place {
	v, has := r.must(e, side+"buf")
	p := place{buffer: max(strings.Index(bufferNames, v), 0)}
	if has && (len(v) != 1 || !strings.Contains(bufferNames, v)) {
		r.reject(e.line, "attribute %sbuf of step: found %q, want i, o or s", side, shorten(v))
	}
	p.chunk = r.number(e, side+"off", -1, maxChunks)
	return p
}
