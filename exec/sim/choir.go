package sim

import (
	"iter"

	"kernbench/mem"
	"kernbench/oplog"
	"kernbench/tl"
)

// choir is the ranks of a group, whose data is carried out in unison.
type choir struct {
	*unison
	*score
	data   *oplog.Unison
	group  *tl.Group
	voices []voice
	idle   []*tl.Context // of those that have ended

	part   []beat     // that the voices are asked for
	at     []mem.Addr // of its accesses by all ranks, one access after the other
	stride int        // from one access to the next
	access int        // to be carried out next
	line   int        // of the score's script, likewise
	until  int        // line before which the voices wait
	cuts   map[cut][]int32

	tensors []oplog.Chord   // by cell
	sent    [][]oplog.Chord // by ring: what is on its way
}

// cut is an operand of a line, the first or the second, which begins elsewhere in its tensor on some
// ranks than on others.
type cut struct {
	line   int
	second bool
}

// beatsAtOnce is how many beats voices are asked for at a time: enough for what a kernel has in the
// cache to be of use, and few enough for the addresses of all ranks to be kept.
const beatsAtOnce = 512

// gather makes the voices, which stand at the beginning of their kernels.
func (c *choir) gather() {
	n := len(c.group.PEs)
	c.voices, c.sent = make([]voice, n), make([][]oplog.Chord, len(c.group.Wiring[0].Out))
	c.cuts = map[cut][]int32{}
	c.stride = n + 8 // not a power of two, which would have all accesses of a rank in one corner of a cache
	for r := range c.voices {
		v := &c.voices[r]
		v.choir, v.rank = c, r
		v.read = tl.Reading{Script: &c.script, Wait: v.wait, Apart: c.stride, Cut: v.cut}
	}
}

// disperse ends their coroutines.
func (c *choir) disperse() {
	for r := range c.voices {
		if v := &c.voices[r]; v.stop != nil {
			v.stop()
		}
	}
}

// ask has all ranks say where they do a part of the score, which is the last one or not.
func (c *choir) ask(part []beat, last bool) error {
	accesses, lines := 0, 0
	for i := range part {
		if part[i].accesses() {
			accesses++
		}
		if part[i].kind != beatDrop {
			lines++
		}
	}
	if need := accesses * c.stride; need > len(c.at) {
		c.at = make([]mem.Addr, need)
	}
	c.part, c.access, c.line = part, 0, c.until
	c.until += lines
	clear(c.cuts)
	for r := range c.voices {
		v := &c.voices[r]
		v.read.At, v.read.Place, v.read.Until = c.at, r, c.until
		if v.next == nil { // if it ends at once, its coroutine and context are those of the next one
			v.next, v.stop = iter.Pull(v.sing)
		}
		if _, more := v.next(); v.err == nil && (more == last || v.read.Next < c.until) {
			v.err = v.unlike("it ends before or after rank 0")
		}
		if v.err != nil {
			return v.err
		}
	}
	return nil
}

// perform carries out a beat.
func (c *choir) perform(b *beat) {
	u := c.data
	switch b.kind {
	case beatLoad:
		c.fill(b.dst, u.Load(c.where(), b.typ, int(b.n)))
	case beatStore:
		v := c.operand(b, b.a, false, b.aOff)
		u.Store(c.where(), b.typ, v, int(b.n))
		u.Release(v)
	case beatBinary:
		v, w := c.operand(b, b.a, false, b.aOff), c.operand(b, b.b, true, b.bOff)
		c.fill(b.dst, u.Binary(b.by, b.typ, b.n, v, w))
		u.Release(v)
		u.Release(w)
	case beatScale:
		v := c.operand(b, b.a, false, b.aOff)
		c.fill(b.dst, u.Scale(b.by, b.typ, b.n, v, b.factor))
		u.Release(v)
	case beatSend:
		c.sent[b.port] = append(c.sent[b.port], c.operand(b, b.a, false, b.aOff))
	case beatSendRef:
		c.sent[b.port] = append(c.sent[b.port], u.Load(c.where(), b.typ, int(b.n)))
	case beatRecv:
		q := &c.sent[c.feeds[b.port]]
		v := (*q)[0]
		*q = (*q)[:copy(*q, (*q)[1:])]
		c.fill(b.dst, u.Came(v, c.from[b.port]))
	case beatDrop:
		u.Release(c.tensors[b.a])
		c.tensors[b.a] = oplog.Chord{}
		return // it has no line
	}
	c.line++
}

// operand is one more of the tensor in a cell, from an element on, which ranks may have of their own.
func (c *choir) operand(b *beat, cell int32, second bool, off int32) oplog.Chord {
	if b.n == 0 {
		return oplog.Chord{}
	}
	v := c.tensors[cell]
	if len(c.cuts) > 0 {
		if from := c.cuts[cut{c.line, second}]; from != nil {
			return c.data.Cut(v, from, b.typ, b.n)
		}
	}
	return v.From(off)
}

// where are the addresses of all ranks in the access at hand.
func (c *choir) where() []mem.Addr {
	at := c.at[c.access*c.stride:][:len(c.voices)]
	c.access++
	return at
}

// fill gives a cell its tensor.
func (c *choir) fill(cell int32, v oplog.Chord) {
	for int(cell) >= len(c.tensors) {
		c.tensors = append(c.tensors, oplog.Chord{})
	}
	c.tensors[cell] = v
}
