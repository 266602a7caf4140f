package noc

import (
	"testing"

	"kernbench/des"
	"kernbench/hw/noc/routes"
	"kernbench/machine"
	"kernbench/unit"
)

const ns = unit.Nanosecond

// rig is a fabric of a few links that stand alone: routes over them are made by hand.
type rig struct {
	*Fabric
	*recorder
}

// newRig makes links of given ns per byte, divisors of 1e9, with latencies of 5 ns. Buffers have
// space bytes, and messages up to 4096 bytes.
func newRig(space int64, nsPerByte ...int64) rig {
	var kinds []*machine.LinkSpec
	for _, k := range nsPerByte {
		rate := unit.Rate(1_000_000_000 / k)
		kinds = append(kinds, &machine.LinkSpec{
			Rate: rate, Serial: rate.Serial(), Router: 3 * ns, Wire: 2 * ns, Buffer: space, Channels: 1,
		})
	}
	q := &des.Queue{}
	r := &recorder{q, map[uint32]unit.Time{}, map[uint32]unit.Time{}, map[uint32]unit.Time{}, nil}
	return rig{New(q, machine.OfLinks(kinds...), r, Slot, Sizes{4096, 256, 4096}), r}
}

func (r rig) over(links ...uint32) Route {
	var path []routes.Hop
	for _, l := range links {
		path = append(path, routes.MakeHop(r.link(machine.LinkID(l)), 0))
	}
	return r.Fabric.routes.Add(path)
}

func (r rig) check(t *testing.T, want map[uint32]unit.Time) {
	t.Helper()
	drain(r.Fabric, r.recorder.q)
	for u, at := range want {
		if r.delivered[u] != at*ns {
			t.Errorf("message %d arrived at %v, by hand %v", u, r.delivered[u], at*ns)
		}
	}
}

// TestBlockedMessagesHoldCredits: on a line with space for one message, the first holds the buffer
// before a slow link until its tail has left. All others wait for it at the source, even the last
// one, whose own route is free. Another class is not held up.
//
//	    0 (1 ns/B)      1 (10 ns/B)
//	a ------------> b ------------> c
//	                 \---> d   2 (1 ns/B)
func TestBlockedMessagesHoldCredits(t *testing.T) {
	r := newRig(100, 1, 10, 1)
	slow, free := r.over(0, 1), r.over(0, 2)
	for u := range uint32(3) {
		sendFrom(r.Fabric, 0, slow, Collective, 100, 0, u)
	}
	sendFrom(r.Fabric, 0, free, Collective, 100, 0, 3)
	sendFrom(r.Fabric, 0, free, Compute, 100, 0, 4)
	r.check(t, map[uint32]unit.Time{
		0: 1010, // on link 1 from 5 to 1005
		1: 2015, // on link 0 from 1005, when the buffer is free; on link 1 from 1010
		2: 3020,
		3: 3125, // after the others, though its route is another one
		4: 210,  // on link 0 from 100: it takes turns with the others, has its own buffer
	})
}

// TestFullBuffer: on the same links, with space for two messages, the third waits for the first to
// leave the buffer. The time of that is known before the second comes.
func TestFullBuffer(t *testing.T) {
	r := newRig(200, 1, 10, 1)
	slow, free := r.over(0, 1), r.over(0, 2)
	sendFrom(r.Fabric, 0, slow, Collective, 100, 0, 0)
	sendFrom(r.Fabric, 0, slow, Collective, 100, 0, 1)
	sendFrom(r.Fabric, 0, free, Collective, 100, 0, 2)
	r.check(t, map[uint32]unit.Time{
		0: 1010, // on link 1 from 5 to 1005
		1: 2010, // on link 0 from 100, on link 1 from 1005
		2: 1115, // on link 0 from 1005
	})
}

// TestPortServesOthers: a port takes bytes at its own rate. While a message comes over a slow link
// the port serves others, and the message takes it for its last bytes.
//
//	   0 (10 ns/B)     1 (port, 1 ns/B)
//	a ------------> b ------------> memory
func TestPortServesOthers(t *testing.T) {
	r := newRig(4096, 10, 1)
	r.m.Spec(1).Port = true
	far, near := r.over(0, 1), r.over(1)
	sendFrom(r.Fabric, 0, far, Collective, 100, 0, 0)
	for k := range uint32(3) {
		sendFrom(r.Fabric, unit.Time(k)*200*ns, near, Compute, 100, 1, 1+k)
	}
	sendFrom(r.Fabric, 1010*ns, far, Collective, 100, 0, 4)
	sendFrom(r.Fabric, 1800*ns, near, Compute, 100, 1, 5)
	r.check(t, map[uint32]unit.Time{
		0: 1010, // on link 0 until 1000, on the port from 905 to 1005
		1: 105,
		2: 305,
		3: 505,
		4: 2020, // its last byte is there at 2015: as if it were alone
		5: 1905,
	})
	late := newRig(4096, 10, 1)
	late.m.Spec(1).Port = true
	far, near = late.over(0, 1), late.over(1)
	sendFrom(late.Fabric, 0, far, Collective, 100, 0, 0)
	sendFrom(late.Fabric, 850*ns, near, Compute, 100, 1, 1)
	late.check(t, map[uint32]unit.Time{
		0: 1055, // it waits for the port until 950
		1: 955,
	})
}

