package history

import (
	"slices"
	"testing"
)

func TestInfo(t *testing.T) {
	for _, c := range []struct {
		who  AgentInfo
		want string
	}{
		{AgentInfo{Rank: -1, PE: -1, Stream: -1, Program: -1}, "host"},
		{AgentInfo{Rank: 2, PE: 5, Stream: -1, Program: -1}, "rank 2"},
		{AgentInfo{Rank: 2, PE: 5, Stream: 1, Program: -1}, "stream 1 of rank 2"},
		{AgentInfo{Rank: 2, PE: 5, Stream: 1, Program: 0}, "rank 2 program 0"},
		{AgentInfo{Rank: 2, PE: 5, Stream: -1, Program: -1, Queue: 1}, "queue 0 of the communication engine of rank 2"},
		{AgentInfo{Rank: 2, PE: 5, Stream: -1, Program: -1, Queue: 1, Task: 4}, "task 3 of the communication engine of rank 2"},
		{AgentInfo{Rank: 2, PE: 5, Stream: -1, Program: -1, Queue: 2, Task: 1}, "task 0 of queue 1 of the communication engine of rank 2"},
	} {
		if got := c.who.String(); got != c.want {
			t.Errorf("%+v is called %q, want %q", c.who, got, c.want)
		}
	}
}

// The tasks of a queue share a number, and records tell which task it was.
func TestTasksAreOneAgent(t *testing.T) {
	var got []string
	var l *Log
	l = New(func(rs []Record) {
		for _, r := range rs {
			got = append(got, l.InfoIn(r.Agent, r.Task).String()+", "+l.InfoIn(r.Other, r.Task).String())
		}
	})
	queue := AgentInfo{Rank: 2, Stream: -1, Program: -1, Queue: 1}
	q := l.Agent(queue)
	first := queue
	first.Task = 1
	a := l.Agent(first)
	l.Add(Record{Kind: Start, Agent: a, Other: q})
	l.Add(Record{Kind: Join, Agent: q, Other: a})
	l.Add(Record{Kind: Mark, Agent: q})
	second := queue
	second.Task = 2
	if b := l.Agent(second); b != a || b == q {
		t.Errorf("the queue is agent %d, its tasks %d and %d", q, a, b)
	}
	l.Add(Record{Kind: Drain, Agent: a})
	l.Flush()
	const engine = " of the communication engine of rank 2"
	want := []string{
		"task 0" + engine + ", queue 0" + engine, "queue 0" + engine + ", task 0" + engine,
		"queue 0" + engine + ", host", "task 1" + engine + ", host",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
