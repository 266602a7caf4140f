package race_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// Joint events hide no hazard.
func TestJointHazards(t *testing.T) {
	nbi := func(h *account, to, cell int) uint64 {
		return h.putNBI(0, at(to, int64(cell)*8, 8), at(0, 800+int64(cell)*8, 8))
	}
	cell := func(rank, i int) span { return at(rank, int64(i)*8, 8) }
	for _, c := range []struct {
		name    string
		order   mem.Ordering
		program func(h *account)
	}{
		{"one of two loads is complete", mem.PutSignal, func(h *account) {
			first := h.load(0, cell(1, 0))
			h.load(0, cell(1, 1))
			h.use(0, first)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(1, 1))
		}},
		{"the other of two loads is complete", mem.PutSignal, func(h *account) {
			h.load(0, cell(1, 0))
			h.use(0, h.load(0, cell(1, 1)))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(1, 0))
		}},
		{"a load after a complete one", mem.PutSignal, func(h *account) {
			h.read(0, cell(1, 0))
			h.load(0, cell(1, 1))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(1, 1))
		}},
		{"two puts to one place", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			nbi(h, 1, 0)
		}},
		{"a put to the place of an earlier one", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.notify(0, wordOf(1, 0), 1)
			nbi(h, 1, 0)
		}},
		{"a put whose source was read", mem.PutSignal, func(h *account) {
			h.put(0, cell(1, 0), cell(0, 1))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a put before a pipe barrier", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a put after one that is complete", mem.InOrder, func(h *account) {
			combined := nbi(h, 1, 0) + 1
			h.combine(0, cell(1, 1), false)
			nbi(h, 1, 2)
			h.use(0, combined)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, cell(1, 2))
		}},
		{"a load beside one that a put waits for", mem.PutSignal, func(h *account) {
			h.load(0, cell(0, 0))
			h.load(0, cell(0, 1))
			h.putSignalNBI(0, cell(1, 0), cell(0, 0), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(0, 1))
		}},
		{"a load that is complete after a notification", mem.PutSignal, func(h *account) {
			op := h.load(0, cell(1, 0))
			h.notify(0, wordOf(1, 0), 1)
			h.use(0, op)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(1, 0))
		}},
		{"a source that was read after a notification", mem.PutSignal, func(h *account) {
			nbi(h, 2, 0)
			h.notify(0, wordOf(1, 0), 1)
			h.putSignal(0, cell(2, 1), cell(0, 1), wordOf(2, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(0, 1))
		}},
		{"a put before one with a signal", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.putSignalNBI(0, cell(1, 1), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a put with a signal to another rank", mem.PutSignal, func(h *account) {
			h.putSignalNBI(0, cell(1, 1), cell(0, 1), wordOf(1, 0), 1)
			h.putSignalNBI(0, cell(2, 1), cell(0, 1), wordOf(2, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(2, 1))
		}},
		{"a second update of a word", mem.PutSignal, func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			nbi(h, 1, 0)
			h.fence(0)
			h.notify(0, wordOf(2, 0), 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 2)
			h.read(1, cell(1, 0))
		}},
		{"a put after a notification in order", mem.InOrder, func(h *account) {
			nbi(h, 2, 0)
			h.notify(0, wordOf(1, 0), 1)
			nbi(h, 1, 0)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a notification that another rank has not seen", mem.PutSignal, func(h *account) {
			nbi(h, 2, 0)
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.notify(0, wordOf(2, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.notify(1, wordOf(3, 0), 1)
			h.wait(3, 0, tl.GE, 1)
			h.notify(3, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, cell(2, 0))
		}},
		{"a second signal may come first", mem.PutSignal, func(h *account) {
			h.putSignalNBI(0, cell(1, 0), cell(0, 0), wordOf(1, 0), 1)
			h.putSignalNBI(0, cell(1, 1), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a put that one of two sums proves", mem.PutSignal, func(h *account) {
			nbi(h, 2, 0)
			h.fence(0)
			h.notify(0, wordOf(2, 0), 1)
			h.notify(1, wordOf(2, 0), 2)
			h.waitAs(2, "test", 0, tl.EQ, 3)
			h.read(2, cell(2, 0))
			h.notify(1, wordOf(2, 0), 1)
		}},
	} {
		usual, plain, joints, _ := jointly(t, c.order, c.program)
		if !slices.Equal(usual, plain) || joints == 0 {
			t.Errorf("%s: %q with %d joint events, %q without", c.name, usual, joints, plain)
		}
		if !slices.ContainsFunc(plain, func(s string) bool { return strings.HasPrefix(s, "race on") }) {
			t.Errorf("%s: %q, want a race", c.name, plain)
		}
	}
}

// Joint events need no other pass where the program has no hazard.
func TestJointPasses(t *testing.T) {
	nbi := func(h *account, to, cell int) { h.putNBI(0, at(to, int64(cell)*8, 8), at(0, 800+int64(cell)*8, 8)) }
	cell := func(rank, i int) span { return at(rank, int64(i)*8, 8) }
	for _, c := range []struct {
		name    string
		order   mem.Ordering
		program func(h *account)
	}{
		{"puts, a fence and notifications", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			nbi(h, 2, 0)
			h.fence(0)
			for r := 1; r < 3; r++ {
				h.notify(0, wordOf(r, 0), 1)
				h.wait(r, 0, tl.GE, 1)
				h.read(r, cell(r, 0))
			}
		}},
		{"puts in order", mem.ByChannel, func(h *account) {
			nbi(h, 1, 0)
			h.notify(0, wordOf(2, 0), 1)
			nbi(h, 1, 0)
		}},
		{"puts to one place with a fence between", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.fence(0)
			nbi(h, 1, 0)
		}},
		{"a load after others were notified", mem.PutSignal, func(h *account) {
			h.read(0, cell(1, 0))
			h.notify(0, wordOf(1, 0), 1)
			h.load(0, cell(1, 1))
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(1, 0))
		}},
		{"a source that was read before another one", mem.PutSignal, func(h *account) {
			h.put(0, cell(2, 0), cell(0, 1))
			h.notify(0, wordOf(1, 0), 1)
			h.read(0, cell(0, 3))
			h.put(0, cell(2, 1), cell(0, 2))
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(0, 1))
		}},
		{"a put with a signal", mem.PutSignal, func(h *account) {
			h.read(0, cell(2, 0))
			h.putSignalNBI(0, cell(1, 0), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 0))
		}},
		{"a store between loads of one place", mem.PutSignal, func(h *account) {
			h.load(0, cell(0, 0))
			h.store(0, cell(0, 0))
			h.read(0, cell(0, 0))
		}},
		{"a load between notifications", mem.PutSignal, func(h *account) {
			h.notify(0, wordOf(2, 0), 1)
			h.read(0, cell(1, 0))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, cell(1, 0))
		}},
		{"a put with a signal after another put", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.putSignalNBI(0, cell(1, 1), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, cell(1, 1))
		}},
		{"a put with a signal after several", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.putSignalNBI(0, cell(2, 1), cell(0, 1), wordOf(2, 0), 1)
			h.notify(0, wordOf(1, 0), 1)
			nbi(h, 1, 2)
			h.putSignalNBI(0, cell(3, 1), cell(0, 1), wordOf(3, 0), 1)
			h.wait(3, 0, tl.GE, 1)
			h.read(3, cell(3, 1))
		}},
		{"a put with a signal in order", mem.ByChannel, func(h *account) {
			nbi(h, 1, 0)
			h.putSignalNBI(0, cell(2, 1), cell(0, 1), wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 1)
			h.read(2, cell(2, 1))
		}},
		{"a second update of a word", mem.PutSignal, func(h *account) {
			nbi(h, 1, 0)
			h.fence(0)
			h.notify(0, wordOf(1, 0), 1)
			h.notify(2, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 2)
			h.read(1, cell(1, 0))
		}},
		{"notifications by different numbers", mem.PutSignal, func(h *account) {
			h.notify(0, wordOf(1, 0), 2)
			h.notify(0, wordOf(2, 0), 1)
			h.store(3, cell(2, 0))
			h.fence(3)
			h.notify(3, wordOf(2, 0), 1)
			h.wait(2, 0, tl.GE, 2)
			h.read(2, cell(2, 0))
		}},
		{"a set after a put in a row of notifications", mem.PutSignal, func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			nbi(h, 2, 0)
			h.notify(0, wordOf(2, 0), 1)
			h.fence(0)
			h.set(0, wordOf(2, 1), 1)
			h.wait(2, 1, tl.GE, 1)
			h.read(2, cell(2, 0))
		}},
		{"a put with the second signal of a word", mem.PutSignal, func(h *account) {
			h.read(0, cell(3, 0))
			h.notify(2, wordOf(1, 0), 1)
			h.putSignalNBI(0, cell(1, 1), cell(0, 1), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 2)
			h.read(1, cell(1, 1))
		}},
		{"sums", mem.PutSignal, func(h *account) {
			h.read(0, cell(2, 0))
			h.combine(0, cell(2, 1), false)
			h.combine(1, cell(2, 1), false)
		}},
	} {
		usual, plain, joints, passes := jointly(t, c.order, c.program)
		if !slices.Equal(usual, plain) || joints == 0 || passes != 1 {
			t.Errorf("%s: %q with %d joint events after %d passes, %q without", c.name, usual, joints, passes, plain)
		}
	}
}

