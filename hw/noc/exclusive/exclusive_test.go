package exclusive

import (
	"math/rand/v2"
	"testing"

	"kernbench/machine"
	"kernbench/unit"
)

// TestPass holds messages over routes against the formula, link by link, whether or not they catch
// up with the one before.
func TestPass(t *testing.T) {
	links := []*machine.LinkSpec{}
	for i, rate := range []unit.Rate{64e9, 16e9, 32e9} {
		links = append(links, &machine.LinkSpec{Rate: rate, Serial: rate.Serial(), Router: unit.Time(3 + i), Wire: unit.Time(100 * i)})
	}
	x := New(false)
	x.Learn(2, links)
	if x.Knows(1) || !x.Knows(2) || x.Knows(3) {
		t.Error("another kind is known than was learnt")
	}
	r := rand.New(rand.NewPCG(5, 6))
	states := []State{x.Add(2), x.Add(2)}
	free := make([][]unit.Time, len(states))
	at, waited := make([]unit.Time, len(states)), 0
	for i := range free {
		free[i] = make([]unit.Time, len(links))
	}
	for range 5000 {
		i := r.IntN(len(states))
		bytes := []int64{0, 64, 64, 4096}[r.IntN(4)]
		at[i] += unit.Time(r.IntN(3)) * unit.Time(r.IntN(400_000))
		departed, delivered := x.Pass(&states[i], 2, bytes, at[i])
		head, tail, left := at[i], at[i], unit.Time(0)
		for k, l := range links {
			start := max(head, free[i][k])
			if start > head {
				waited++
			}
			free[i][k] = max(start+l.Serial.Time(max(1, bytes)), tail)
			if k == 0 {
				left = free[i][k]
			}
			head, tail = start+l.Router+l.Wire, free[i][k]+l.Router+l.Wire
		}
		if departed != left || delivered != tail {
			t.Fatalf("%d bytes at %v: departed %v, delivered %v, want %v and %v", bytes, at[i], departed, delivered, left, tail)
		}
	}
	if waited < 100 {
		t.Errorf("messages waited %d times only", waited)
	}
}

// TestIdeal: messages take the latencies and the slowest link, and keep their order.
func TestIdeal(t *testing.T) {
	rate := unit.Rate(1e12) // 1 byte a ps
	x := New(true)
	x.Learn(0, []*machine.LinkSpec{{Serial: rate.Serial(), Wire: 10}, {Serial: unit.Rate(5e11).Serial(), Router: 5}})
	s := x.Add(0)
	for _, c := range []struct{ bytes, at, departed, delivered int64 }{{1000, 0, 1000, 2015}, {10, 100, 110, 2015},
		{10, 3000, 3010, 3035}} {
		departed, delivered := x.Pass(&s, 0, c.bytes, unit.Time(c.at))
		if departed != unit.Time(c.departed) || delivered != unit.Time(c.delivered) {
			t.Errorf("%+v: departed %d, delivered %d", c, departed, delivered)
		}
	}
}
