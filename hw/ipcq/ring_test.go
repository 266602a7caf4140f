package ipcq

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
	"kernbench/unit"
)

// TestSizing: the slot of a token is its number modulo the number of slots.
func TestSizing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for i := range 20000 {
		n := uint32(1 + i) // and then any
		if i >= 200 {
			n = max(1, rng.Uint32()>>(1+i%31))
		}
		z := NewSizing(int(n))
		if z.Slots() != n {
			t.Fatalf("%d slots, want %d", z.Slots(), n)
		}
		q := rng.Uint32() / n * n
		for _, number := range []uint32{0, 1, n - 1, n, n + 1, q, q - 1, q + n - 1, math.MaxUint32,
			math.MaxUint32 - 1, rng.Uint32(), rng.Uint32() >> (i % 32)} {
			if got := z.Slot(number); got != number%n {
				t.Fatalf("token %d of %d slots is in slot %d, want %d", number, n, got, number%n)
			}
		}
	}
}

// TestFree: the sender counts the slots that it knows to be free, also when counters wrap.
func TestFree(t *testing.T) {
	z := NewSizing(2)
	for _, tt := range []struct {
		r    Ring
		free uint32
	}{
		{Ring{}, 2},
		{Ring{Sent: 1}, 1},
		{Ring{Sent: 2}, 0},
		{Ring{Sent: 2, Credited: 1}, 1},
		{Ring{Sent: 2, Credited: 2}, 2},
		{Ring{Sent: 1, Credited: math.MaxUint32}, 0},
		{Ring{Sent: 0, Credited: math.MaxUint32}, 1},
	} {
		if tt.r.Free(&z) != tt.free || tt.r.Full(&z) != (tt.free == 0) {
			t.Errorf("%+v: %d free, full %v, want %d", tt.r, tt.r.Free(&z), tt.r.Full(&z), tt.free)
		}
	}
}

// TestFreeSince: a slot that was never used is free from the start, one that was given back when
// its credit has come.
func TestFreeSince(t *testing.T) {
	z := NewSizing(2)
	r, slots := Ring{}, make([]Slot, 2)
	send := func(want unit.Time) {
		t.Helper()
		if got := r.FreeSince(slots, &z); got != want {
			t.Errorf("token %d: the slot is free since %v, want %v", r.Sent, got, want)
		}
		r.Sent++
	}
	receive := func(at unit.Time) {
		r.Arrive(slots, &z, r.Visible, at)
		slots[r.Take(slots, &z)].Release(at)
		left, ok := r.Credit(slots, &z)
		if !ok {
			t.Fatal("no credit")
		}
		r.Return(slots, &z, left+100)
	}
	send(0)
	send(0)
	receive(10)
	send(110)
	receive(20)
	send(120)
}

// TestStream: a stream is open until its last token has been accepted.
func TestStream(t *testing.T) {
	for _, tt := range []struct {
		s    Stream
		open bool
	}{{Stream{}, false}, {Stream{Next: 1, Parts: 1}, false}, {Stream{Next: 1, Parts: 2}, true}, {Stream{Next: 2, Parts: 2}, false}} {
		if tt.s.Open() != tt.open {
			t.Errorf("%+v: open %v", tt.s, tt.s.Open())
		}
	}
}

// TestOverwritten: a token is overwritten once the token that many numbers after it is visible.
func TestOverwritten(t *testing.T) {
	r, z := Ring{Sent: 3, Visible: 3, Taken: 1, Returned: 1, Credited: 1}, NewSizing(2)
	if !r.Overwritten(0, &z) || r.Overwritten(1, &z) || r.Overwritten(2, &z) {
		t.Error("the third token is where the first one was")
	}
}

