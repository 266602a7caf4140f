package sim

import (
	"testing"
	"unsafe"

	"kernbench/conf"
	"kernbench/machine"
	"kernbench/record/cause"
)

// TestRecordsOfPairs: there may be a record of each of these for each pair of PEs at a time, a
// million of 1,024 PEs. More bytes need a reason.
func TestRecordsOfPairs(t *testing.T) {
	for _, c := range []struct {
		name       string
		bytes, max uintptr
	}{
		{"transfer", unsafe.Sizeof(transfer{}), 112},
		{"effect", unsafe.Sizeof(effect{}), 64},
		{"notice", unsafe.Sizeof(notice{}), 48},
		{"peer", unsafe.Sizeof(peer{}), 32},
	} {
		if c.bytes > c.max {
			t.Errorf("a %s has %d bytes, want at most %d", c.name, c.bytes, c.max)
		}
	}
}

// TestExplainedRunsForgetRoutes: an explained run keeps few of its paths, and finds the same again.
func TestExplainedRunsForgetRoutes(t *testing.T) {
	if testing.Short() { // for the race detector, which has nothing to detect in one goroutine
		t.Skip("-short leaves out tests that run in one goroutine")
	}
	m, err := machine.Build(conf.DefaultTopology())
	if err != nil {
		t.Fatal(err)
	}
	e := New(m, Options{Causes: cause.New()})
	first := e.request(m.PE(1), m.HBM(200))
	for from := range m.NumPEs() {
		for to := range m.NumPEs() {
			e.request(m.PE(from), m.HBM(to))
			e.route(m.HBM(to), m.PE(from))
		}
	}
	if again := e.request(m.PE(1), m.HBM(200)); again != first || len(e.routes) > mostRoutes {
		t.Errorf("%d paths are kept; a route %v, then %v", len(e.routes), first, again)
	}
}

// TestPeersTakeNoSpareMemory: the list of peers holds as many as its slots, and no more.
func TestPeersTakeNoSpareMemory(t *testing.T) {
	var p peers
	for pe := range int32(1024) {
		p.add(peer{pe: pe})
		if most := max(4, 2*len(p.list)); cap(p.list) > most {
			t.Fatalf("%d peers have space for %d, want at most %d", len(p.list), cap(p.list), most)
		}
	}
	if cap(p.list) != 1024 || len(p.slot) != 2048 {
		t.Errorf("1,024 peers have space for %d and %d slots, want 1024 and 2048", cap(p.list), len(p.slot))
	}
}
