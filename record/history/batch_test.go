package history

import "testing"

// The judge gets every record once and in order, and all records before Flush returns.
func TestBatchesKeepOrder(t *testing.T) {
	const records = 3*mostBatch + 7
	var l *Log
	seen := uint64(0)
	l = New(func(rs []Record) {
		for i := range rs {
			if seen++; rs[i].Op != seen {
				t.Errorf("record %d came as number %d", rs[i].Op, seen)
			}
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

// A panic of the judge appears in Flush, not where a kernel adds a record, and the judge gets no
// further records.
func TestFlushPassesPanicsOn(t *testing.T) {
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
