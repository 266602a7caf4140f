package race_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"

	"pgregory.net/rapid"
)

// Packets whose flags are used in any way are judged as with flags in full. The pass is void, and
// takes another one, if more is done with a flag than to wait for it.
func TestFlagsInFull(t *testing.T) {
	w, data := wordOf(1, 0), at(1, 0, 8)
	send := func(h *account, from int, flag int64) { h.packet(from, data, at(from, 64, 8), w, flag) }
	take := func(h *account, flag int64) {
		h.waitPacket(1, w, flag, 0, 0)
		h.read(1, data)
	}
	answer := func(h *account, to int) {
		h.notify(1, wordOf(to, 1), 1)
		h.wait(to, 1, tl.GE, h.values[wordOf(to, 1)])
	}
	again := func(h *account) {
		h.end()
		h.launch()
	}
	for _, c := range []struct {
		name    string
		void    bool
		program func(h *account)
	}{
		{"once", false, func(h *account) { send(h, 0, 1); take(h, 1) }},
		{"no wait", false, func(h *account) { send(h, 0, 1); h.read(1, data) }},
		{"a wait before which the flag was known", false, func(h *account) {
			send(h, 0, 1)
			h.quiet(0)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			take(h, 1)
		}},
		{"another flag after an answer", false, func(h *account) {
			for flag := range int64(4) {
				send(h, 0, flag+1)
				take(h, flag+1)
				answer(h, 0)
			}
		}},
		{"another flag in the next launch", false, func(h *account) { send(h, 0, 1); take(h, 1); again(h); send(h, 0, 2); take(h, 2) }},
		{"another flag that no launch awaits", false, func(h *account) { send(h, 0, 1); again(h); send(h, 0, 2); again(h); send(h, 0, 3) }},
		{"another sender after an answer", false, func(h *account) { send(h, 0, 1); take(h, 1); answer(h, 2); send(h, 2, 2); take(h, 2) }},
		{"another sender without an answer", true, func(h *account) { send(h, 0, 1); take(h, 1); answer(h, 0); send(h, 2, 2); take(h, 2) }},
		{"another flag without an answer", true, func(h *account) { send(h, 0, 1); take(h, 1); send(h, 0, 2); take(h, 2) }},
		{"another flag after a fence", true, func(h *account) { send(h, 0, 1); take(h, 1); h.fence(0); send(h, 0, 2); take(h, 2) }},
		{"another flag before a wait", false, func(h *account) { send(h, 0, 1); send(h, 0, 2); take(h, 2) }},
		{"another flag of another sender before a wait", false, func(h *account) { send(h, 0, 1); send(h, 2, 2); take(h, 2) }},
		{"the same flag before a wait", false, func(h *account) { send(h, 0, 1); h.fence(0); send(h, 0, 1); take(h, 1) }},
		{"the same flag after an answer", true, func(h *account) { send(h, 0, 1); take(h, 1); answer(h, 0); send(h, 0, 1); take(h, 1) }},
		{"the same flag in the next launch", true, func(h *account) { send(h, 0, 1); take(h, 1); again(h); send(h, 0, 1); take(h, 1) }},
		{"the same flag in the next launch without a wait", true, func(h *account) { send(h, 0, 1); again(h); send(h, 0, 1); take(h, 1) }},
		{"the same flag after another one", false, func(h *account) {
			for _, flag := range []int64{1, 2, 1, 2} {
				send(h, 0, flag)
				take(h, flag)
				answer(h, 0)
			}
		}},
		{"a second wait", true, func(h *account) { send(h, 0, 1); take(h, 1); take(h, 1) }},
		{"a second wait in the next launch", true, func(h *account) { send(h, 0, 1); take(h, 1); again(h); take(h, 1) }},
		{"a wait in the next launch", true, func(h *account) { send(h, 0, 1); again(h); take(h, 1) }},
		{"a second reader", true, func(h *account) {
			send(h, 0, 1)
			take(h, 1)
			h.waitPacket(2, w, 1, 0, 0)
			h.read(2, data)
		}},
		{"a second reader of whom the sender knows", true, func(h *account) {
			send(h, 0, 1)
			take(h, 1)
			h.waitPacket(2, w, 1, 0, 0)
			h.read(2, data)
			h.notify(2, wordOf(0, 1), 1)
			h.wait(0, 1, tl.GE, 1)
			send(h, 0, 2)
		}},
		{"some lines", false, func(h *account) { send(h, 0, 1); h.waitPacket(1, w, 1, 0, 1); h.read(1, data) }},
		{"some lines after all", true, func(h *account) { send(h, 0, 1); take(h, 1); h.waitPacket(1, w, 1, 1, 1); h.read(1, data) }},
		{"a wait for a number", false, func(h *account) { send(h, 0, 1); h.wait(1, 0, tl.EQ, 1); h.read(1, data) }},
		{"a wait that the word satisfied before", false, func(h *account) { send(h, 0, 1); h.wait(1, 0, tl.LE, 1); h.read(1, data) }},
		{"a wait for what was there", false, func(h *account) {
			send(h, 0, 1)
			h.values[w] = 5
			take(h, 5)
		}},
		{"a wait for what was there, and again", false, func(h *account) {
			send(h, 0, 1)
			h.values[w] = 5
			take(h, 5)
			answer(h, 0)
			send(h, 0, 2)
			h.values[w] = 5
			take(h, 5)
		}},
		{"a wait for another number before the same flag", true, func(h *account) {
			send(h, 0, 1)
			take(h, 1)
			answer(h, 0)
			h.values[w] = 5
			take(h, 5)
			send(h, 0, 1)
		}},
		{"its value", true, func(h *account) { send(h, 0, 1); take(h, 1); h.loadScalar(1, 0) }},
		{"a set", true, func(h *account) { send(h, 0, 1); take(h, 1); answer(h, 0); h.set(0, w, 2) }},
		{"an addition", true, func(h *account) { send(h, 0, 1); take(h, 1); answer(h, 0); h.notify(0, w, 1) }},
		{"an addition after two packets", true, func(h *account) {
			send(h, 0, 1)
			take(h, 1)
			answer(h, 0)
			send(h, 0, 2)
			h.notify(2, w, 1)
		}},
		{"an addition after two packets of which the first was known", true, func(h *account) {
			send(h, 0, 1)
			h.quiet(0)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			take(h, 1)
			answer(h, 0)
			send(h, 0, 2)
			h.notify(2, w, 1)
		}},
		{"additions before a second packet", false, func(h *account) {
			send(h, 0, 1)
			h.peek(1, 0)
			for range 3 {
				h.notify(2, w, 1)
			}
			send(h, 0, 2)
		}},
		{"a fetch-add", true, func(h *account) { send(h, 0, 1); take(h, 1); h.fetchAdd(2, w, 1) }},
		{"a fetch-add of another word before the wait", false, func(h *account) {
			send(h, 0, 1)
			h.fetchAdd(1, wordOf(2, 3), 1)
			take(h, 1)
			answer(h, 0)
			send(h, 0, 2)
		}},
		{"large flags", false, func(h *account) {
			send(h, 0, 1<<32+1)
			take(h, 1<<32+1)
			answer(h, 0)
			send(h, 0, 1)
		}},
		{"a hazard that only a void pass has", true, func(h *account) {
			send(h, 0, 1)
			take(h, 1)
			h.waitPacket(2, w, 1, 0, 0)
			h.read(2, data)
			h.notify(2, wordOf(0, 1), 1)
		}},
	} {
		for _, order := range []mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder, mem.Sequential} {
			for _, idle := range []int{0, 40} {
				program := func(d *race.Detector) bool {
					h := newAccount(t, d, 3+idle)
					c.program(h)
					h.end()
					return true
				}
				o := race.Options{Order: order}
				short, passes := passesWith(o, func(*race.Detector) {}, program)
				full, least := passesWith(o, (*race.Detector).AllFlags, program)
				if joint := judgedWith(o, (*race.Detector).JointAll, program); !slices.Equal(joint, full) {
					t.Errorf("%s, %v, %d idle ranks:\n%q\nwithout joint events, with flags in full:\n%q", c.name, order, idle, joint, full)
				}
				if !slices.Equal(short, full) {
					t.Errorf("%s, %v, %d idle ranks:\n%q\nwith flags in full:\n%q", c.name, order, idle, short, full)
				}
				d := race.New(o)
				program(d)
				r := d.Report()
				if c.void {
					least++
				}
				if passes > least || d.Void() != c.void || c.void && (!r.Again || r.Certain) {
					t.Errorf("%s, %v, %d idle ranks: %d passes, want %d, void %v, again %v, certain %v",
						c.name, order, idle, passes, least, d.Void(), r.Again, r.Certain)
				}
				if c.void && full[1] == "0 false" && r.Total > 0 {
					t.Errorf("%s, %v, %d idle ranks: the void pass reports %v", c.name, order, idle, r)
				}
			}
		}
	}
}

