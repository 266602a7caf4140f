package race_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// manyUpdates adds to word 0 of rank 1 more often than updates are kept. Then rank 1 loads it.
func manyUpdates(h *account) {
	for range 5000 {
		h.notify(0, wordOf(1, 0), 1)
	}
	h.fence(0)
	h.notify(0, wordOf(1, 1), 1)
	h.wait(1, 1, tl.GE, 1)
	h.loadScalar(1, 0)
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		name    string
		run     func(h *account)
		want    race.Class
		depends []string
	}{
		{"nothing", func(h *account) {}, race.Directed, nil},
		{"messages and own memory", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.send(0, 1)
			s := h.recv(1, 1)
			h.useSlot(1, 1, s)
			h.store(1, at(1, 0, 64))
		}, race.Directed, nil},
		{"memory that two read", func(h *account) {
			h.read(0, at(1, 0, 64))
			h.read(1, at(1, 0, 64))
		}, race.Directed, nil},
		{"memory that two write, in two launches", func(h *account) {
			h.store(0, at(1, 0, 64))
			h.end()
			h.launch()
			h.store(1, at(1, 0, 64))
		}, race.Directed, nil},
		{"memory that a message orders", func(h *account) {
			h.store(0, at(1, 0, 64))
			h.drain(0)
			h.send(0, 1)
			h.recv(1, 1)
			h.store(1, at(1, 0, 64))
		}, race.Counting, nil},
		{"words that grow", func(h *account) {
			h.putSignal(0, at(1, 0, 64), at(0, 0, 64), wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.wait(1, 0, tl.GT, 0)
		}, race.Counting, nil},
		{"combines of integers", func(h *account) {
			h.combine(0, at(1, 0, 64), false)
			h.combine(1, at(1, 0, 64), false)
		}, race.Counting, nil},
		{"combines that round, one after the other", func(h *account) {
			h.combine(0, at(1, 0, 64), true)
			h.barrier()
			h.combine(1, at(1, 0, 64), true)
		}, race.Counting, nil},
		{"combines that round", func(h *account) {
			h.combine(0, at(1, 0, 64), true)
			h.combine(1, at(1, 0, 64), true)
		}, race.Scheduled, []string{"put_combine"}},
		{"recv of any", func(h *account) {
			h.send(0, 1)
			h.add(1, "recv", history.Record{Kind: history.Any})
			h.recv(1, 1)
		}, race.Scheduled, []string{"recv"}},
		{"set", func(h *account) { h.set(0, wordOf(1, 0), 1) }, race.Scheduled, []string{"set"}},
		{"overflow", func(h *account) {
			h.notify(0, wordOf(1, 0), math.MaxInt64)
			h.notify(0, wordOf(1, 0), 1)
		}, race.Scheduled, []string{"overflow"}},
		{"less", func(h *account) { h.notify(0, wordOf(1, 0), -1) }, race.Scheduled, []string{"add"}},
		{"other waits", func(h *account) {
			h.wait(1, 0, tl.EQ, 0)
			h.wait(1, 0, tl.LE, 0)
			h.wait(1, 0, tl.LT, 1)
			h.wait(1, 0, tl.NE, 1)
		}, race.Scheduled, []string{"wait ==", "wait <=", "wait <", "wait !="}},
		{"test that fails, and one that does not", func(h *account) {
			h.poll(1, 0, tl.GE, 1)
			h.notify(0, wordOf(1, 0), 1)
			h.waitAs(1, "test", 0, tl.GE, 1)
		}, race.Scheduled, []string{"test", "test"}},
		{"load_scalar after all updates", func(h *account) {
			h.notify(0, wordOf(1, 0), 7)
			h.fence(0)
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.loadScalar(1, 0)
		}, race.Counting, nil},
		{"load_scalar between updates", func(h *account) {
			h.notify(0, wordOf(1, 0), 7)
			h.wait(1, 0, tl.GE, 7)
			h.loadScalar(1, 0)
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			h.notify(0, wordOf(1, 0), 2)
		}, race.Counting, nil},
		{"load_scalar over and over", func(h *account) {
			for i := range 3 {
				h.loadScalar(1, 0)
				if i == 1 {
					h.notify(0, wordOf(1, 0), 7)
				}
			}
		}, race.Scheduled, []string{"load_scalar"}},
		{"load_scalar of what no update explains", func(h *account) {
			h.values[wordOf(1, 0)] = 7
			h.loadScalar(1, 0)
		}, race.Scheduled, []string{"load_scalar"}},
		{"load_scalar after more updates than are kept", manyUpdates, race.Scheduled, []string{"load_scalar"}},
		{"load_scalar before and after more updates than are kept", func(h *account) {
			h.loadScalar(1, 0)
			h.notify(1, wordOf(0, 0), 1)
			h.wait(0, 0, tl.GE, 1)
			manyUpdates(h)
		}, race.Scheduled, []string{"load_scalar"}},
		{"load_scalar of an agent that has ended and begins again", func(h *account) {
			look := func() {
				w := wordOf(1, 0)
				h.add(0, "load_scalar", history.Record{Kind: history.Read, Word: w, Type: mem.Int64, Seen: h.values[w]})
			}
			look()
			h.notify(0, wordOf(1, 1), 1)
			h.wait(1, 1, tl.GE, 1)
			h.log.Add(history.Record{Kind: history.Join, Agent: history.Host, Other: h.agent(0)})
			for range 8 {
				h.notify(1, wordOf(1, 0), 1)
				h.quiet(1)
				h.loadScalar(1, 0)
			}
			h.log.Add(history.Record{Kind: history.Start, Agent: h.agent(0), Other: history.Host})
			look()
		}, race.Scheduled, []string{"load_scalar", "load_scalar", "race"}},
		{"peek, atomics", func(h *account) {
			h.peek(1, 0)
			h.fetchAdd(0, wordOf(1, 0), 1)
			h.cas(0, wordOf(1, 0), 0, 1)
		}, race.Scheduled, []string{"load_scalar", "fetch_add", "compare_swap"}},
		{"a hazard", func(h *account) {
			h.store(0, at(1, 0, 64))
			h.store(1, at(1, 0, 64))
		}, race.Scheduled, []string{"race"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, 2, mem.PutSignal, c.run)
			var got []string
			for _, d := range rep.Depends {
				got = append(got, d.Op)
				if d.Line == "" || d.Why == "" || d.Count < 1 {
					t.Errorf("incomplete: %+v", d)
				}
			}
			if rep.Class != c.want || !cmp.Equal(got, c.depends) {
				t.Errorf("class %v because of %v, want %v because of %v", rep.Class, got, c.want, c.depends)
			}
		})
	}
}

