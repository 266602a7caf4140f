package sim

import (
	"testing"
	"unsafe"
)

// TestRingsFillCacheLines: a ring is one line, and four slots are another.
func TestRingsFillCacheLines(t *testing.T) {
	if n := unsafe.Sizeof(ring{}); n != 64 {
		t.Errorf("a ring has %d bytes, want 64", n)
	}
	if n := unsafe.Sizeof(slot{}); n != 16 {
		t.Errorf("a slot has %d bytes, want 16", n)
	}
}