// A rank that loads again what it has written by a put races with the put, though both loads have
// one joint event. A quiet between them ends the race.
func TestJointLoadsAgain(t *testing.T) {
	cell := func(r int) span { return at(r, 0, 8) }
	for name, write := range map[string]func(h *account){
		"a sum": func(h *account) { h.combine(2, cell(0), false) },
		"a put": func(h *account) { h.put(2, cell(0), cell(1)) },
	} {
		for _, quiet := range []bool{false, true} {
			usual, plain, joints, _ := jointly(t, mem.PutSignal, func(h *account) {
				h.read(2, cell(0))
				write(h)
				if quiet {
					h.quiet(2)
				}
				h.read(2, cell(0))
			})
			races := slices.ContainsFunc(usual, func(s string) bool { return strings.HasPrefix(s, "race") })
			if !slices.Equal(usual, plain) || joints == 0 || races == quiet {
				t.Errorf("%s, quiet %v: %q with %d joint events, %q without", name, quiet, usual, joints, plain)
			}
		}
	}
}

// jointly judges a program of four ranks with joint events and without, and returns how many there
// were and how many passes they took.
func jointly(t *testing.T, order mem.Ordering, program func(h *account)) (usual, plain []string, joints, passes int) {
	usual, plain, _ = bothWays(race.Options{Order: order}, (*race.Detector).JointAll, func(d *race.Detector) bool {
		h := newAccount(t, d, 4)
		h.line = "kernel.go:1"
		program(h)
		h.end()
		if events, _ := d.Live(); events != 0 {
			t.Errorf("%d events at rest", events)
		}
		joints += d.Joints()
		passes++
		return true
	})
	return usual, plain, joints, passes - 1
}