// Hazards of the same lines are one, distinguished by the buffer, and counted.
func TestReportIsShort(t *testing.T) {
	d := race.New(race.Options{
		Most:   2,
		PEName: func(pe int) string { return fmt.Sprintf("sip0.cube0.pe%d", pe) },
		Region: func(a mem.Addr) string {
			return fmt.Sprintf("w.part%d of rank %d, byte %d", a.Offset()/1000, a.Unit(), a.Offset()%1000)
		},
	})
	h := newAccount(t, d, 2)
	h.log.Timed = true
	both := func(lo int64) {
		h.add(0, "store", history.Record{Kind: history.Store, Op: h.log.NextOp(), Range: at(1, lo, 16).rng(), Time: 1500})
		h.add(1, "load", history.Record{Kind: history.Load, Op: h.log.NextOp(), Range: at(1, lo+8, 16).rng(), Time: 2500})
	}
	for _, lo := range []int64{0, 100, 1000, 200, 2000, 3000} {
		both(lo)
	}
	rep := d.Report()
	if rep.Total != 6 || len(rep.Hazards) != 2 || rep.Left != 2 || rep.Hazards[0].Count != 3 {
		t.Fatalf("%d in all, %d described, %d left out, the first %d times", rep.Total, len(rep.Hazards), rep.Left, rep.Hazards[0].Count)
	}
	s := rep.Hazards[0].String()
	for _, want := range []string{"w.part0 of rank 1, byte 8 (3 times)", "rank 0 (sip0.cube0.pe0)",
		"rank 1 (sip0.cube0.pe1)", "t=1.5ns", "t=2.5ns", "16 bytes", "missing:"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in\n%s", want, s)
		}
	}
	text, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"class":"scheduled"`, `"kind":"race"`, `"total":6`, `"left_out":2`,
		`"pe":"sip0.cube0.pe0"`, `"does":"write"`, `"count":3`, `"time_ps":1500`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// One access that conflicts in many rows with one other is one occurrence.
func TestRowsAreOneOccurrence(t *testing.T) {
	rep := judged(t, 2, mem.PutSignal, func(h *account) {
		h.store(0, span{1, 0, 32, 8, 64})
		h.store(1, span{1, 16, 32, 8, 64})
	})
	if rep.Total != 1 {
		t.Errorf("%d occurrences, want 1", rep.Total)
	}
}

// The line "missing" of a report names an operation that the author can add.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(h *account)
		want string
	}{
		{"fence", func(h *account) {
			h.put(0, at(1, 0, 64), at(0, 0, 64))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(1, 0, 64))
		}, "a fence (or quiet) of rank 0 between put at"},
		{"fence between puts that both signal", func(h *account) {
			h.put(0, at(1, 0, 64), at(0, 0, 64))
			h.notify(0, wordOf(1, 1), 1)
			h.line = "here.go:1"
			h.notify(0, wordOf(1, 0), 1)
			h.line = ""
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(1, 0, 64))
		}, "and notify at here.go:1, which notifies rank 1"},
		{"fence of a put that has finished", func(h *account) {
			h.put(0, at(1, 0, 64), at(0, 0, 64))
			h.notify(0, wordOf(1, 0), 1)
			h.quiet(0)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(1, 0, 64))
		}, "a fence (or quiet) of rank 0 between put at"},
		{"quiet, for another peer", func(h *account) {
			h.put(0, at(2, 0, 64), at(0, 0, 64))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(2, 0, 64))
		}, "a quiet of rank 0 between put at"},
		{"pipe barrier", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(0, 0, 64))
		}, "a pipe_barrier of rank 0 between store at"},
		{"use", func(h *account) {
			h.load(0, at(1, 0, 64))
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(1, at(1, 0, 64))
		}, "a use of the loaded tensor (or a pipe_barrier) of rank 0 between load at"},
		{"signal", func(h *account) {
			h.store(0, at(0, 0, 64))
			h.drain(0)
			h.read(1, at(0, 0, 64))
		}, "rank 1 must wait, before load at"},
		{"barrier", func(h *account) {
			h.read(0, at(1, 0, 64))
			h.store(1, at(1, 0, 64))
		}, "rank 1 must not write before rank 0 has read: a barrier between load at"},
		{"one word for each", twoMay(true), "other updates can satisfy it without notify at"},
		{"a wait for the first notification, twice", func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(0, at(0, 0, 64))
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.read(1, at(0, 0, 64))
		}, "of rank 1 ends with >= 1, and other updates can satisfy it without notify at"},
		{"a writer that is a round ahead", func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.GE, 1)
			h.store(0, at(0, 0, 64))
			h.drain(0)
			h.notify(0, wordOf(1, 0), 1)
			h.read(1, at(0, 0, 64)) // in the round that the wait was for
		}, "is of a later round, rank 0 must first wait for a signal that rank 1 sends after load at"},
		{"quiet before own store", func(h *account) {
			h.putNBI(0, at(1, 0, 64), at(0, 0, 64))
			h.store(0, at(0, 0, 64))
		}, "a quiet between put_nbi at"},
		{"quiet before own load", func(h *account) {
			h.putTensor(0, at(1, 0, 64))
			h.read(0, at(1, 0, 64))
		}, "a put returns before it has arrived"},
		{"pipe barrier before own put", func(h *account) {
			h.store(0, at(1, 0, 64))
			h.putTensor(0, at(1, 0, 64))
		}, "a pipe_barrier between store at"},
		{"use before own put", func(h *account) {
			h.load(0, at(1, 0, 64))
			h.putTensor(0, at(1, 0, 64))
		}, "a use of the tensor loaded by load at"},
		{"fence between own puts", func(h *account) {
			h.putTensor(0, at(1, 0, 64))
			h.putTensor(0, at(1, 0, 64))
		}, "a fence between put at"},
		{"answer", func(h *account) {
			h.notify(0, wordOf(1, 0), 1)
			h.wait(1, 0, tl.EQ, 1)
			h.notify(0, wordOf(1, 0), 1)
		}, "let it wait for an answer that rank 1 sends after wait_until at"},
		{"order of sets", func(h *account) {
			h.set(0, wordOf(1, 0), 0)
			h.notify(2, wordOf(1, 0), 1)
		}, "rank 0 must know that the update of rank 2 has arrived before it sets the word"},
		{"order of own sets", func(h *account) {
			h.set(0, wordOf(1, 0), 1)
			h.set(0, wordOf(1, 0), 2)
		}, "a fence or quiet of rank 0 between notify at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := judged(t, 3, mem.PutSignal, c.run)
			if len(rep.Hazards) == 0 || !strings.Contains(rep.Hazards[0].Missing, c.want) {
				t.Errorf("want %q in\n%v", c.want, rep)
			}
		})
	}
}

// A window may lie where another one was: its words begin at 0 again.
func TestFresh(t *testing.T) {
	use := func(h *account) {
		h.put(0, at(1, 0, 64), at(0, 0, 64))
		h.fence(0)
		h.notify(0, wordOf(1, 0), 1)
		h.wait(1, 0, tl.GE, 1)
		h.read(1, at(1, 0, 64))
	}
	for _, c := range []struct {
		name  string
		again func(d *race.Detector, h *account)
		want  int
	}{
		{"the same window", func(d *race.Detector, h *account) {}, 1},
		{"a new one", func(d *race.Detector, h *account) {
			d.Fresh(wordOf(1, 0), 8)
			clear(h.values)
		}, 0},
		{"a new one beside it", func(d *race.Detector, h *account) { d.Fresh(wordOf(1, 1), 8) }, 1},
	} {
		d := race.New(race.Options{})
		h := newAccount(t, d, 2)
		use(h)
		h.end()
		c.again(d, h)
		h.launch()
		use(h)
		h.end()
		if rep := d.Report(); rep.Total != c.want {
			t.Errorf("%s: %d hazards, want %d\n%v", c.name, rep.Total, c.want, rep)
		}
	}
}

// The host may write words between launches and say nothing: what is seen then cannot come of
// the updates.
func TestWordsThatTheHostWrote(t *testing.T) {
	for _, v := range []int64{-3, 0, 100} {
		d := race.New(race.Options{})
		h := newAccount(t, d, 2)
		h.notify(0, wordOf(1, 0), 5)
		h.wait(1, 0, tl.GE, 5)
		h.end()
		h.values[wordOf(1, 0)] = v
		h.launch()
		h.put(0, at(1, 0, 64), at(0, 0, 64))
		h.fence(0)
		h.notify(0, wordOf(1, 0), 1)
		h.wait(1, 0, tl.EQ, v+1)
		h.read(1, at(1, 0, 64))
		h.end()
		if rep := d.Report(); rep.Total > 0 {
			t.Errorf("the host wrote %d: %v", v, rep)
		}
	}
}

// A thousand programs of a grid, and several launches of it.
func TestManyPrograms(t *testing.T) {
	d := race.New(race.Options{})
	l := d.Log()
	s := l.Agent(history.AgentInfo{Rank: 0, PE: 0, Stream: 1, Program: -1})
	l.Add(history.Record{Kind: history.Start, Agent: s})
	const n = 1000
	for range 3 {
		for i := range n {
			p := l.Agent(history.AgentInfo{Rank: 0, PE: 0, Stream: 1, Program: i})
			l.Add(history.Record{Kind: history.Start, Agent: p, Other: s})
			l.Add(history.Record{Kind: history.Store, Agent: p, Op: l.NextOp(), Call: "store", Range: at(0, int64(i)*64, 64).rng()})
		}
		for i := range n {
			l.Add(history.Record{Kind: history.Join, Agent: s, Other: l.Agent(history.AgentInfo{Rank: 0, PE: 0, Stream: 1, Program: i})})
		}
	}
	if _, clocks := d.Live(); clocks > 8 {
		t.Errorf("%d clocks are held though all programs have ended", clocks)
	}
	if rep := d.Report(); rep.Total > 0 {
		t.Error(rep)
	}
}

// Streams are ordered by events, programs of one grid by launches, and copies are no messages.
func TestMissingBetweenStreams(t *testing.T) {
	start := func(l *history.Log, w history.AgentInfo, parent history.Agent) history.Agent {
		a := l.Agent(w)
		l.Add(history.Record{Kind: history.Start, Agent: a, Other: parent})
		return a
	}
	stream := func(l *history.Log, id, pe int) history.Agent {
		return start(l, history.AgentInfo{Rank: pe, PE: pe, Stream: id, Program: -1}, history.Host)
	}
	program := func(l *history.Log, s history.Agent, id, pe, program int) history.Agent {
		return start(l, history.AgentInfo{Rank: pe, PE: pe, Stream: id, Program: program}, s)
	}
	copied := func(l *history.Log, a history.Agent) {
		l.Add(history.Record{Kind: history.Copy, Agent: a, Op: l.NextOp(), Call: "copy", Range: at(1, 0, 64).rng(),
			Source: at(0, 0, 64).rng()})
	}
	stored := func(l *history.Log, a history.Agent) {
		l.Add(history.Record{Kind: history.Store, Agent: a, Op: l.NextOp(), Call: "store", Range: at(1, 0, 64).rng()})
	}
	for _, c := range []struct {
		name, want string
		run        func(l *history.Log)
	}{
		{"a copy alone", "", func(l *history.Log) { copied(l, stream(l, 0, 0)) }},
		{"copies", "or an event of one stream that the other awaits (a join) between them", func(l *history.Log) {
			copied(l, stream(l, 0, 0))
			copied(l, stream(l, 1, 1))
		}},
		{"programs of two grids", "or a barrier, or an event of one stream that the other awaits (a join), between them",
			func(l *history.Log) {
				s, o := stream(l, 0, 0), stream(l, 1, 1)
				stored(l, program(l, s, 0, 0, 0))
				stored(l, program(l, o, 1, 1, 0))
			}},
		{"programs of one grid", "or the end of a launch and another launch between them", func(l *history.Log) {
			s := stream(l, 0, 0)
			p, o := program(l, s, 0, 0, 0), program(l, s, 0, 0, 1)
			stored(l, p)
			stored(l, o)
		}},
	} {
		d := race.New(race.Options{})
		c.run(d.Log())
		rep := d.Report()
		switch {
		case c.want == "" && (rep.Total > 0 || rep.Class != race.Counting):
			t.Errorf("%s: %v", c.name, rep)
		case c.want != "" && (rep.Total != 1 || !strings.Contains(rep.Hazards[0].Missing, c.want)):
			t.Errorf("%s: want %q in\n%v", c.name, c.want, rep)
		}
	}
}
