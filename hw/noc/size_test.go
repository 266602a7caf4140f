package noc

import (
	"testing"
	"unsafe"
)

// TestStateFillsCacheLines: what an event touches is one line each.
func TestStateFillsCacheLines(t *testing.T) {
	for name, bytes := range map[string]uintptr{
		"link": unsafe.Sizeof(link{}), "buffer": unsafe.Sizeof(buffer{}), "message": unsafe.Sizeof(message{}),
	} {
		if bytes != 64 {
			t.Errorf("a %s has %d bytes, want 64", name, bytes)
		}
	}
}
