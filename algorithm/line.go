package algorithm

import (
	"kernbench/tl"
)

// line is a vector that n ranks in a line reduce and gather, in n chunks. Chunk k is summed at rank
// k, from both ends, and goes back to both.
type line struct {
	c           *tl.Context
	op          tl.ReduceOp
	ahead, back tl.Dir // to the next rank, and to the one before
	me, n       int
	chunk       func(k int) tl.Ref    // of the result
	own         func(k int) tl.Tensor // what this rank brings to chunk k
	part        tl.Tensor             // the rank's chunk
	lent        bool                  // what it brings is part of what another line has
}

// ofMemory brings what lies in memory, and leaves the result there, or elsewhere.
func (l *line) ofMemory(v, result tl.Ref) *line {
	l.chunk = func(k int) tl.Ref { return result.Chunk(l.n, k) }
	l.own = chunksInMemory(l.c, v, l.n)
	return l
}

// after brings the part that another line leaves this rank with.
func (l *line) after(first *line) *line {
	result := first.mine()
	l.chunk = func(k int) tl.Ref { return result.Chunk(l.n, k) }
	l.own, l.lent = chunksInHand(first.part, l.n), true
	return l
}

// tile brings tile i of what lies in memory in n parts, and leaves the result there.
func (l *line) tile(part func(k int) tl.Ref, i int) *line {
	l.chunk = func(k int) tl.Ref { return strip(part(k), i) }
	l.own = func(k int) tl.Tensor { return l.c.Load(l.chunk(k)) }
	return l
}

func (l *line) mine() tl.Ref { return l.chunk(l.me) }

// reduce takes n-1 steps. Chunks with the longest path go first. So each is forwarded in the step
// after its arrival, and both directions are equally busy. Who has the part of the sum then frees
// it.
func (l *line) reduce() {
	l.hold(l.own(l.me))
	for step := range l.n - 1 {
		l.pass(l.n-1-step, l.ahead, l.back, func(k int) bool { return k > l.me }, l.me > 0)
		l.pass(step, l.back, l.ahead, func(k int) bool { return k < l.me }, l.me < l.n-1)
	}
}

// pass adds this rank's contribution to chunk k to the received sum, if there is one. It forwards
// the result, if the chunk's place is beyond.
func (l *line) pass(k int, to, from tl.Dir, beyond func(k int) bool, comes bool) {
	switch {
	case k == l.me && comes:
		was := l.part
		l.hold(l.c.Combine(l.op, was, l.c.Recv(from, was.Shape(), was.DType())))
		if !l.lent {
			l.c.Free(was)
		}
	case beyond(k):
		sum := l.own(k)
		if comes {
			sum = l.c.Combine(l.op, sum, l.c.Recv(from, sum.Shape(), sum.DType()))
		}
		l.c.Send(to, sum)
	}
}

// hold keeps the rank's chunk in scratch memory. It may wait for data from the other end while more
// data passes than scratch memory can hold. If the chunk is lent, the whole tensor that it is part
// of is kept.
func (l *line) hold(part tl.Tensor) {
	if l.part = part; !l.lent {
		l.c.Pin(part)
	}
}

// gather takes n-1 steps, too: a rank sends its own chunk both ways, and then what comes.
func (l *line) gather() {
	ahead, back := l.part, l.part // to be sent next
	for step := range l.n - 1 {
		if l.me < l.n-1 && step <= l.me {
			l.c.Send(l.ahead, ahead)
		}
		if l.me > 0 && step <= l.n-1-l.me {
			l.c.Send(l.back, back)
		}
		if step < l.me {
			ahead = l.take(l.back, l.me-1-step)
		}
		if step < l.n-1-l.me {
			back = l.take(l.ahead, l.me+1+step)
		}
	}
}

// take receives chunk k of the result.
func (l *line) take(from tl.Dir, k int) tl.Tensor {
	chunk := l.chunk(k)
	t := l.c.Recv(from, chunk.Shape, chunk.DType)
	l.c.Store(chunk, t)
	return t
}