// Packets of one moment share events, and are judged as others are.
func TestJointFlags(t *testing.T) {
	send := func(h *account, to int, flag int64) { h.packet(0, at(to, 0, 8), at(0, 64, 8), wordOf(to, 0), flag) }
	take := func(h *account, r int, flag int64) {
		h.waitPacket(r, wordOf(r, 0), flag, 0, 0)
		h.read(r, at(r, 0, 8))
	}
	for _, c := range []struct {
		name    string
		order   mem.Ordering
		clean   bool // in one pass
		program func(h *account)
	}{
		{"a packet for each", mem.PutSignal, true, func(h *account) {
			for r := 1; r < 4; r++ {
				send(h, r, 1)
			}
			for r := 1; r < 4; r++ {
				take(h, r, 1)
			}
		}},
		{"no wait", mem.PutSignal, false, func(h *account) { send(h, 1, 1); send(h, 2, 1); take(h, 1, 1); h.read(2, at(2, 0, 8)) }},
		{"a line of the second packet", mem.InOrder, false, func(h *account) {
			send(h, 1, 1)
			send(h, 2, 2)
			h.waitPacket(2, wordOf(2, 0), 2, 0, 1)
			h.read(2, at(2, 0, 8))
		}},
		{"the same flag again", mem.PutSignal, false, func(h *account) { send(h, 1, 1); send(h, 2, 1); send(h, 2, 1); take(h, 2, 1) }},
		{"a signal, and the same flag again", mem.PutSignal, false, func(h *account) {
			h.putSignal(0, at(1, 0, 8), at(0, 64, 8), wordOf(1, 0), 1)
			send(h, 2, 1)
			take(h, 2, 1)
			h.notify(2, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			send(h, 2, 1)
		}},
		{"a signal, and another flag", mem.PutSignal, true, func(h *account) {
			h.putSignal(0, at(1, 0, 8), at(0, 64, 8), wordOf(1, 0), 1)
			send(h, 2, 1)
			take(h, 2, 1)
			h.notify(2, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			send(h, 2, 2)
		}},
		{"a set with data", mem.PutSignal, false, func(h *account) {
			send(h, 2, 1)
			op := h.putOf(0, "put_signal", at(1, 0, 8), at(0, 64, 8), history.Record{
				Carry: true, Word: wordOf(1, 0), Type: mem.Int64, Update: tl.SignalSet, Value: 1,
			})
			h.update(0, "put_signal", wordOf(1, 0), history.Record{
				Kind: history.Notify, Op: op, Carry: true, Update: tl.SignalSet, Value: 1,
			})
			h.wait(1, 0, tl.EQ, 1)
			h.read(1, at(1, 0, 8))
		}},
		{"a second reader", mem.PutSignal, false, func(h *account) {
			send(h, 1, 1)
			send(h, 2, 1)
			take(h, 2, 1)
			h.waitPacket(3, wordOf(2, 0), 1, 0, 0)
			h.read(3, at(2, 0, 8))
		}},
	} {
		joints, passes := 0, 0
		program := func(d *race.Detector) bool {
			h := newAccount(t, d, 4)
			h.line = "kernel.go:1"
			c.program(h)
			h.end()
			joints += d.Joints()
			passes++
			return true
		}
		o := race.Options{Order: c.order}
		joint := judgedWith(o, (*race.Detector).JointAll, program)
		if joints < 3 || c.clean && passes > 1 {
			t.Errorf("%s: %d joint events, %d passes", c.name, joints, passes)
		}
		if full := judgedWith(o, (*race.Detector).AllFlags, program); !slices.Equal(joint, full) {
			t.Errorf("%s:\n%q\nwithout joint events:\n%q", c.name, joint, full)
		}
	}
}

// A void pass is repeated, even if it is the last one.
func TestVoidPassIsNotTheLast(t *testing.T) {
	const most = 16
	for d, passes := race.New(race.Options{}), 1; ; d, passes = d.Next(), passes+1 {
		h := newAccount(t, d, 3)
		h.notify(0, wordOf(1, passes), 1)
		h.wait(1, passes, tl.GE, 1)
		h.notify(2, wordOf(1, passes), 1)
		if passes == most {
			h.packet(0, at(1, 0, 8), at(0, 0, 8), wordOf(1, 0), 1)
			h.waitPacket(1, wordOf(1, 0), 1, 0, 0)
			h.waitPacket(2, wordOf(1, 0), 1, 0, 0)
		}
		h.end()
		r := d.Report()
		if !r.Again || r.Unsettled {
			t.Fatalf("after %d passes: again %v, unsettled %v", passes, r.Again, r.Unsettled)
		}
		if passes > most {
			return
		}
	}
}

// Flags of packets that are kept as an event or as a settled word are judged as words are.
func TestCompactFlags(tt *testing.T) {
	const ranks, words = 3, 2
	orders := []mem.Ordering{mem.PutSignal, mem.ByChannel, mem.InOrder, mem.Sequential}
	rapid.Check(tt, func(t *rapid.T) {
		type step struct{ do, rank, peer, cell, word, v int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
					18, 18, 18, 18, 18, 18, 19, 19, 19, 19, 19}).Draw(t, "do"),
				rapid.IntRange(0, ranks-1).Draw(t, "rank"), rapid.IntRange(1, ranks-1).Draw(t, "peer"),
				rapid.IntRange(0, 1).Draw(t, "cell") * 8, rapid.IntRange(0, words-1).Draw(t, "word"),
				rapid.IntRange(1, 2).Draw(t, "v"),
			}
		}), 1, 30).Draw(t, "steps")
		order := rapid.SampledFrom(orders).Draw(t, "order")
		idle := rapid.SampledFrom([]int{0, 32}).Draw(t, "idle ranks")
		program := func(d *race.Detector) bool {
			h := newAccount(tt, d, ranks+idle)
			for i, s := range steps {
				h.line = fmt.Sprintf("kernel.go:%d", i)
				peer := (s.rank + s.peer) % ranks
				there, w, own := at(peer, int64(s.cell), 8), wordOf(peer, s.word), wordOf(s.rank, s.word)
				held := h.values[own]
				switch s.do {
				case 0:
					h.packet(s.rank, there, at(s.rank, 64, 8), w, int64(s.v))
				case 1:
					if held > 0 {
						h.waitPacket(s.rank, own, held, 0, 0)
					}
				case 2:
					h.read(s.rank, at(s.rank, int64(s.cell), 8))
				case 3: // an answer
					h.notify(s.rank, wordOf(peer, words), 1)
				case 4:
					if n := h.values[wordOf(s.rank, words)]; n > 0 {
						h.wait(s.rank, words, tl.GE, n)
					}
				case 5:
					if held > 0 {
						h.waitPacket(s.rank, own, held, int32(s.v)-1, 1)
					}
				case 6:
					h.wait(s.rank, s.word, tl.EQ, held)
				case 7:
					h.fence(s.rank)
				case 8:
					h.quiet(s.rank)
				case 9:
					h.notify(s.rank, w, int64(s.v))
				case 10:
					h.set(s.rank, w, int64(s.v))
				case 11:
					h.loadScalar(s.rank, s.word)
				case 12:
					h.fetchAdd(s.rank, w, 1)
				case 13:
					h.end()
					h.launch()
				case 14:
					h.putSignal(s.rank, there, at(s.rank, 64, 8), w, 1)
				case 15:
					if v := h.values[w]; v > 0 { // another program of the same PE
						h.waitPacket(s.rank, w, v, 0, 0)
					}
				case 16:
					h.cas(s.rank, w, int64(s.v)-1, int64(s.v))
				case 17:
					h.read(s.rank, there)
				case 18:
					h.packet(s.rank, there, at(s.rank, 64, 8), w, int64(s.v))
					h.waitPacket(peer, w, int64(s.v), 0, 0)
				case 19: // an answer that is awaited
					word := wordOf(peer, words+1+s.rank)
					h.notify(s.rank, word, 1)
					h.waitAt(peer, "wait_until", word, tl.GE, h.values[word])
				}
			}
			h.end()
			return true
		}
		for name, change := range map[string]func(*race.Detector){"usual": func(*race.Detector) {}, "joint": (*race.Detector).JointAll} {
			o := race.Options{Order: order, Most: 1000}
			short := judgedWith(o, change, program)
			full := judgedWith(o, func(d *race.Detector) { change(d); d.AllFlags() }, program)
			if !slices.Equal(short, full) {
				t.Fatalf("%v, %s, %v:\n%q\nwith flags in full:\n%q", order, name, steps, short, full)
			}
		}
	})
}
