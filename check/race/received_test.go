package race_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// Memory that a rank has received, loaded, or both is judged as with an event for each access.
func TestReceived(t *testing.T) {
	const ranks = 40
	slot := func(i int64, n int64) span { return at(1, 4096+8*i, n) }
	// give lets rank 0 put a source into memory of rank 1, which waits for its word.
	give := func(h *account, dst span, word int) {
		h.putSignal(0, dst, at(0, 8*int64(word), dst.n), wordOf(1, word), 1)
		h.wait(1, word, tl.GE, 1)
	}
	// tell orders what a rank does later after all that another one knows now.
	tell := func(h *account, from, to int) {
		h.notify(from, wordOf(to, 16+from), 1)
		h.wait(to, 16+from, tl.GE, 1)
	}
	rows := func(s span, rows int32, pitch int64) span { s.rows, s.pitch = rows, pitch; return s }
	for _, c := range []struct {
		name      string
		hazardous bool
		passes    int
		program   func(h *account)
	}{
		{"a rank that knows of the wait", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 8))
		}},
		{"a rank that does not", true, 2, func(h *account) {
			tell(h, 1, 2)
			give(h, slot(0, 8), 0)
			h.putTensor(2, slot(0, 8))
		}},
		{"a rank that knows of an earlier wait", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			give(h, slot(1, 8), 1)
			h.putTensor(2, slot(1, 8))
		}},
		{"a rank that knows of the put and not of the wait", false, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			h.quiet(0)
			tell(h, 0, 2)
			h.putTensor(2, slot(0, 8))
		}},
		{"a reader that knows of the wait", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			h.get(2, at(2, 0, 8), slot(0, 8))
		}},
		{"a reader that does not", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			h.get(2, at(2, 0, 8), slot(0, 8))
		}},
		{"a load that is complete", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			h.read(1, slot(0, 8))
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 8))
		}},
		{"a load that is not", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			h.load(1, slot(0, 8))
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 8))
		}},
		{"a load that is complete too late", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			op := h.load(1, slot(0, 8))
			tell(h, 1, 2)
			h.use(1, op)
			h.putTensor(2, slot(0, 8))
		}},
		{"a load in a later moment", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			h.read(1, slot(0, 8))
			h.putTensor(2, slot(0, 8))
		}},
		{"a load in a later moment, and a rank that knows of it", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			h.read(1, slot(0, 8))
			tell(h, 1, 3)
			h.putTensor(3, slot(0, 8))
		}},
		{"a load in a later moment, and a reader", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			h.read(1, slot(0, 8))
			h.get(2, at(2, 0, 8), slot(0, 8))
		}},
		{"the second of two loads in a later moment", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			give(h, slot(1, 8), 1)
			tell(h, 1, 2)
			h.read(1, slot(0, 8))
			op := h.load(1, slot(1, 8))
			tell(h, 1, 3)
			h.use(1, op)
			h.putTensor(3, slot(1, 8))
		}},
		{"loads by other ranks", true, 2, func(h *account) {
			h.read(1, slot(0, 8))
			h.read(2, slot(0, 8))
			tell(h, 1, 3)
			h.putTensor(3, slot(0, 8))
		}},
		{"loads by other ranks that are known", false, 1, func(h *account) {
			h.read(1, slot(0, 8))
			h.read(2, slot(0, 8))
			tell(h, 1, 3)
			tell(h, 2, 3)
			h.putTensor(3, slot(0, 8))
		}},
		{"a load that another rank reads before it is complete", false, 1, func(h *account) {
			op := h.load(1, slot(0, 8))
			h.read(2, slot(0, 8))
			h.use(1, op)
			tell(h, 1, 3)
			tell(h, 2, 3)
			h.putTensor(3, slot(0, 8))
		}},
		{"the first of two loads of a moment", false, 1, func(h *account) {
			op := h.load(1, slot(0, 8))
			h.load(1, slot(1, 8))
			h.use(1, op)
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 8))
		}},
		{"the last of several loads of a moment", true, 2, func(h *account) {
			h.read(1, slot(8, 8)) // of a page with several stretches
			h.read(1, slot(9, 8))
			ops := []uint64{h.load(1, slot(0, 8)), h.load(1, slot(1, 8)), h.load(1, slot(2, 8))}
			h.use(1, ops[1])
			h.use(1, ops[0])
			tell(h, 1, 2)
			h.putTensor(2, slot(2, 8))
		}},
		{"several loads of a moment", false, 1, func(h *account) {
			ops := []uint64{h.load(1, slot(0, 8)), h.load(1, slot(1, 8)), h.load(1, slot(2, 8)), h.load(1, slot(3, 8))}
			for _, i := range []int{1, 0, 3, 2} {
				h.use(1, ops[i])
			}
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 32))
		}},
		{"loads that are complete by a barrier", false, 1, func(h *account) {
			h.load(1, slot(0, 8))
			h.load(1, slot(1, 8))
			h.drain(1)
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 16))
		}},
		{"a load before and one after a smaller address", true, 2, func(h *account) {
			h.read(1, slot(4, 8))
			h.read(1, slot(0, 8))
			tell(h, 1, 2)
			h.read(1, slot(2, 8))
			h.putTensor(2, slot(4, 8))
			h.putTensor(2, slot(0, 8))
			h.putTensor(2, slot(2, 8))
		}},
		{"a load of two puts", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			give(h, slot(1, 8), 1)
			h.read(1, slot(0, 16))
			tell(h, 1, 2)
			h.putTensor(2, slot(0, 16))
		}},
		{"a load of a put and more", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			h.load(1, slot(0, 16))
			tell(h, 1, 2)
			h.putTensor(2, slot(1, 8))
		}},
		{"a put over several pages", true, 2, func(h *account) {
			give(h, at(1, 1<<20-64, 1<<15), 0)
			h.load(1, at(1, 1<<20-64, 1<<15))
			tell(h, 1, 2)
			h.putTensor(2, at(1, 1<<20+1<<14, 8))
		}},
		{"a part of a put", true, 2, func(h *account) {
			give(h, slot(0, 32), 0)
			h.read(1, slot(1, 8))
			tell(h, 1, 2)
			h.load(1, slot(2, 8))
			h.putTensor(2, slot(1, 8))
			h.putTensor(2, slot(2, 8))
		}},
		{"a source", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			h.putSignal(1, at(2, 0, 8), slot(0, 8), wordOf(2, 5), 1)
			h.wait(2, 5, tl.GE, 1)
			h.putTensor(2, slot(0, 8))
		}},
		{"a source in a later moment", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 3)
			h.putSignal(1, at(2, 0, 8), slot(0, 8), wordOf(2, 5), 1)
			h.putTensor(3, slot(0, 8))
		}},
		{"a store of the rank itself", false, 1, func(h *account) {
			give(h, slot(0, 8), 0)
			h.load(1, slot(0, 8))
			h.store(1, slot(0, 8))
		}},
		{"a sum", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			h.load(1, slot(0, 8))
			tell(h, 1, 2)
			h.combine(2, slot(0, 8), false)
		}},
		{"a second sum, by a rank that knows less", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			tell(h, 1, 2)
			h.combine(2, slot(0, 8), false)
			h.combine(3, slot(0, 8), false)
		}},
		{"a later put after a fence", true, 2, func(h *account) {
			h.putSignal(0, slot(0, 8), at(0, 0, 8), wordOf(1, 0), 1)
			h.fence(0)
			h.putSignal(0, slot(0, 8), at(0, 0, 8), wordOf(1, 1), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, slot(0, 8))
		}},
		{"a later put into the first page of two", true, 2, func(h *account) {
			h.putSignal(0, at(1, 1<<20-64, 128), at(0, 0, 128), wordOf(1, 0), 1)
			h.fence(0)
			h.putSignal(0, at(1, 1<<20-64, 64), at(0, 0, 64), wordOf(1, 1), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(1, 1<<20-64, 8))
		}},
		{"pieces of a load, with many receipts between", false, 1, func(h *account) {
			for i := range int64(4) {
				h.read(1, slot(8+i, 8))
				h.store(1, slot(8+i, 8))
			}
			op := h.load(1, slot(1, 8))
			for i := range int64(20) {
				h.read(2, at(2, 64*i, 8))
			}
			h.add(1, "load", history.Record{Kind: history.Load, Op: op, Range: slot(2, 8).rng()})
			h.use(1, op)
			for i := range int64(40) {
				h.load(2, at(2, 64*i, 8))
			}
			tell(h, 1, 3)
			h.putTensor(3, slot(1, 16))
		}},
		{"a load after a row of notifications", false, 1, func(h *account) {
			h.read(1, slot(0, 8))
			for r := 2; r < 10; r++ {
				h.notify(1, wordOf(r, 5), 1)
			}
			h.load(1, slot(1, 8))
			h.wait(9, 5, tl.GE, 1)
			h.putTensor(9, slot(0, 8))
		}},
		{"a second load of a moment, which another rank reads before it is complete", true, 2, func(h *account) {
			h.read(1, slot(0, 8))
			h.read(2, slot(0, 8))
			h.load(1, slot(1, 8))
			h.read(2, slot(1, 8))
			tell(h, 1, 3)
			tell(h, 2, 3)
			h.putTensor(3, slot(1, 8))
		}},
		{"a reader after a source", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			h.putSignal(1, at(2, 0, 8), slot(0, 8), wordOf(2, 5), 1)
			h.get(3, at(3, 0, 8), slot(0, 8))
		}},
		{"a source beside a load", true, 2, func(h *account) {
			give(h, slot(0, 8), 0)
			give(h, slot(1, 8), 1)
			h.load(1, slot(1, 8))
			h.putSignal(1, at(2, 0, 8), slot(0, 8), wordOf(2, 5), 1)
			h.wait(2, 5, tl.GE, 1)
			h.putTensor(2, slot(1, 8))
		}},
		{"a matrix", true, 2, func(h *account) {
			h.load(1, at(1, 1<<20, 1<<15))
			tell(h, 1, 2)
			h.putTensor(2, rows(at(1, 1<<20+64, 64), 8, 1<<12))
		}},
		{"a put that was read before the wait", true, 2, func(h *account) {
			h.putSignal(0, slot(0, 8), at(0, 0, 8), wordOf(1, 0), 1)
			h.get(2, at(2, 0, 8), slot(0, 8))
			h.wait(1, 0, tl.GE, 1)
			h.read(1, slot(0, 8))
		}},
		{"a later put", true, 2, func(h *account) {
			h.putSignal(0, slot(0, 8), at(0, 0, 8), wordOf(1, 0), 1)
			h.putSignal(0, slot(0, 8), at(0, 0, 8), wordOf(1, 1), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, slot(0, 8))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, change := range []func(*race.Detector){func(*race.Detector) {}, (*race.Detector).TidyReceipts} {
				report, passes := judgedAs(t, ranks, mem.PutSignal, c.program, change)
				plain, _ := judgedAs(t, ranks, mem.PutSignal, c.program, (*race.Detector).Plain)
				if !slices.Equal(reported(report), reported(plain)) || c.hazardous != (report.Total > 0) || passes != c.passes {
					t.Errorf("with shared events, in %d passes\n%q\nwithout\n%q", passes, reported(report), reported(plain))
				}
			}
		})
	}
}

