package faulty

import (
	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Kernels over a window with typical mistakes. Each rank writes its vector to its own copy of the
// window and reads the copies of all ranks. The kernels differ in their operations before the
// reads.

func stageAndRead(before func(c *tl.Context, ready tl.Signal)) algorithm.Algorithm {
	return algorithm.Algorithm{
		Collective: "all_gather", Topology: "none",
		Kernel: func(c *tl.Context, a tl.Args) {
			me, w := c.Rank(), a.Window(0)
			data, out := c.Data(w, "data"), a.Out(me, c.WorldSize()*a.NElem)
			c.Copy(c.Local(data), a.Shard(me))
			before(c, c.Signals(w, "ready"))
			for peer := range c.WorldSize() {
				c.Copy(out.Slice(peer*a.NElem, a.NElem), c.At(data, peer))
			}
		},
		Window: func(world, n int, t dtype.Type) (*mem.Layout, error) {
			return mem.NewLayout(0, []mem.Buffer{
				{Name: "ready", Parts: []mem.Part{mem.SignalPart("", mem.Int64, world)}},
				{Name: "data", Parts: []mem.Part{mem.DataPart("", t, n)}},
			})
		},
	}
}

func registered(name string, a algorithm.Algorithm) *algorithm.Algorithm {
	a.Name = name
	return algorithm.Register(a)
}

func notifyAll(c *tl.Context, ready tl.Signal) {
	for peer := range c.WorldSize() {
		c.Notify(ready.At(c.Rank()), peer, tl.SignalAdd, 1)
	}
}

var (
	// Hasty reads without waiting.
	Hasty = registered("lab_hasty", stageAndRead(func(c *tl.Context, ready tl.Signal) {
		c.PipeBarrier()
		notifyAll(c, ready)
	}))
	// Undrained notifies the others before its stores are complete.
	Undrained = registered("lab_undrained", stageAndRead(func(c *tl.Context, ready tl.Signal) {
		notifyAll(c, ready)
		c.WaitUntil(ready, tl.GE, 1)
	}))
	// Meets has no mistake: it synchronizes all ranks.
	Meets = registered("lab_meets", stageAndRead(func(c *tl.Context, ready tl.Signal) {
		c.PipeBarrier()
		notifyAll(c, ready)
		c.WaitUntil(ready, tl.GE, 1)
	}))
	// Anyone continues after the first notification from any rank.
	Anyone = registered("lab_anyone", stageAndRead(func(c *tl.Context, ready tl.Signal) {
		c.PipeBarrier()
		for peer := range c.WorldSize() {
			if peer != c.Rank() {
				c.Notify(ready.At(0), peer, tl.SignalAdd, 1)
			}
		}
		c.WaitUntil(ready.At(0), tl.GE, 1)
	}))
	// Forgets lets rank 1 wait for a word that no rank updates.
	Forgets = registered("lab_forgets", stageAndRead(func(c *tl.Context, ready tl.Signal) {
		if c.Rank() == 1 {
			c.WaitUntil(ready.At(0), tl.EQ, 7)
		}
	}))
	// Piles adds the vector of each rank to the copy of every rank, in the order of arrival.
	Piles = algorithm.Register(algorithm.Algorithm{
		Name: "lab_piles", Collective: "all_reduce", Topology: "none",
		Kernel: func(c *tl.Context, a tl.Args) {
			data := c.Data(a.Window(0), "data")
			for peer := range c.WorldSize() {
				c.PutCombine(data, peer, a.Shard(c.Rank()), a.Op)
			}
			c.Quiet()
			ready := c.Signals(a.Window(0), "ready")
			notifyAll(c, ready)
			c.WaitUntil(ready, tl.GE, 1)
			c.Copy(a.Out(c.Rank(), a.NElem), c.Local(data))
		},
		Window: Meets.Window,
	})
)

// sumUnderLock adds up the vectors in memory of rank 0, under a lock that admits a number of ranks.
func sumUnderLock(most int64) algorithm.Algorithm {
	return algorithm.Algorithm{
		Collective: "all_reduce", Topology: "none", Atomics: true,
		Kernel: func(c *tl.Context, a tl.Args) {
			w := a.Window(0)
			lock, sum, mine := c.Signals(w, "lock"), c.At(c.Data(w, "sum"), 0), a.Shard(c.Rank())
			for c.FetchAdd(lock, 0, 1) >= most {
				c.FetchAdd(lock, 0, -1)
			}
			c.Store(sum, c.Combine(a.Op, c.Load(sum), c.Load(mine)))
			c.Quiet()
			c.FetchAdd(lock, 0, -1)
			c.Barrier(w.Team)
			c.Store(a.Out(c.Rank(), a.NElem), c.Load(sum))
		},
		Window: func(world, n int, t dtype.Type) (*mem.Layout, error) {
			return mem.NewLayout(0, []mem.Buffer{
				{Name: "lock", Parts: []mem.Part{mem.SignalPart("", mem.Int64, 1)}},
				{Name: "sum", Parts: []mem.Part{mem.DataPart("", t, n)}},
			})
		},
	}
}

var (
	// OneAtATime is right.
	OneAtATime = registered("lab_one_at_a_time", sumUnderLock(1))
	// TwoAtATime admits two ranks to the sum.
	TwoAtATime = registered("lab_two_at_a_time", sumUnderLock(2))
)

// stageWithAtomics is stageAndRead with atomics on whose values a kernel acts or does not act. meet
// gets the words of the window, one for each member.
func stageWithAtomics(name string, meet func(c *tl.Context, words tl.Signal)) *algorithm.Algorithm {
	a := stageAndRead(func(c *tl.Context, words tl.Signal) {
		c.Quiet()
		meet(c, words)
	})
	a.Atomics = true
	return registered(name, a)
}

var (
	// CountsIn synchronizes by fetch-adds whose values no rank uses.
	CountsIn = stageWithAtomics("lab_counts_in", func(c *tl.Context, words tl.Signal) {
		for peer := range c.WorldSize() {
			c.FetchAdd(words.At(0), peer, 1)
		}
		c.WaitUntil(words.At(0), tl.GE, int64(c.WorldSize()))
	})
	// CountsInAndLooks performs one more load if it arrives last.
	CountsInAndLooks = stageWithAtomics("lab_counts_in_and_looks", func(c *tl.Context, words tl.Signal) {
		for peer := range c.WorldSize() {
			if c.FetchAdd(words.At(0), peer, 1) == int64(c.WorldSize()-1) {
				c.Full(tl.Dims(1), dtype.F32, 1)
			}
		}
		c.WaitUntil(words.At(0), tl.GE, int64(c.WorldSize()))
	})
	// LastGoesOn synchronizes by fetch-adds, and its last rank does not wait.
	LastGoesOn = stageWithAtomics("lab_last_goes_on", func(c *tl.Context, words tl.Signal) {
		for peer := range c.WorldSize() {
			c.FetchAdd(words.At(0), peer, 1)
		}
		if c.Rank() < c.WorldSize()-1 {
			c.WaitUntil(words.At(0), tl.GE, int64(c.WorldSize()))
		}
	})
	// Swaps synchronizes by words that one rank sets and another resets.
	Swaps = stageWithAtomics("lab_swaps", func(c *tl.Context, words tl.Signal) {
		for peer := range c.WorldSize() {
			for c.CompareSwap(words.At(c.Rank()), peer, 0, 1) != 0 {
			}
		}
		for peer := range c.WorldSize() {
			for c.CompareSwap(words.At(peer), c.Rank(), 1, 0) != 1 {
			}
		}
	})
	// Locks takes and releases a lock without conflicts.
	Locks = stageWithAtomics("lab_locks", func(c *tl.Context, words tl.Signal) { lockAndMeet(c, words) })
	// LocksAndCounts performs one more operation if it had to retry.
	LocksAndCounts = stageWithAtomics("lab_locks_and_counts", func(c *tl.Context, words tl.Signal) {
		if lockAndMeet(c, words) > 1 {
			c.Full(tl.Dims(1), dtype.F32, 1)
		}
	})
	// SwapsIfItCan has a rank that takes the lock of another one if it finds it taken, in any case.
	SwapsIfItCan = stageWithAtomics("lab_swaps_if_it_can", func(c *tl.Context, words tl.Signal) {
		if c.Rank() == 0 {
			for c.CompareSwap(words.At(0), 0, 0, 7) != 0 {
			}
			c.CompareSwap(words.At(0), 0, 7, 0)
		} else {
			c.CompareSwap(words.At(0), 0, 7, 8)
		}
		meetAt(c, words.At(1))
	})
	// TriesOnce performs one more operation if it gets the lock at once.
	TriesOnce = stageWithAtomics("lab_tries_once", func(c *tl.Context, words tl.Signal) {
		if c.CompareSwap(words.At(0), 0, 0, 1) == 0 {
			c.Full(tl.Dims(1), dtype.F32, 1)
			c.CompareSwap(words.At(0), 0, 1, 0)
		}
		meetAt(c, words.At(1))
	})
)

func lockAndMeet(c *tl.Context, words tl.Signal) (tries int) {
	for tries = 1; c.CompareSwap(words.At(0), 0, 0, 1) != 0; tries++ {
	}
	c.CompareSwap(words.At(0), 0, 1, 0)
	meetAt(c, words.At(1))
	return tries
}

func meetAt(c *tl.Context, word tl.Signal) {
	for peer := range c.WorldSize() {
		c.Notify(word, peer, tl.SignalAdd, 1)
	}
	c.WaitUntil(word, tl.GE, int64(c.WorldSize()))
}
