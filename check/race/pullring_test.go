package race_test

import (
	"testing"

	"kernbench/tl"
)

// pullRing returns a ring all-reduce that reads the left neighbour's chunk in each round, after
// waits(round) have ordered the round.
func pullRing(ranks int, meet func(h *account, round int)) func(h *account) {
	const n = 64
	return func(h *account) {
		p := ranks
		chunk := func(r, c int) span { return at(r, int64((c%p+p)%p)*n, n) }
		for r := range p {
			h.store(r, at(r, 0, int64(p)*n))
		}
		for s := 1; s <= 2*(p-1); s++ {
			for r := range p {
				h.drain(r)
			}
			meet(h, s)
			for r := range p {
				c := r - s - 1
				if s >= p {
					c = r - (s - p + 1)
				}
				h.read(r, chunk((r+p-1)%p, c))
				if s < p {
					h.read(r, chunk(r, c))
				}
				h.store(r, chunk(r, c))
			}
		}
	}
}

// notifyRight returns a neighbour barrier: each rank notifies its right neighbour in word w(round),
// which waits for v(round).
func notifyRight(skip int, w func(round int) int, add, v func(round int) int64) func(h *account, round int) {
	return func(h *account, s int) {
		for r := range h.ranks {
			h.notify(r, wordOf((r+1)%h.ranks, w(s)), add(s))
		}
		for r := range h.ranks {
			if s != skip {
				h.wait(r, w(s), tl.GE, v(s))
			}
		}
	}
}

func zero(int) int        { return 0 }
func same(s int) int      { return s }
func one(int) int64       { return 1 }
func growing(s int) int64 { return int64(s) }

func TestPullRings(t *testing.T) {
	judgeAll(t, []protocol{
		{"pull ring, one word per round", 4, pullRing(4, notifyRight(0, same, one, one)), nil},
		{"pull ring of 2", 2, pullRing(2, notifyRight(0, same, one, one)), nil},
		{"pull ring of 7", 7, pullRing(7, notifyRight(0, same, one, one)), nil},
		{"pull ring, round 1 does not wait", 4, pullRing(4, notifyRight(1, same, one, one)), []string{"race store load"}},
		{"pull ring, round 3 does not wait", 4, pullRing(4, notifyRight(3, same, one, one)),
			[]string{"race load store", "race store load"}},
		{"pull ring, the last round does not wait", 4, pullRing(4, notifyRight(6, same, one, one)),
			[]string{"race load store", "race store load"}},
		{"pull ring, counting rounds", 4, pullRing(4, notifyRight(0, zero, one, growing)), nil},
		{"pull ring, waits for >= 1 in every round", 4, pullRing(4, notifyRight(0, zero, one, one)),
			[]string{"race load store", "race store load"}},
	})
}