// A write in a locked section does not hide an earlier load from the section of another rank.
func TestLockedWriteAfterLoad(t *testing.T) {
	k, cfg := lockProgram(func(c *locked) {
		write := func() {
			c.lock()
			c.Store(c.block(), c.Full(tl.Dims(4), dtype.F32, 1))
			c.Quiet()
			c.unlock()
		}
		called := c.words.At(3)
		switch c.Rank() {
		case 0:
			c.keep()
			c.PipeBarrier()
			c.Notify(called, 1, tl.SignalAdd, 1)
		case 1:
			c.WaitUntil(called, tl.GE, 1)
			write()
		case 2:
			c.WaitUntil(called, tl.GE, 1)
			write()
		case 3, 4: // rank 2 writes after rank 1 and knows nothing of it
			for i := range 100 {
				c.Notify(c.words.At(4), 7-c.Rank(), tl.SignalAdd, 1)
				c.WaitUntil(c.words.At(4), tl.GE, int64(i+1))
			}
			if c.Rank() == 3 {
				c.Notify(called, 2, tl.SignalAdd, 1)
			}
		}
	})
	for seed := range uint64(12) {
		_, rep, err := kerneltest.Races(k, cfg(40, seed))
		if err != nil {
			t.Fatal(err)
		}
		if rep.Total == 0 {
			t.Errorf("schedule %d: no hazard\n%v", seed, rep)
		}
	}
}

