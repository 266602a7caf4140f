package noc

import (
	"testing"

	"kernbench/unit"
)

// TestLargestMessages: with messages and buffers of 1 GiB, the largest that can be
// configured, a second message waits for the first to leave the buffer.
func TestLargestMessages(t *testing.T) {
	m, topo := build(t, "fabric.message_bytes=1GiB", "fabric.buffer_bytes=1GiB")
	n, r, q := fabric(m, topo, Slot)
	route := n.AddRoute(m.TCM(0), m.HBM(9), false)
	send(n, 0, route, Collective, 1<<30, 1)
	send(n, 0, route, Collective, 1<<30, 2)
	most := int32(0)
	for {
		e, ok := q.Pop()
		if !ok {
			break
		}
		n.Handle(e)
		for b := range n.buffers() {
			if space := n.kinds[b.Kind].space; b.Held() > space || b.Held() < 0 {
				t.Fatalf("a buffer of a %v holds %d of %d bytes", *n.kinds[b.Kind].spec, b.Held(), space)
			}
			most = max(most, b.Held())
		}
	}
	if most != 1<<30 || len(r.order) != 2 {
		t.Errorf("at most %v held, %d arrived", unit.Bytes(most), len(r.order))
	}
}
