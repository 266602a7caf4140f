package noc

import (
	"testing"
	"unsafe"

	"kernbench/hw/noc/routes"
)

// TestStateFillsCacheLines: what a message touches at a link is one line, and the message another.
func TestStateFillsCacheLines(t *testing.T) {
	for name, bytes := range map[string]uintptr{"link": unsafe.Sizeof(link{}), "message": unsafe.Sizeof(message{})} {
		if bytes != 64 {
			t.Errorf("a %s has %d bytes, want 64", name, bytes)
		}
	}
	if bytes := unsafe.Sizeof(routes.Hop(0)); bytes != 4 {
		t.Errorf("a hop has %d bytes, want 4", bytes)
	}
}
