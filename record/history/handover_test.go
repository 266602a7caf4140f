package history

import (
	"testing"
	"time"
)

// The judge gets every record once and in order, however far the executor is ahead, and all records
// before Flush returns. Meanwhile it may look up agents.
func TestHandoverKeepsOrder(t *testing.T) {
	const records = 3*ahead*mostBatch + 7
	var l *Log
	seen := uint64(0)
	l = New(func(rs []Record) {
		for i := range rs {
			if seen++; rs[i].Op != seen {
				t.Errorf("record %d came as number %d", rs[i].Op, seen)
			}
		}
		if seen%(5*leastBatch) == 0 {
			time.Sleep(time.Millisecond) // the executor fills all batches that it may
		}
		if w := l.Info(rs[0].Agent); w.Rank != int(rs[0].Agent)-1 {
			t.Errorf("agent %d is %v", rs[0].Agent, w)
		}
	})
	for i := range records {
		a := l.Agent(AgentInfo{Rank: i % 100, PE: i % 100, Stream: -1, Program: -1})
		l.Add(Record{Agent: a, Op: uint64(i + 1)})
		if i == records/2 {
			if l.Flush(); seen != uint64(i+1) {
				t.Fatalf("%d of %d records judged when Flush returned", seen, i+1)
			}
		}
	}
	if l.Flush(); seen != records {
		t.Fatalf("%d of %d records judged", seen, records)
	}
}

// A panic of the judge appears in Flush, in the goroutine of the executor, and the judge gets no
// further records.
func TestHandoverPassesPanicsOn(t *testing.T) {
	calls := 0
	l := New(func([]Record) {
		calls++
		panic("judge")
	})
	for range 4 * leastBatch {
		l.Add(Record{})
	}
	defer func() {
		if p := recover(); p != "judge" || calls != 1 {
			t.Errorf("Flush panicked with %v after %d calls of the judge, want its panic after one", p, calls)
		}
	}()
	l.Flush()
}
