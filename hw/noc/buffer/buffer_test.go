package buffer

import (
	"math/rand/v2"
	"testing"

	"kernbench/unit"
)

// TestReleases compares the free space of buffers with a plain list, with up to tens of pending
// releases for each buffer.
func TestReleases(t *testing.T) {
	const buffers, capacity = 3, 1000
	all, p := [buffers]Buffer{}, &Pool{}
	for i := range all {
		all[i] = Empty(0, 0)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	type part struct {
		at    unit.Time
		bytes int32
	}
	var ahead [buffers][]part
	now, longest := unit.Time(0), 0
	for range 20000 {
		i := uint32(rnd.IntN(buffers))
		b := &all[i]
		held := int32(0)
		for _, r := range ahead[i] {
			held += r.bytes
		}
		if free := capacity - held; free > 0 && rnd.IntN(4) > 0 {
			r := part{now + unit.Time(rnd.IntN(50)), 1 + rnd.Int32N(min(free, 60))}
			ahead[i] = append(ahead[i], r)
			longest = max(longest, len(ahead[i]))
			b.held += r.bytes
			b.Release(p, r.bytes, r.at)
			continue
		}
		now += unit.Time(rnd.IntN(12))
		left := ahead[i][:0]
		held = 0
		for _, r := range ahead[i] {
			if r.at > now {
				left = append(left, r)
				held += r.bytes
			}
		}
		ahead[i] = left
		if b.settle(p, now); b.held != held {
			t.Fatalf("at %d buffer %d holds %d, want %d", now, i, b.held, held)
		}
		want, wanted := now, 1+rnd.Int32N(capacity)
		for ; held+wanted > capacity; want++ {
			held = 0
			for _, r := range left {
				if r.at > want {
					held += r.bytes
				}
			}
			if held+wanted <= capacity {
				break
			}
		}
		if err := b.Check(p, capacity); err != nil {
			t.Fatalf("at %d buffer %d: %v", now, i, err)
		}
		if got := b.SpaceAt(p, capacity, wanted, now); got != want {
			t.Fatalf("at %d buffer %d has space for %d at %d, want %d", now, i, wanted, got, want)
		}
	}
	if longest < 20 {
		t.Errorf("at most %d releases were ahead", longest)
	}
	if len(p.list) > buffers*longest+1 {
		t.Errorf("the pool keeps %d releases, want at most %d", len(p.list), buffers*longest+1)
	}
}