// TestEndUse: letting go ends the lifetime of the token that was taken last, once.
func TestEndUse(t *testing.T) {
	r, slots, z := Ring{}, make([]Slot, 2), NewSizing(2)
	if r.EndUse(slots, &z, 1) {
		t.Error("no token was taken")
	}
	for number := range uint32(2) {
		r.Sent++
		r.Arrive(slots, &z, number, 10)
	}
	if r.EndUse(slots, &z, 11) {
		t.Error("no token was taken, and two have come")
	}
	r.Take(slots, &z)
	if _, ok := r.Credit(slots, &z); ok {
		t.Error("a slot that is lent was given back")
	}
	if !r.EndUse(slots, &z, 12) || r.EndUse(slots, &z, 13) {
		t.Error("the token can be let go of, once")
	}
	if at, ok := r.Credit(slots, &z); at != 12 || !ok {
		t.Errorf("credit at %v, %v", at, ok)
	}
	if r.EndUse(slots, &z, 14) {
		t.Error("the slot has been given back")
	}
	r.Take(slots, &z)
	r.Return(slots, &z, 15)
	r.Sent++
	r.Arrive(slots, &z, 2, 20)
	slots[1].Release(21) // a token that was copied
	if r.EndUse(slots, &z, 22) {
		t.Error("the slot has been released")
	}
	if at, ok := r.Credit(slots, &z); at != 21 || !ok {
		t.Errorf("credit at %v, %v", at, ok)
	}
}

// model is a ring as a plain list of tokens, each with everything that happens to it.
type model struct {
	slots    int
	tokens   []modelToken // sent
	visible  int
	taken    int
	returned int
	credits  []unit.Time // in flight
	credited []unit.Time // when the sender knew
	last     unit.Time
}

type modelToken struct {
	arrived, ended bool
	at             unit.Time // of its arrival
	end            unit.Time // of its latest use
	reads          int
}

// modelTest is a ring and its model.
type modelTest struct {
	*rapid.T
	model
	r   Ring
	s   []Slot
	z   Sizing
	now unit.Time
}

// one draws a token for which something can be done; -1 if there is none.
func (m *modelTest) one(what string, ok func(i int) bool) int {
	var can []int
	for i := range m.tokens {
		if ok(i) {
			can = append(can, i)
		}
	}
	if len(can) == 0 {
		return -1
	}
	return rapid.SampledFrom(can).Draw(m.T, what)
}

func (m *modelTest) slot(i int) *Slot { return &m.s[i%m.slots] }

// held reports whether the kernel or a read can use a token.
func (m *modelTest) held(i int) bool { return i < m.taken && i >= m.returned && !m.tokens[i].ended }

func (m *modelTest) send() {
	free := m.slots - (len(m.tokens) - len(m.credited))
	if int(m.r.Free(&m.z)) != free || m.r.Full(&m.z) != (free == 0) {
		m.Fatalf("%d slots free, full %v, want %d", m.r.Free(&m.z), m.r.Full(&m.z), free)
	}
	if free == 0 {
		return
	}
	if i := len(m.tokens); i >= m.slots { // when the slot was known to be free
		if got, want := m.slot(i).Time, m.credited[i-m.slots]; got != want {
			m.Fatalf("slot of token %d is free since %v, want %v", i, got, want)
		}
	}
	m.r.Sent++
	m.tokens = append(m.tokens, modelToken{})
}

func (m *modelTest) arrive() {
	i := m.one("arrives", func(i int) bool { return !m.tokens[i].arrived })
	if i < 0 {
		return
	}
	k, before := &m.tokens[i], m.visible
	k.arrived, k.at = true, m.now
	for m.visible < len(m.tokens) && m.tokens[m.visible].arrived {
		m.visible++
	}
	if got := m.r.Arrive(m.s, &m.z, uint32(i), m.now); got != m.visible-before {
		m.Fatalf("token %d made %d visible, want %d", i, got, m.visible-before)
	}
}