// TestSpaceThatComesEarlier: the message that waits for space goes when there is some, also if a
// later release was known first.
func TestSpaceThatComesEarlier(t *testing.T) {
	r := newRig(150, 1, 10, 1)
	slow, free, own := r.over(0, 1), r.over(0, 2), r.over(2)
	sendFrom(r.Fabric, 0, own, Collective, 300, 9, 0)  // keeps link 2 busy until 300
	sendFrom(r.Fabric, 0, slow, Collective, 100, 0, 1) // on link 1 from 5 to 1005: known at 5
	sendFrom(r.Fabric, 0, free, Collective, 50, 0, 2)  // before link 2 from 105, on it from 300 to 350
	sendFrom(r.Fabric, 0, free, Collective, 50, 0, 3)  // has space at 350, not 1005
	r.check(t, map[uint32]unit.Time{0: 305, 1: 1010, 2: 355, 3: 410})
}

// TestClassesAreApart: what one class has filled, further on too, does not hold up another.
func TestClassesAreApart(t *testing.T) {
	r := newRig(100, 1, 1, 10, 1)
	slow, free := r.over(0, 1, 2), r.over(0, 1, 3)
	for u := range uint32(3) { // before link 2, before link 1, at the source
		sendFrom(r.Fabric, 0, slow, Collective, 100, 0, u)
	}
	sendFrom(r.Fabric, 400*ns, free, Compute, 100, 1, 3)
	sendFrom(r.Fabric, 500*ns, free, Control, 100, 2, 4)
	r.check(t, map[uint32]unit.Time{0: 1015, 1: 2020, 2: 3025, 3: 515, 4: 615})
}

// TestArbitration: the earliest head goes first; of several that came at once, the next in
// turn after the one that was served last.
func TestArbitration(t *testing.T) {
	r := newRig(4096, 1)
	one := r.over(0)
	sendFrom(r.Fabric, 0, one, Collective, 100, 2, 0) // source 2 has the link until 100
	sendFrom(r.Fabric, 10*ns, one, Collective, 10, 0, 1)
	sendFrom(r.Fabric, 5*ns, one, Collective, 10, 1, 2)
	sendFrom(r.Fabric, 5*ns, one, Collective, 10, 3, 3)
	sendFrom(r.Fabric, 5*ns, one, Collective, 10, 4, 4)
	r.check(t, map[uint32]unit.Time{0: 105, 3: 115, 4: 125, 2: 135, 1: 145})
}

// TestNoneOvertakesItsOwn: of messages that came at once, a short one waits for a long one of the
// same source for which there is no space. One of another source goes.
func TestNoneOvertakesItsOwn(t *testing.T) {
	r := newRig(150, 1, 10, 1)
	slow, free := r.over(0, 1), r.over(0, 2)
	sendFrom(r.Fabric, 0, slow, Collective, 100, 0, 0) // before link 1 until 1005
	sendFrom(r.Fabric, 10*ns, slow, Collective, 100, 1, 1)
	sendFrom(r.Fabric, 10*ns, free, Collective, 50, 1, 2)
	sendFrom(r.Fabric, 10*ns, free, Collective, 50, 2, 3)
	r.check(t, map[uint32]unit.Time{
		0: 1010,
		1: 2015, // on link 0 from 1005
		2: 1165, // on link 0 from 1105
		3: 160,  // on link 0 from 100
	})
}

// TestCutThrough: a message is on all links of its path at once. A slow link in front makes the
// links after it wait for its tail, and a fast one does not.
func TestCutThrough(t *testing.T) {
	r := newRig(4096, 10, 1, 2)
	sendFrom(r.Fabric, 0, r.over(0, 1, 2), Collective, 100, 0, 0)
	r.check(t, map[uint32]unit.Time{0: 1000 + 3*5})
	// Its tail leaves link 1 at 1005, so that is when the next one may have it.
	sendFrom(r.Fabric, 1100*ns, r.over(0, 1), Collective, 100, 0, 1) // on link 1 from 1105 to 2105
	sendFrom(r.Fabric, 1110*ns, r.over(1), Collective, 100, 1, 2)
	r.check(t, map[uint32]unit.Time{1: 2110, 2: 2210})
}

