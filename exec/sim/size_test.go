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
		{"transfer", unsafe.Sizeof(transfer{}), 128},
		{"effect", unsafe.Sizeof(effect{}), 88},
		{"peer", unsafe.Sizeof(peer{}), 32},
	} {
		if c.bytes > c.max {
			t.Errorf("a %s has %d bytes, want at most %d", c.name, c.bytes, c.max)
		}
	}
}

// TestExplainedRunsForgetRoutes: an explained run keeps few of its paths, and finds the same again.
func TestExplainedRunsForgetRoutes(t *testing.T) {
	topo, err := conf.LoadTopology(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
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
