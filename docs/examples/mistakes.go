// guide: sendNorth

package main

import "kernbench/tl"

func sendNorth(c *tl.Context, a tl.Args) {
	c.Send(tl.North, c.Load(a.Shard(c.Rank()))) // on ring_1d
}

// end

// guide: onlySend
func onlySend(c *tl.Context, a tl.Args) {
	own := c.Load(a.Shard(c.Rank()))
	for range 100 {
		c.Send(tl.East, own)
	}
}

// end

// guide: sendTwice
func sendTwice(c *tl.Context, a tl.Args) {
	own := c.Load(a.Shard(c.Rank()))
	c.Send(tl.East, own)
	c.Send(tl.East, own)
	c.Recv(tl.West, own.Shape(), own.DType())
}

// end

// guide: recvFirst
func recvFirst(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	got := c.Recv(tl.West, mine.Shape, mine.DType)
	c.Send(tl.East, c.Load(mine))
	c.Store(mine, got)
}

// end

// guide: forgetful
func forgetful(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	if c.Rank() > 0 { // rank 0 sends nothing
		c.Send(tl.East, c.Load(mine))
	}
	c.Store(mine, c.Recv(tl.West, mine.Shape, mine.DType))
}

// end

// guide: tooLate
func tooLate(c *tl.Context, a tl.Args) {
	own := c.Load(a.Shard(c.Rank()))
	c.Send(tl.East, own)
	c.Send(tl.East, own)
	first := c.Recv(tl.West, own.Shape(), own.DType())
	second := c.Recv(tl.West, own.Shape(), own.DType())
	c.Add(first, second) // first's slot went back one line above
}

// end

// guide: otherShape
func otherShape(c *tl.Context, a tl.Args) {
	c.Send(tl.East, c.Load(a.Shard(c.Rank())))
	c.Recv(tl.West, tl.Dims(a.NElem+1), a.DType)
}

// end

// guide: jumpsQueue
func jumpsQueue(c *tl.Context, a tl.Args) {
	own := c.Load(a.Shard(c.Rank()))
	c.Send(tl.East, own)
	c.Send(tl.East, own)
	f := c.RecvAsync(tl.West, own.Shape(), own.DType())
	c.Recv(tl.West, own.Shape(), own.DType()) // before the announced one
	c.Wait(f)
}

// end

// guide: hoarder
func hoarder(c *tl.Context, a tl.Args) { // with 64 bytes of scratch
	first := c.Full(tl.Dims(4), a.DType, 1)
	for range 8 {
		c.Full(tl.Dims(4), a.DType, 2)
	}
	c.Add(first, first) // reclaimed: it was the longest unused
}

// end

// guide: tooLong
func tooLong(c *tl.Context, a tl.Args) { // with 64 bytes of scratch
	c.Full(tl.Dims(100), a.DType, 1)
}

// end

// guide: outside
func outside(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	c.Load(c.Ref(mine.Addr, tl.Dims(1000), a.DType)) // the shard is shorter
}

// end

// guide: differentLen
func differentLen(c *tl.Context, a tl.Args) {
	c.Add(c.Full(tl.Dims(4), a.DType, 1), c.Full(tl.Dims(3), a.DType, 1))
}

// end
