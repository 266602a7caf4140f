package race_test

import (
	"testing"

	"kernbench/check/race"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

func TestStreams(t *testing.T) {
	agent := func(l *history.Log, stream, program int) history.Agent {
		return l.Agent(history.AgentInfo{Rank: 0, PE: 0, Stream: stream, Program: program})
	}
	for _, c := range []struct {
		name string
		run  func(l *history.Log, s1, s2 history.Agent)
		want []string
	}{
		{"copy, event, copy", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			l.Add(history.Record{Kind: history.Mark, Agent: s1, Ring: 9})
			l.Add(history.Record{Kind: history.Pass, Agent: s2, Ring: 9})
			l.Add(history.Record{Kind: history.Copy, Agent: s2, Op: 2, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, nil},
		{"copy and copy", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			l.Add(history.Record{Kind: history.Mark, Agent: s1, Ring: 9})
			l.Add(history.Record{Kind: history.Copy, Agent: s2, Op: 2, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, []string{"race copy copy"}},
		{"copy, program, copy", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			for i := range 3 {
				p := agent(l, 1, i)
				l.Add(history.Record{Kind: history.Start, Agent: p, Other: s1})
				l.Add(history.Record{Kind: history.Store, Agent: p, Op: uint64(5 + i), Call: "store", Range: at(1, int64(i)*8, 8).rng()})
			}
			for i := range 3 {
				l.Add(history.Record{Kind: history.Join, Agent: s1, Other: agent(l, 1, i)})
			}
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 9, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, nil},
		{"write_value is over before the stream goes on", func(l *history.Log, s1, s2 history.Agent) {
			write := func(s history.Agent, v int64) {
				l.Add(history.Record{Kind: history.Notify, Agent: s, Call: "write_value", Word: wordOf(1, 0), Peer: 1,
					Type: mem.Int32, Update: tl.SignalSet, Value: v})
			}
			write(s1, 1)
			l.Add(history.Record{Kind: history.Mark, Agent: s1, Ring: 9})
			l.Add(history.Record{Kind: history.Pass, Agent: s2, Ring: 9})
			write(s2, 2)
		}, nil},
		{"two grids, one after the other", func(l *history.Log, s1, s2 history.Agent) {
			for op := range uint64(2) {
				for i := range 3 {
					p := agent(l, 1, i)
					l.Add(history.Record{Kind: history.Start, Agent: p, Other: s1})
					l.Add(history.Record{Kind: history.Store, Agent: p, Op: 10*op + uint64(5+i), Call: "store",
						Range: at(1, int64(i+int(op))%3*8, 8).rng()})
				}
				for i := range 3 {
					l.Add(history.Record{Kind: history.Join, Agent: s1, Other: agent(l, 1, i)})
				}
			}
		}, nil},
		{"programs of a grid", func(l *history.Log, s1, s2 history.Agent) {
			for i := range 3 {
				p := agent(l, 1, i)
				l.Add(history.Record{Kind: history.Start, Agent: p, Other: s1})
				l.Add(history.Record{Kind: history.Store, Agent: p, Op: uint64(5 + i), Call: "store", Range: at(1, 0, 8).rng()})
				l.Add(history.Record{Kind: history.Join, Agent: s1, Other: p}) // one after the other in this run
			}
		}, []string{"race store store"}},
		{"write_value, wait_value", func(l *history.Log, s1, s2 history.Agent) {
			l.Add(history.Record{Kind: history.Copy, Agent: s1, Op: 1, Call: "copy", Range: at(1, 0, 64).rng(), Source: at(0, 0, 64).rng()})
			l.Add(history.Record{Kind: history.Notify, Agent: s1, Call: "write_value", Word: wordOf(1, 0), Peer: 1,
				Type: mem.Int32, Update: tl.SignalSet, Value: 1})
			l.Add(history.Record{Kind: history.Wait, Agent: s2, Call: "wait_value", Word: wordOf(1, 0),
				Type: mem.Int32, Cmp: tl.EQ, Value: 1, Seen: 1})
			l.Add(history.Record{Kind: history.Copy, Agent: s2, Op: 2, Call: "copy", Range: at(0, 0, 64).rng(), Source: at(1, 0, 64).rng()})
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := race.New(race.Options{})
			l := d.Log()
			s1, s2 := agent(l, 1, -1), agent(l, 2, -1)
			l.Add(history.Record{Kind: history.Start, Agent: s1})
			l.Add(history.Record{Kind: history.Start, Agent: s2})
			c.run(l, s1, s2)
			if diff := cmp.Diff(c.want, kinds(d.Report())); diff != "" {
				t.Errorf("hazards (-want +got):\n%s%v", diff, d.Report())
			}
		})
	}
}