func (m *modelTest) take() {
	if m.taken == m.visible {
		return
	}
	if before := m.taken > 0 && m.held(m.taken-1); m.r.EndUse(m.s, &m.z, m.now) != before {
		m.Fatalf("token %d can be let go of: %v", m.taken-1, before)
	} else if before {
		m.end(m.taken - 1)
	}
	k := &m.tokens[m.taken]
	if got := m.slot(m.taken).Time; got != k.at {
		m.Fatalf("token %d is visible since %v, want %v", m.taken, got, k.at)
	}
	if got := m.r.Take(m.s, &m.z); int(got) != m.taken%m.slots {
		m.Fatalf("took token %d from slot %d", m.taken, got)
	}
	m.taken++
}

// end notes in the model that the kernel no longer uses a token.
func (m *modelTest) end(i int) {
	if !m.held(i) {
		m.Fatalf("the lifetime of token %d ends, which is not held", i)
	}
	k := &m.tokens[i]
	k.ended, k.end = true, max(k.end, m.now)
}

// use does something with tokens that are held.
func (m *modelTest) use(what int) {
	switch what {
	case 0:
		if i := m.one("released", m.held); i >= 0 {
			m.end(i)
			m.slot(i).Release(m.now)
		}
	case 1:
		if i := m.one("read", m.held); i >= 0 {
			m.tokens[i].end = max(m.tokens[i].end, m.now+9)
			m.slot(i).Read(m.now + 9)
		}
	case 2:
		if i := m.one("reads begin", m.held); i >= 0 {
			m.tokens[i].reads += 2
			m.slot(i).BeginRead(2)
		}
	case 3:
		if i := m.one("read ends", func(i int) bool { return m.tokens[i].reads > 0 }); i >= 0 {
			k := &m.tokens[i]
			k.reads--
			k.end = max(k.end, m.now+5)
			m.slot(i).EndRead(m.now + 5)
		}
	}
}

func (m *modelTest) credit() {
	for {
		at, ok := m.r.Credit(m.s, &m.z)
		free := m.returned < m.taken && m.tokens[m.returned].ended && m.tokens[m.returned].reads == 0
		if ok != free {
			m.Fatalf("credit %d: %v, want %v", m.returned, ok, free)
		}
		if !ok {
			return
		}
		if m.last = max(m.last, m.tokens[m.returned].end); at != m.last {
			m.Fatalf("credit %d leaves at %v, want %v", m.returned, at, m.last)
		}
		m.returned++
		m.credits = append(m.credits, at+7)
	}
}

// learn lets the sender know of a credit.
func (m *modelTest) learn() {
	if len(m.credits) == 0 {
		return
	}
	m.r.Return(m.s, &m.z, m.credits[0])
	m.credited, m.credits = append(m.credited, m.credits[0]), m.credits[1:]
}

// TestRingAgainstModel: tokens arrive in any order within the slots, and reads end at once or
// later. Tokens are let go of in any order, and credits reach the sender late.
func TestRingAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &modelTest{T: rt}
		m.slots = rapid.IntRange(1, 5).Draw(rt, "slots")
		m.s, m.z = make([]Slot, m.slots), NewSizing(m.slots)
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			m.now += unit.Time(rapid.IntRange(0, 3).Draw(rt, "pass"))
			switch what := rapid.IntRange(0, 7).Draw(rt, "what"); what {
			case 4:
				m.send()
			case 5:
				m.arrive()
			case 6:
				m.take()
			case 7:
				m.learn()
			default:
				m.use(what)
			}
			if rapid.IntRange(0, 2).Draw(rt, "give credits") > 0 {
				m.credit()
			}
			if r := &m.r; int(r.Waiting()) != m.visible-m.taken || int(r.Occupied()) != m.visible-m.returned {
				rt.Fatalf("%d waiting, %d occupied; want %d, %d", r.Waiting(), r.Occupied(), m.visible-m.taken, m.visible-m.returned)
			}
			for i := range m.visible {
				if got, want := m.r.Overwritten(uint32(i), &m.z), m.visible-i > m.slots; got != want {
					rt.Fatalf("token %d is overwritten: %v", i, got)
				}
			}
		}
	})
}