// TestTwoSendersIntoOnePE: both messages need the last link into the PE's memory; the
// second arrives one message time after the first.
func TestTwoSendersIntoOnePE(t *testing.T) {
	m, topo := build(t)
	n, r, q := fabric(m, topo, Slot)
	// PE 1 is two routers from PE 0, PE 2 further away: they meet at PE 0's link.
	near, far := n.AddRoute(m.TCM(1), m.TCM(0), false), n.AddRoute(m.TCM(2), m.TCM(0), false)
	send(n, 0, near, Collective, 4096, 1)
	send(n, 0, far, Collective, 4096, 2)
	drain(n, q)
	head, slowest := n.Latency(near)
	message := slowest.Serial().Time(4096)
	if want := head + message; r.delivered[1] != want {
		t.Errorf("first at %v, by hand %v", r.delivered[1], want)
	}
	if want := head + 2*message; r.delivered[2] != want {
		t.Errorf("second at %v, by hand %v", r.delivered[2], want)
	}
}

// TestTwoReadersOfOneSlice: the second waits for the port.
func TestTwoReadersOfOneSlice(t *testing.T) {
	m, topo := build(t)
	n, r, q := fabric(m, topo, Slot)
	a, b := n.AddRoute(m.HBM(0), m.PE(1), false), n.AddRoute(m.HBM(0), m.PE(2), false)
	send(n, 0, a, Compute, 4096, 1)
	send(n, 0, b, Compute, 4096, 2)
	drain(n, q)
	port := topo.Cube().HBMBW.Serial().Time(4096)
	for u, route := range map[uint32]Route{1: a, 2: b} {
		head, slowest := n.Latency(route)
		if want := head + slowest.Serial().Time(4096) + unit.Time(u-1)*port; r.delivered[u] != want {
			t.Errorf("reader %d has its bytes at %v, by hand %v", u, r.delivered[u], want)
		}
	}
	if r.departed[2] != 2*port {
		t.Errorf("read at %v, by hand %v", r.departed[2], 2*port)
	}
}

// TestAllToAllNeverLocks: each buffer has space for a single message, and every PE sends to all
// others at once, also from memory to memory. All messages arrive.
func TestAllToAllNeverLocks(t *testing.T) {
	small := []string{"fabric.message_bytes=256", "fabric.flit_bytes=256", "fabric.buffer_bytes=256", "cube.pe_layout.pe_per_corner=1"}
	for name, sets := range map[string][]string{
		"mesh":  {"system.sips.count=1", "cube.pe_layout.corners=[NW,SE]"},
		"torus": {"system.sips.count=1", "sip.cube_mesh.network=torus", "cube.pe_layout.corners=[NW]"},
		"ring": {"system.sips.count=1", "sip.cube_mesh.network=ring", "sip.cube_mesh.w=7", "sip.cube_mesh.h=1",
			"cube.pe_layout.corners=[NW,SE]"},
		"switch": {"system.sips.count=3", "sip.cube_mesh.w=2", "sip.cube_mesh.h=2", "cube.pe_layout.corners=[NW]"},
		"sip torus": {"system.sips.count=9", "system.sips.topology=torus_2d", "sip.cube_mesh.w=2",
			"sip.cube_mesh.h=1", "cube.pe_layout.corners=[SE]"},
		"full, full": {"system.sips.count=3", "system.sips.topology=full", "sip.cube_mesh.network=full",
			"sip.cube_mesh.w=2", "sip.cube_mesh.h=2", "cube.pe_layout.corners=[NE]"},
	} {
		t.Run(name, func(t *testing.T) {
			m, topo := build(t, append(sets, small...)...)
			n, r, q := fabric(m, topo, Slot)
			user := uint32(0)
			for from := range m.NumPEs() {
				for to := range m.NumPEs() {
					for k, route := range []Route{
						n.AddRoute(m.TCM(from), m.TCM(to), false), n.AddRoute(m.HBM(from), m.HBM(to), false),
						n.AddRoute(m.HBM(from), m.PE(to), false),
					} {
						sendFrom(n, 0, route, []Class{Collective, Collective, Compute}[k], 1000, uint32(from), user)
						user++
					}
				}
			}
			drain(n, q)
			if len(r.order) != int(user) {
				t.Errorf("%d of %d transfers arrived", len(r.order), user)
			}
		})
	}
}

