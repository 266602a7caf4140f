package ipcq

import (
	"testing"

	"pgregory.net/rapid"

	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

const ns = unit.Nanosecond

func TestPartOf(t *testing.T) {
	whole := Token{Value: 9, Off: 100, N: 25, Total: 25, Parts: 3, Type: dtype.F32}
	at := int32(100)
	for i, n := range []int32{10, 10, 5} {
		p := whole.PartOf(i, 10)
		if p.Part != int32(i) || p.Off != at || p.N != n || p.Bytes() != int64(4*n) || p.Value != 9 || p.Total != 25 {
			t.Errorf("part %d: %+v", i, p)
		}
		at += n
	}
	if p := (Token{Parts: 1}).PartOf(0, 8); p.N != 0 || p.Bytes() != 0 {
		t.Errorf("an empty payload is one empty token, not %+v", p)
	}
}

func TestTx(t *testing.T) {
	tx := Tx{Slots: 2}
	tx.MyHead += 2
	if tx.Free() != 0 || tx.Streaming() {
		t.Errorf("%+v", tx)
	}
	tx.PeerTailCache++
	if tx.Free() != 1 {
		t.Errorf("one credit, %d free", tx.Free())
	}
	tx.Stream = Stream{Token: Token{Parts: 2}, Next: 1}
	if !tx.Streaming() {
		t.Error("a part is left")
	}
	tx.MyHead, tx.PeerTailCache = 1, 1<<32-1 // pointers wrap
	if tx.Free() != 0 {
		t.Errorf("over the end of the counters: %d free", tx.Free())
	}
}

func TestWake(t *testing.T) {
	sleep, poll := tl.Ring{WakeCost: 7 * ns}, tl.Ring{Poll: true, PollEvery: 10 * ns, WakeCost: 99 * ns}
	tests := []struct {
		ring            *tl.Ring
		since, at, want unit.Time
	}{
		{&sleep, 100 * ns, 50 * ns, 100 * ns},
		{&sleep, 100 * ns, 100 * ns, 100 * ns},
		{&sleep, 100 * ns, 101 * ns, 108 * ns},
		{&poll, 100 * ns, 100 * ns, 100 * ns},
		{&poll, 100 * ns, 100*ns + 1, 110 * ns},
		{&poll, 100 * ns, 110 * ns, 110 * ns},
		{&poll, 103 * ns, 134 * ns, 143 * ns},
		{&tl.Ring{Poll: true, WakeCost: 7 * ns}, 100 * ns, 101 * ns, 108 * ns}, // no interval: as if it slept
	}
	for _, tt := range tests {
		if got := Wake(tt.ring, tt.since, tt.at); got != tt.want {
			t.Errorf("poll=%v since %v at %v: %v, want %v", tt.ring.Poll, tt.since, tt.at, got, tt.want)
		}
	}
}

func TestOverwritten(t *testing.T) {
	var r Rx
	r.Init(2)
	for seq := range uint32(3) {
		r.Arrive(Token{N: int32(seq)}, seq)
	}
	if !r.Overwritten(0) || r.Overwritten(1) || r.Overwritten(2) {
		t.Error("the third token lies where the first one lay")
	}
}

// model is a receiving ring as a plain list of tokens, each with everything that happens
// to it.
type model struct {
	slots  int
	tokens []modelToken
	shown  int // tokens that are visible
	taken  int
	given  int // credits
	last   unit.Time
}

type modelToken struct {
	arrived, let bool
	end          unit.Time
	reads        int
}

// TestRxAgainstModel: tokens that come in any order within the slots, reads that end at
// once or later, slots let go of in any order.
func TestRxAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{slots: rapid.IntRange(1, 5).Draw(t, "slots")}
		var r Rx
		r.Init(m.slots)
		now := unit.Time(0)
		pick := func(what string, ok func(i int) bool) int {
			var can []int
			for i := range m.tokens {
				if ok(i) {
					can = append(can, i)
				}
			}
			if len(can) == 0 {
				return -1
			}
			return rapid.SampledFrom(can).Draw(t, what)
		}
		slot := func(i int) int32 { return int32(i % m.slots) }
		live := func(i int) bool { return i < m.taken && i >= m.given && !m.tokens[i].let }
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += unit.Time(rapid.IntRange(0, 3).Draw(t, "pass"))
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0: // the sender uses a slot that it has the credit for
				if len(m.tokens)-m.given < m.slots {
					m.tokens = append(m.tokens, modelToken{})
				}
			case 1:
				i := pick("arrive", func(i int) bool { return !m.tokens[i].arrived })
				if i < 0 {
					continue
				}
				m.tokens[i].arrived = true
				before := m.shown
				for m.shown < len(m.tokens) && m.tokens[m.shown].arrived {
					m.shown++
				}
				if got := r.Arrive(Token{N: int32(i), Type: dtype.I8}, uint32(i)); got != m.shown-before {
					t.Fatalf("token %d made %d visible, want %d", i, got, m.shown-before)
				}
			case 2:
				if m.taken == m.shown {
					continue
				}
				tok := r.Peek()
				if int(tok.N) != m.taken {
					t.Fatalf("next is token %d, want %d", tok.N, m.taken)
				}
				got, s := r.Take()
				if int(got.N) != m.taken || s != slot(m.taken) || r.Bytes(s) != int64(m.taken) {
					t.Fatalf("took token %d from slot %d, want %d", got.N, s, m.taken)
				}
				m.taken++
			case 3:
				if i := pick("begin", live); i >= 0 {
					m.tokens[i].reads++
					r.BeginRead(slot(i))
				}
			case 4:
				if i := pick("end", func(i int) bool { return m.tokens[i].reads > 0 }); i >= 0 {
					k := &m.tokens[i]
					k.reads--
					k.end = max(k.end, now+5)
					r.EndRead(slot(i), now+5)
				}
			case 5:
				if i := pick("let go", live); i >= 0 {
					m.tokens[i].let = true
					m.tokens[i].end = max(m.tokens[i].end, now)
					r.Release(slot(i), now)
				}
			case 6:
				if i := pick("read", live); i >= 0 {
					m.tokens[i].end = max(m.tokens[i].end, now+9)
					r.Read(slot(i), now+9)
				}
			}
			for {
				at, ok := r.Credit()
				free := m.given < m.taken && m.tokens[m.given].let && m.tokens[m.given].reads == 0
				if ok != free {
					t.Fatalf("credit %d: %v, want %v", m.given, ok, free)
				}
				if !ok {
					break
				}
				if m.last = max(m.last, m.tokens[m.given].end); at != m.last {
					t.Fatalf("credit %d leaves at %v, want %v", m.given, at, m.last)
				}
				m.given++
			}
			if int(r.Visible()) != m.shown-m.taken || int(r.Occupied()) != m.shown-m.given {
				t.Fatalf("%d visible, %d occupied; want %d, %d", r.Visible(), r.Occupied(), m.shown-m.taken, m.shown-m.given)
			}
		}
	})
}