// Accesses of one moment that share an event are judged as others are: no hazard is missed, and
// none is reported that is none.
func TestJointEvents(tt *testing.T) {
	const ranks = 3
	orders := []mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder, mem.Sequential}
	joint, clean := 0, 0
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, peer, cell, n int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 7, 7, 8, 8, 9, 10, 11, 12, 13, 14}).Draw(t, "do"),
				rapid.IntRange(0, ranks-1).Draw(t, "rank"), rapid.IntRange(0, ranks-1).Draw(t, "peer"),
				rapid.IntRange(0, 5).Draw(t, "cell"), rapid.IntRange(1, 4).Draw(t, "n"),
			}
		}), 1, 25).Draw(t, "steps")
		order := rapid.SampledFrom(orders).Draw(t, "order")
		passes, made := 0, 0
		usual, plain, _ := bothWays(race.Options{Order: order, Most: 1000}, (*race.Detector).JointAll, func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks)
			var flying [ranks][]uint64
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				// cell is where a rank's accesses begin. Those of one step are at all ranks.
				peer := func(k int) int { return (s.peer + k) % ranks }
				there := func(k int) span { return at(peer(k), int64(s.cell)*8, 8) }
				own := func(k int) span { return at(s.rank, int64(s.cell+k)*8, 8) }
				switch s.do {
				case 0:
					for k := range s.n {
						h.read(s.rank, there(k))
					}
				case 1: // loads that are used later, in another order
					for k := range s.n {
						flying[s.rank] = append(flying[s.rank], h.load(s.rank, there(k)))
					}
				case 2:
					for k := range s.n {
						h.store(s.rank, there(k))
					}
				case 3:
					for k := range s.n {
						h.putNBI(s.rank, there(k), own(k))
					}
				case 4:
					for k := range s.n {
						h.put(s.rank, there(k), own(k))
					}
				case 5:
					for k := range s.n {
						h.putSignal(s.rank, there(k), own(k), wordOf(peer(k), 0), 1)
					}
				case 6:
					for i := len(flying[s.rank]) - 1; i >= 0; i-- {
						h.use(s.rank, flying[s.rank][(i+s.n)%len(flying[s.rank])])
					}
					flying[s.rank] = nil
				case 7:
					h.fence(s.rank)
					for k := range s.n {
						h.notify(s.rank, wordOf(peer(k), 0), 1)
					}
				case 8:
					if v := h.values[wordOf(s.rank, 0)]; v > 0 {
						h.wait(s.rank, 0, tl.GE, v)
					}
				case 9:
					h.quiet(s.rank)
				case 10:
					h.drain(s.rank)
				case 11:
					h.store(s.rank, own(0))
				case 12:
					h.notify(s.rank, wordOf(peer(0), 0), 1)
				case 13:
					h.barrier()
				case 14:
					h.combine(s.rank, there(0), false)
				}
			}
			inOrder := d.InOrder()
			h.end()
			passes++
			made += d.Joints()
			if !inOrder {
				t.Fatalf("events of a link are not in order")
			}
			if events, _ := d.Live(); events != 0 {
				t.Fatalf("%d events at rest", events)
			}
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v %v:\n%q\nwithout joint events:\n%q", order, steps, usual, plain)
		}
		if made > 0 {
			joint++
			if passes == 2 { // one of each judge
				clean++
			}
		}
	})
	if joint == 0 || 4*clean < joint {
		tt.Errorf("%d programs with joint events, of which %d were judged in one pass", joint, clean)
	}
	tt.Logf("%d programs with joint events, of which %d were judged in one pass", joint, clean)
}

