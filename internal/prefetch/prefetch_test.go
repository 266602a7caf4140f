package prefetch

import (
	"testing"
	"unsafe"
)

// TestLine: any address will do, and any number of lines, and nothing changes there.
func TestLine(t *testing.T) {
	line := [8]int64{1, 2, 3, 4, 5, 6, 7, 8}
	was := line
	for _, p := range []unsafe.Pointer{nil, unsafe.Pointer(&line), unsafe.Add(unsafe.Pointer(&line), 63)} {
		Line(p)
		Lines(p, 1)
		Lines(p, 7)
	}
	if line != was {
		t.Errorf("%v became %v", was, line)
	}
}
