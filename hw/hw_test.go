package hw

import (
	"testing"

	"kernbench/unit"
)

func TestServer(t *testing.T) {
	var s Server
	for _, b := range []struct{ at, d, start, end int64 }{{5, 10, 5, 15}, {7, 3, 15, 18}, {18, 0, 18, 18}, {30, 1, 30, 31}} {
		if start, end := s.Book(unit.Time(b.at), unit.Time(b.d)); int64(start) != b.start || int64(end) != b.end {
			t.Errorf("booked %d for %d: %d to %d, want %d to %d", b.at, b.d, start, end, b.start, b.end)
		}
	}
}