// Programs in which ranks wait for others again and again are judged as without deferred joins.
func TestDeferredVerdicts(tt *testing.T) {
	const ranks = 5
	orders := []mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder}
	deferred, hazards := 0, 0
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, peer, cell int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 6, 7, 8}).Draw(t, "do"),
				rapid.IntRange(0, ranks-1).Draw(t, "rank"), rapid.IntRange(1, ranks-1).Draw(t, "peer"),
				rapid.IntRange(0, 2).Draw(t, "cell"),
			}
		}), 1, 60).Draw(t, "steps")
		order := rapid.SampledFrom(orders).Draw(t, "order")
		chainLimit, joint := rapid.IntRange(1, 8).Draw(t, "in a row"), rapid.Bool().Draw(t, "joint")
		change := func(d *race.Detector) {
			if d.DeferAll(chainLimit); joint {
				d.JointAll()
			}
		}
		usual, plain, _ := bothWays(race.Options{Order: order, Most: 1000}, change, func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks)
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				peer := (s.rank + s.peer) % ranks
				there, own := at(peer, int64(s.cell)*8, 8), at(s.rank, int64(s.cell)*8, 8)
				switch s.do {
				case 0:
					h.read(s.rank, there)
				case 1:
					h.store(s.rank, own)
				case 2: // each rank has a word for each other one
					h.putSignal(s.rank, there, at(s.rank, 64, 8), wordOf(peer, s.rank), 1)
				case 3:
					h.notify(s.rank, wordOf(peer, s.rank), 1)
				case 4:
					if v := h.values[wordOf(s.rank, peer)]; v > 0 {
						h.wait(s.rank, peer, tl.GE, v)
					}
				case 5:
					h.fence(s.rank)
				case 6:
					h.quiet(s.rank)
				case 7:
					h.barrier()
				case 8:
					h.set(s.rank, wordOf(peer, s.rank), 9)
				}
			}
			h.end()
			deferred += d.Deferrals()
			return true
		})
		if !slices.Equal(usual, plain) {
			t.Fatalf("%v %v:\n%q\nwith joins at once:\n%q", order, steps, usual, plain)
		}
		if len(usual) > 2 {
			hazards++
		}
	})
	if deferred == 0 || hazards == 0 {
		tt.Errorf("%d joins deferred, %d programs with hazards", deferred, hazards)
	}
}