// TestNoAllocation: in the steady state neither messages nor transfers of several, which
// stand in line, allocate.
func TestNoAllocation(t *testing.T) {
	m, topo := build(t, "fabric.buffer_bytes=4096")
	for _, f := range []Fidelity{Slot, Flit, Ideal} {
		q := &des.Queue{}
		n := New(q, m, nothing{}, f, Sizes{topo.Fabric().MessageBytes, topo.Fabric().FlitBytes, topo.Fabric().BufferBytes})
		var routes []Route
		for _, to := range []int{1, 2, 9, 130} {
			routes = append(routes, n.AddRoute(m.TCM(0), m.TCM(to), false), n.AddRoute(m.HBM(to), m.PE(0), false))
		}
		round := func() {
			for k := range uint32(40) {
				for i, route := range routes {
					n.Send(q.Now()+unit.Time(k)*ns,
						Transfer{Route: route, Class: Class(i % 2), Bytes: 100 + 6000*int64(k%2), Source: uint32(i % 3), User: k},
						des.MakeKey(des.Arrive, 1<<20+uint32(i), 0, k))
				}
			}
			drain(n, q)
		}
		for range 20 {
			round()
		}
		if a := testing.AllocsPerRun(10, round); a > 0 {
			t.Errorf("%v: %v allocations in 320 transfers", f, a)
		}
	}
}

// TestManyReleases: a buffer that feeds several links returns its space in the order of time,
// whatever the order in which that became known.
func TestManyReleases(t *testing.T) {
	r := newRig(400, 1, 10, 8, 16, 10)
	for u, to := range []uint32{1, 2, 3, 4, 2, 1, 4, 3, 2} {
		sendFrom(r.Fabric, 0, r.over(0, to), Collective, 100, 0, uint32(u))
	}
	r.check(t, map[uint32]unit.Time{
		0: 1010, // on link 1 from 5 to 1005
		1: 910,  // on link 2 from 105 to 905
		2: 1810, // on link 3 from 205 to 1805
		3: 1310, // on link 4 from 305 to 1305: now the buffer is full
		4: 1715, // on link 0 from 905, on link 2 from 910 to 1710
		5: 2015, // from 1005, from 1010
		6: 2315, // from 1305, from 1310
		7: 3410, // from 1710, when message 4 leaves; link 3 is free at 1805
		8: 2620, // there is space at 1805, but link 0 has message 7 until 1810; from 1815
	})
}

// TestNowhere: a transfer from a node to itself takes no time, and is reported all the same.
func TestNowhere(t *testing.T) {
	m, topo := build(t)
	for _, f := range []Fidelity{Slot, Flit, Ideal} {
		n, r, q := fabric(m, topo, f)
		route := n.AddRoute(m.PE(3), m.PE(3), false)
		if head, slowest := n.Latency(route); !route.Empty() || head != 0 || slowest != 0 {
			t.Fatalf("%d hops, %v, %v", len(n.routes.Path(route)), head, slowest)
		}
		send(n, 70, route, Compute, 1<<20, 1)
		if len(r.departed) != 0 {
			t.Errorf("%v: reported before it happened", f)
		}
		drain(n, q)
		if r.departed[1] != 70 || r.taken[1] != 70 || r.delivered[1] != 70 {
			t.Errorf("%v: departed %v, taken %v, delivered %v", f, r.departed[1], r.taken[1], r.delivered[1])
		}
	}
}

// TestIdealKeepsOrderAtAMemory: a small transfer does not overtake a large one of the same
// source, and does overtake one of another.
func TestIdealKeepsOrderAtAMemory(t *testing.T) {
	m, topo := build(t)
	n, r, q := fabric(m, topo, Ideal)
	route := n.AddRoute(m.PE(0), m.HBM(9), false)
	sendFrom(n, 0, route, Compute, 1<<16, 1, 0)
	sendFrom(n, 1, route, Compute, 1, 1, 1)
	sendFrom(n, 1, route, Compute, 1, 2, 2)
	drain(n, q)
	head, slowest := n.Latency(route)
	if large := head + slowest.Serial().Time(1<<16); r.delivered[0] != large || r.delivered[1] != large || r.order[1] != 0 {
		t.Errorf("arrived at %v and %v, want %v, in order; order %v", r.delivered[0], r.delivered[1], large, r.order)
	}
	if alone := 1 + head + slowest.Serial().Time(1); r.delivered[2] != alone {
		t.Errorf("another source's arrived at %v, want %v", r.delivered[2], alone)
	}
}

func TestParseFidelity(t *testing.T) {
	for _, f := range []Fidelity{Slot, Flit, Ideal} {
		if got, err := ParseFidelity(f.String()); got != f || err != nil {
			t.Errorf("%v: %v, %v", f, got, err)
		}
	}
	if _, err := ParseFidelity("exact"); err == nil || err.Error() != `unknown fidelity "exact": want one of ideal, slot, flit` {
		t.Errorf("%v", err)
	}
}
