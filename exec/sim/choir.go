package sim

import (
	"iter"
	"slices"

	"kernbench/fault"
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

	part   []beat     // that the voices are asked for
	at     []mem.Addr // of its accesses by all ranks, one access after the other
	stride int        // from one access to the next
	access int        // to be carried out next
	cuts   map[cut][]int32

	tensors []oplog.Chord   // by cell
	sent    [][]oplog.Chord // by ring: what is on its way
}

// cut is an operand of a beat, the first or the second, which begins elsewhere in its tensor on some
// ranks than on others.
type cut struct {
	beat   int // in the part
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
		v.next, v.stop = iter.Pull(v.sing)
	}
}

// disperse ends their coroutines.
func (c *choir) disperse() {
	for r := range c.voices {
		c.voices[r].stop()
	}
}

// ask has all ranks say where they do a part of the score, which is the last one or not.
func (c *choir) ask(part []beat, last bool) error {
	accesses := 0
	for i := range part {
		if part[i].accesses() {
			accesses++
		}
	}
	if need := accesses * c.stride; need > len(c.at) {
		c.at = make([]mem.Addr, need)
	}
	c.part, c.access = part, 0
	clear(c.cuts)
	for r := range c.voices {
		v := &c.voices[r]
		v.beat, v.place = 0, r
		if _, more := v.next(); v.err == nil && (more == last || v.beat < len(part)) {
			v.err = v.unlike("it ends before or after rank 0")
		}
		if v.err != nil {
			return v.err
		}
	}
	return nil
}

// perform carries out beat i of the part.
func (c *choir) perform(i int) {
	u, b := c.data, &c.part[i]
	switch b.kind {
	case beatLoad:
		c.fill(b.dst, u.Load(c.where(), b.typ, int(b.n)))
	case beatStore:
		v := c.operand(i, b.a, false, b.aOff)
		u.Store(c.where(), b.typ, v, int(b.n))
		u.Release(v)
	case beatBinary:
		v, w := c.operand(i, b.a, false, b.aOff), c.operand(i, b.b, true, b.bOff)
		c.fill(b.dst, u.Binary(b.by, b.typ, b.n, v, w))
		u.Release(v)
		u.Release(w)
	case beatScale:
		v := c.operand(i, b.a, false, b.aOff)
		c.fill(b.dst, u.Scale(b.by, b.typ, b.n, v, b.factor))
		u.Release(v)
	case beatSend:
		c.sent[b.port] = append(c.sent[b.port], c.operand(i, b.a, false, b.aOff))
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
	}
}

// operand is one more of the tensor in a cell, from an element on, which ranks may have of their own.
func (c *choir) operand(beat int, cell int32, second bool, off int32) oplog.Chord {
	if c.part[beat].n == 0 {
		return oplog.Chord{}
	}
	v := c.tensors[cell]
	if len(c.cuts) > 0 {
		if from := c.cuts[cut{beat, second}]; from != nil {
			return c.data.Cut(v, from, c.part[beat].typ, c.part[beat].n)
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

// voice is the kernel of a rank, run for its addresses: the Core of what it does.
type voice struct {
	*choir
	rank    int
	ctx     *tl.Context
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	beat    int // in the part
	place   int // in choir.at
	leaving bool
	err     error
}

// sing runs the kernel to its end.
func (v *voice) sing(yield func(struct{}) bool) {
	v.yield = yield
	v.ctx = tl.NewContext(v.e.setup(v.launch, v.group, v.rank, v))
	abandoned, err := v.ctx.Run(v.launch.Kernel, v.group.Args)
	if v.err == nil && !v.leaving {
		if v.err = err; abandoned {
			v.err = v.unlike("it gives up")
		}
	}
}

// Do notes where an instruction is, once its part is asked for.
func (v *voice) Do(in *tl.Instr) {
	for {
		for v.beat < len(v.part) && v.part[v.beat].kind == beatDrop { // which are told of rank 0 only
			v.beat++
		}
		if v.beat < len(v.part) {
			break
		}
		if !v.yield(struct{}{}) {
			v.leaving = true
			v.ctx.Abandon()
		}
	}
	b := &v.part[v.beat]
	if !b.is(in) {
		v.err = v.unlike("it goes on otherwise than rank 0")
		v.ctx.Abandon()
	}
	if in.AOff != b.aOff {
		v.cut(cut{v.beat, false}, b.aOff, in.AOff)
	}
	if in.BOff != b.bOff {
		v.cut(cut{v.beat, true}, b.bOff, in.BOff)
	}
	v.beat++
	switch b.kind {
	case beatLoad, beatStore, beatSendRef:
		v.at[v.place] = in.Addr
		v.place += v.stride
	case beatRecv:
		got(in)
	}
}

// cut notes that the operand of a beat begins elsewhere in its tensor than that of rank 0.
func (v *voice) cut(o cut, first, off int32) {
	all := v.cuts[o]
	if all == nil {
		all = slices.Repeat([]int32{first}, len(v.voices))
		v.cuts[o] = all
	}
	all[v.rank] = off
}

// unlike says that a kernel is not what its launch says.
func (v *voice) unlike(how string) error {
	pe := v.group.PEs[v.rank]
	return &fault.Misuse{
		Place:  fault.Place{Rank: v.rank, PE: v.e.m.PEName(int(pe)), Op: v.launch.Name},
		Reason: "the launch says that its ranks are alike: " + how,
	}
}
