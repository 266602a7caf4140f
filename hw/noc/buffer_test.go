package noc

import (
	"math/rand/v2"
	"testing"

	"kernbench/unit"
)

// TestReleases holds the room that buffers get back against a plain list, with up to tens of releases ahead.
func TestReleases(t *testing.T) {
	const buffers, room = 3, 1000
	r := newRig(room, 1, 1, 1)
	n := r.Fabric
	r.over(0, 1, 2)
	rnd := rand.New(rand.NewPCG(3, 4))
	type part struct {
		at    unit.Time
		bytes int32
	}
	var ahead [buffers][]part
	now, longest := unit.Time(0), 0
	for range 20000 {
		i := uint32(rnd.IntN(buffers))
		b := n.buffer(i)
		held := int32(0)
		for _, p := range ahead[i] {
			held += p.bytes
		}
		if free := room - held; free > 0 && rnd.IntN(4) > 0 {
			p := part{now + unit.Time(rnd.IntN(50)), 1 + rnd.Int32N(min(free, 60))}
			ahead[i] = append(ahead[i], p)
			longest = max(longest, len(ahead[i]))
			b.held += p.bytes
			n.giveBack(i, p.bytes, p.at)
			continue
		}
		now += unit.Time(rnd.IntN(12))
		left := ahead[i][:0]
		held = 0
		for _, p := range ahead[i] {
			if p.at > now {
				left = append(left, p)
				held += p.bytes
			}
		}
		ahead[i] = left
		if n.settle(i, now); b.held != held {
			t.Fatalf("at %d buffer %d holds %d, want %d", now, i, b.held, held)
		}
		want, wanted := now, 1+rnd.Int32N(room)
		for ; held+wanted > room; want++ {
			held = 0
			for _, p := range left {
				if p.at > want {
					held += p.bytes
				}
			}
			if held+wanted <= room {
				break
			}
		}
		if got := n.spaceAt(i, wanted, now); got != want {
			t.Fatalf("at %d buffer %d has room for %d at %d, want %d", now, i, wanted, got, want)
		}
	}
	if longest < 20 {
		t.Errorf("at most %d releases were ahead", longest)
	}
	if len(n.overflow) > buffers*longest+1 {
		t.Errorf("%d releases are kept, of at most %d", len(n.overflow), buffers*longest)
	}
}