// receivedStep is a step of a random program of puts that others wait for, load, give on and write
// again.
type receivedStep struct{ do, rank, peer, cell, n, word int }

const receivedRanks, receivedWords = 3, 5

func drawReceived(t *rapid.T, most int) []receivedStep {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) receivedStep {
		return receivedStep{
			rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 7, 8, 9, 9, 10, 11}).Draw(t, "do"),
			rapid.IntRange(0, receivedRanks-1).Draw(t, "rank"), rapid.IntRange(1, receivedRanks-1).Draw(t, "peer"),
			rapid.IntRange(0, 3).Draw(t, "cell"), rapid.IntRange(1, 2).Draw(t, "n"), rapid.IntRange(0, receivedWords-1).Draw(t, "word"),
		}
	}), 1, most).Draw(t, "steps")
}

// runReceived adds the records of a random program.
func runReceived(tb testing.TB, d *race.Detector, steps []receivedStep) {
	h := newAccount(tb, d, receivedRanks+32)
	loads := map[int][]uint64{}
	for i, s := range steps {
		h.line = fmt.Sprintf("kernel.go:%d", i)
		peer := (s.rank + s.peer) % receivedRanks
		own, w := at(s.rank, 8*int64(s.cell), 8*int64(s.n)), wordOf(peer, s.word)
		there := at(peer, 8*int64(s.cell), own.n)
		switch s.do {
		case 0:
			h.putSignal(s.rank, there, at(s.rank, 256+8*int64(s.cell), own.n), w, 1)
		case 1:
			h.putSignal(s.rank, there, own, w, 1)
		case 2:
			h.putTensor(s.rank, there)
		case 3:
			h.store(s.rank, own)
		case 4:
			loads[s.rank] = append(loads[s.rank], h.load(s.rank, own))
		case 5:
			if l := loads[s.rank]; len(l) > 0 {
				k := s.word % len(l)
				h.use(s.rank, l[k])
				loads[s.rank] = slices.Delete(l, k, k+1)
			}
		case 6:
			if v := h.values[wordOf(s.rank, s.word)]; v > 0 {
				h.wait(s.rank, s.word, tl.GE, v)
			}
		case 7:
			h.get(s.rank, at(s.rank, 512, own.n), there)
		case 8:
			h.drain(s.rank)
		case 9:
			h.notify(s.rank, w, 1)
		case 10:
			h.read(s.rank, there)
		case 11:
			h.quiet(s.rank)
		}
	}
	h.end()
}

