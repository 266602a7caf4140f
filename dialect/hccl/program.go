package hccl

import (
	"kernbench/mem"
	"kernbench/tl"
)

// perform is the program of a task, which the communication engine runs: each unit when it is
// committed, in order.
func (t *task) perform(c *tl.Context, _ tl.Args) {
	b := openStatus(c, t.g)
	for unit := range t.units() {
		b.await(c, b.committed, t.handle, unit+1)
		switch {
		case t.op == 0:
			other := openStatus(c, t.afterGroup)
			other.await(c, other.finished, t.after, 1)
		case t.op == OpBatchWrite:
			t.write(c)
		case !t.silent():
			tl.DriverOf(c).BeginTurn(t.turn(unit))
			t.exchange(c, unit)
			tl.DriverOf(c).EndTurn()
		}
		if t.unitsPerTurn() > 1 {
			b.add(c, b.steps, t.handle, 1)
		}
		if (unit+1)%t.unitsPerTurn() == 0 {
			b.add(c, b.done, t.handle, 1)
		}
	}
	b.add(c, b.finished, t.handle, 1)
}

// exchange performs a unit by its algorithm, as many elements at a time as the staging
// buffers hold.
func (t *task) exchange(c *tl.Context, unit int) {
	st := t.g.staging[stagingKey{t.row, t.carrier.Size()}]
	in, out := t.blocks(unit)
	if t.op == OpAlltoAll || t.op == OpAlltoAllV { // the algorithm itself splits into parts of the size of its slots
		a := t.args(st, in, out)
		a.InBlocks, a.OutBlocks, a.Ints = in, out, t.steps(unit)
		a.Shards[t.me], a.Outs[t.me] = t.send, t.recv
		t.run(c, a)
		return
	}
	per := st.elems
	if t.op == OpReduceScatter {
		per /= t.world()
	}
	for lo := 0; lo < t.count; lo += per {
		n := min(per, t.count-lo)
		a := t.args(st, cut(in, lo, n), cut(out, lo, n))
		t.run(c, a)
	}
}

// cut returns elements [lo, lo+n) of each block.
func cut(blocks []mem.Chunk, lo, n int) []mem.Chunk {
	parts := make([]mem.Chunk, len(blocks))
	for j, b := range blocks {
		parts[j] = mem.Chunk{Lo: b.Lo + lo, N: n}
	}
	return parts
}

// args returns the arguments of the algorithm: a contribution and a result in these blocks.
func (t *task) args(st *staging, in, out []mem.Chunk) tl.Args {
	w, uses := t.g.members[t.me].take(st)
	a := tl.Args{
		Op: t.reduce.TL(), DType: t.carrier, Windows: []*mem.Window{w}, Uses: uses,
		Shards: make([]mem.Addr, t.world()), Outs: make([]mem.Addr, t.world()), OutElems: make([]int, t.world()),
	}
	a.Shards[t.me], a.Outs[t.me] = t.send, t.recv
	for _, b := range in {
		a.NElem += b.N
	}
	for _, b := range out {
		a.OutElems[t.me] += b.N
	}
	if len(in) > 1 {
		a.InBlocks = in
	} else {
		a.Shards[t.me] = ref(t.send, t, in[0].Lo, 0).Addr
	}
	if len(out) > 1 {
		a.OutBlocks = out
	} else {
		a.Outs[t.me] = ref(t.recv, t, out[0].Lo, 0).Addr
	}
	return a
}

// run calls the algorithm. Afterwards all its stores are visible, and its staging buffer can be
// used again after the other one.
func (t *task) run(c *tl.Context, a tl.Args) {
	t.row.Kernel(c, a)
	c.Quiet()
	c.PipeBarrier()
}

// steps returns which of an exchange's steps a unit performs, as numbers for the algorithm. They
// are the first step, how many, and how many ranks share a server. Nil: those of an exchange at
// once.
func (t *task) steps(unit int) []int {
	switch per := t.unitsPerTurn(); {
	case t.cc.StepSize() > 0:
		return []int{unit % per * t.cc.StepSize(), t.cc.StepSize(), 1}
	case t.cc.AlgConfig().Level1 != "":
		n, _ := t.g.comm.perServer()
		return []int{0, t.world() / n, n}
	}
	return nil
}
