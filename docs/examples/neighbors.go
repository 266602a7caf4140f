// guide: override part

package main

import (
	"kernbench/tl"
)

// evenWest removes the direction west from odd ranks. They can still receive from the west, but not
// send there.
func evenWest(rank, world int, m map[tl.Dir]int) map[tl.Dir]int {
	if rank%2 == 1 {
		delete(m, tl.West)
	}
	return m
}

// pairs: odd ranks send east, even ranks send west.
func pairs(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	if c.Rank()%2 == 1 {
		c.Send(tl.East, c.Load(mine))
		c.Store(mine, c.Recv(tl.East, mine.Shape, mine.DType))
		return
	}
	c.Send(tl.West, c.Load(mine))
	c.Store(mine, c.Recv(tl.West, mine.Shape, mine.DType))
}

// end

// guide: override whole
// skip makes a ring that leaves out every other rank. It has no opposite direction.
func skip(rank, world int, m map[tl.Dir]int) map[tl.Dir]int {
	return map[tl.Dir]int{tl.East: (rank + 2) % world}
}

func twoFurther(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank())
	c.Send(tl.East, c.Load(mine))
	c.Store(mine, c.Recv(tl.West, mine.Shape, mine.DType))
}

// end

// guide: override none
// keep leaves all ranks the neighbours that they have.
func keep(rank, world int, m map[tl.Dir]int) map[tl.Dir]int { return nil }

// end