func drawJudge(t *rapid.T) func(*race.Detector) {
	return rapid.SampledFrom([]func(*race.Detector){
		func(*race.Detector) {}, (*race.Detector).TidyReceipts, (*race.Detector).JointAll,
	}).Draw(t, "change")
}

// Random programs are judged as with an event for each access.
func TestReceivedOfAnyProgram(tt *testing.T) {
	received := 0
	rapid.Check(tt, func(t *rapid.T) {
		steps, change := drawReceived(t, 40), drawJudge(t)
		usual, plain, _ := bothWays(race.Options{Order: mem.PutSignal, Most: 1000}, change, func(d *race.Detector) bool {
			runReceived(tt, d, steps)
			if events, clocks := d.Live(); events != 0 || clocks > 8 {
				t.Fatalf("%d events and %d clocks at rest", events, clocks)
			}
			received += d.MadeReceipts()
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v:\n%q\nwith an event for each access:\n%q", steps, usual, plain)
		}
	})
	if received == 0 {
		tt.Error("nothing was received")
	}
}

// Each hazard of a random program is found alone: another one would lead to the pass with an event
// for each access.
func TestOneHazardOfAnyProgram(tt *testing.T) {
	hazards := 0
	rapid.Check(tt, func(t *rapid.T) {
		steps, change, order := drawReceived(t, 25), drawJudge(t), rapid.SampledFrom([]mem.Ordering{
			mem.PutSignal, mem.ByChannel, mem.InOrder}).Draw(t, "order")
		found := func(change func(*race.Detector), steps []receivedStep) bool {
			d := race.New(race.Options{Order: order})
			change(d)
			runReceived(tt, d, steps)
			return d.Report().Total > 0 || d.HidesHazards()
		}
		var clean []receivedStep
		for _, s := range steps {
			now := append(slices.Clone(clean), s)
			if !found((*race.Detector).Plain, now) {
				clean = now
				continue
			}
			if hazards++; !found(change, now) {
				t.Fatalf("%v, %v: the last step is a hazard, which was not found", order, now)
			}
		}
	})
	if hazards == 0 {
		tt.Error("no program has a hazard")
	}
}

// A matrix that a rank has loaded as a whole can have a sheet when tiles of it are read.
func TestSheetOfLoaded(t *testing.T) {
	most := 0
	judgedAs(t, 40, mem.PutSignal, func(h *account) {
		h.read(1, at(1, 1<<20, 1<<16))
		h.read(1, span{rank: 1, lo: 1 << 20, n: 64, rows: 64, pitch: 1 << 10})
		most = max(most, h.d.Sheets())
	}, func(*race.Detector) {})
	if most != 1 {
		t.Errorf("%d sheets, want 1", most)
	}
}

// The pieces of one operation do not wait for each other.
func TestPiecesOfReceived(t *testing.T) {
	x := at(2, 4096, 8)
	for _, c := range []struct {
		name      string
		hazardous bool
		program   func(h *account)
	}{
		{"a load and a store", false, func(h *account) {
			op := h.load(1, x)
			h.store(1, x)
			h.notify(1, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.putTensor(2, x)
			h.use(1, op)
		}},
		{"of one composite", true, func(h *account) {
			op := h.load(1, x)
			h.add(1, "composite", history.Record{Kind: history.Store, Op: op, Range: x.rng()})
			h.notify(1, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.putTensor(2, x)
			h.use(1, op)
		}},
	} {
		report, _ := judgedAs(t, 40, mem.InOrder, c.program, func(*race.Detector) {})
		plain, _ := judgedAs(t, 40, mem.InOrder, c.program, (*race.Detector).Plain)
		if !slices.Equal(reported(report), reported(plain)) || c.hazardous != (report.Total > 0) {
			t.Errorf("%s:\n%q\nwithout shared events\n%q", c.name, reported(report), reported(plain))
		}
	}
}
