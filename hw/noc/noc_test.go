package noc

import (
	"iter"
	"testing"

	"pgregory.net/rapid"

	"kernbench/conf"
	"kernbench/des"
	"kernbench/hw/noc/buffer"
	_ "kernbench/internal/fixedseed"
	"kernbench/machine"
	"kernbench/unit"
)

// recorder is a Sink that records its calls.
type recorder struct {
	q         *des.Queue
	departed  map[uint32]unit.Time
	taken     map[uint32]unit.Time
	delivered map[uint32]unit.Time
	order     []uint32
}

func (r *recorder) Departed(u uint32, end unit.Time) { r.departed[u] = end }
func (r *recorder) Taken(u uint32)                   { r.taken[u] = r.q.Now() }
func (r *recorder) Delivered(u uint32, _ unit.Time) {
	r.delivered[u] = r.q.Now()
	r.order = append(r.order, u)
}

func build(t testing.TB, sets ...string) (*machine.Machine, *conf.Topology) {
	t.Helper()
	topo, err := conf.LoadTopology(nil, sets)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	return m, topo
}

func fabric(m *machine.Machine, topo *conf.Topology, f Fidelity) (*Fabric, *recorder, *des.Queue) {
	q := &des.Queue{}
	r := &recorder{q, map[uint32]unit.Time{}, map[uint32]unit.Time{}, map[uint32]unit.Time{}, nil}
	return New(q, m, r, f, Sizes{topo.Fabric().MessageBytes, topo.Fabric().FlitBytes, topo.Fabric().BufferBytes}), r, q
}

// buffers returns the input buffers that messages have come to, and their numbers.
func (n *Fabric) buffers() iter.Seq2[*buffer.Buffer, uint32] {
	return func(yield func(*buffer.Buffer, uint32) bool) {
		for i := range n.links {
			if !yield(&n.links[i].own, uint32(i)) {
				return
			}
		}
		for i := 1; i < len(n.vcs); i++ {
			if !yield(&n.vcBuffers[i], isVC|uint32(i)) {
				return
			}
		}
	}
}

func drain(n *Fabric, q *des.Queue) {
	for {
		e, ok := q.Pop()
		if !ok {
			return
		}
		n.Handle(e)
	}
}

func send(n *Fabric, at unit.Time, r Route, c Class, bytes int64, user uint32) {
	sendFrom(n, at, r, c, bytes, user, user)
}

func sendFrom(n *Fabric, at unit.Time, r Route, c Class, bytes int64, source, user uint32) {
	n.Send(at, Transfer{Route: r, Class: c, Bytes: bytes, Source: source, User: user, Taken: true},
		des.MakeKey(des.Arrive, 1<<20+source, 0, user))
}

// TestUncontendedIsClosedForm: a message alone needs the latencies of its path plus its bytes over
// the slowest link, at every fidelity. It has one event per hop that takes time, one to start at
// the port and one to arrive.
func TestUncontendedIsClosedForm(t *testing.T) {
	m, topo := build(t)
	far := m.NumPEs() - 1
	for _, f := range []Fidelity{Slot, Ideal, Flit} {
		for _, to := range []int{1, 2, 9, 100, far} {
			for _, bytes := range []int64{1, 64, 256, 4096} {
				n, r, q := fabric(m, topo, f)
				route := n.AddRoute(m.TCM(0), m.TCM(to), false)
				send(n, 5, route, Collective, bytes, 1)
				drain(n, q)
				head, slowest := n.Latency(route)
				want := 5 + head + slowest.Serial().Time(bytes)
				if f == Flit && bytes > int64(topo.Fabric().FlitBytes) {
					// Flits queue at each link for the previous one. The last has waited for all at
					// the slowest. Rounding up per flit adds at most a ps per flit.
					if d := r.delivered[1] - want; d < 0 || d > unit.Time(bytes/int64(topo.Fabric().FlitBytes))+2 {
						t.Errorf("%v to PE %d, %d bytes: arrived at %v, closed form %v", f, to, bytes, r.delivered[1], want)
					}
					continue
				}
				if r.delivered[1] != want {
					t.Errorf("%v to PE %d, %d bytes: arrived at %v, closed form %v", f, to, bytes, r.delivered[1], want)
				}
				events := int64(2) // to the first link, and from the last
				for _, h := range n.routes.Path(route)[:len(n.routes.Path(route))-1] {
					if n.kind(&n.links[h.Number()]).latency > 0 {
						events++
					}
				}
				events++ // the port of a TCM is faster than the links: the message comes to it when it is nearly whole
				if f == Slot && q.Popped() != events {
					t.Errorf("%d events for %d hops, want %d", q.Popped(), len(n.routes.Path(route)), events)
				}
			}
		}
	}
}

// TestTwoShareALink is worked by hand: two messages into one link, the second waits for
// the tail of the first.
func TestTwoShareALink(t *testing.T) {
	m, topo := build(t)
	n, r, q := fabric(m, topo, Slot)
	own := n.AddRoute(m.HBM(0), m.PE(0), false) // the port alone: 12 ns, 256 GB/s
	send(n, 0, own, Compute, 4096, 1)
	send(n, 0, own, Compute, 4096, 2)
	drain(n, q)
	if r.delivered[1] != 28*1000 || r.delivered[2] != 44*1000 {
		t.Errorf("arrived at %v and %v, want 28ns and 44ns", r.delivered[1], r.delivered[2])
	}
	if r.departed[1] != 16*1000 || r.departed[2] != 32*1000 {
		t.Errorf("departed at %v and %v, want 16ns and 32ns", r.departed[1], r.departed[2])
	}
}

// TestLongTransfersTakeTurns: two transfers of several messages from one port finish
// within one message of each other, not one after the other.
func TestLongTransfersTakeTurns(t *testing.T) {
	m, topo := build(t)
	n, r, q := fabric(m, topo, Slot)
	own := n.AddRoute(m.HBM(0), m.PE(0), false)
	send(n, 0, own, Compute, 16*4096, 1)
	send(n, 0, own, Compute, 16*4096, 2)
	drain(n, q)
	if d := r.delivered[2] - r.delivered[1]; d != 16*1000 {
		t.Errorf("second arrived %v after the first, want one message time 16ns", d)
	}
}

// TestConservation: every message arrives once, in order per (source and its memory, destination,
// class), and no earlier than uncontended. All buffers are empty at the end.
func TestConservation(t *testing.T) {
	machines := map[string][]string{
		"mesh":  nil,
		"torus": {"sip.cube_mesh.network=torus"},
		"tight": {"fabric.buffer_bytes=4096"},
		"ring":  {"sip.cube_mesh.network=ring", "fabric.buffer_bytes=4096", "system.sips.topology=ring_1d", "system.sips.count=5"},
	}
	for name, sets := range machines {
		t.Run(name, func(t *testing.T) {
			m, topo := build(t, sets...)
			rapid.Check(t, func(t *rapid.T) {
				f := rapid.SampledFrom([]Fidelity{Slot, Ideal, Flit}).Draw(t, "fidelity")
				n, r, q := fabric(m, topo, f)
				type flow struct {
					from, to int
					hbm      bool // the source: HBM rather than TCM
					c        Class
				}
				flows := map[uint32]flow{}
				alone := map[uint32]unit.Time{}
				count := rapid.IntRange(1, 60).Draw(t, "messages")
				at := unit.Time(0)
				for u := range uint32(count) {
					// Few sources and destinations, so that they meet.
					fl := flow{rapid.IntRange(0, 3).Draw(t, "from") * 37 % m.NumPEs(),
						rapid.IntRange(0, 3).Draw(t, "to") * 53 % m.NumPEs(), rapid.Bool().Draw(t, "hbm"),
						Class(rapid.IntRange(0, 2).Draw(t, "class"))}
					bytes := int64(rapid.IntRange(0, 10000).Draw(t, "bytes"))
					at += unit.Time(rapid.IntRange(0, 2000).Draw(t, "gap"))
					source := m.TCM(fl.from)
					if fl.hbm {
						source = m.HBM(fl.from)
					}
					route := n.AddRoute(source, m.HBM(fl.to), false)
					sendFrom(n, at, route, fl.c, bytes, uint32(fl.from), u)
					head, slowest := n.Latency(route)
					flows[u], alone[u] = fl, at+head+slowest.Serial().Time(bytes)
				}
				drain(n, q)
				if len(r.order) != count {
					t.Fatalf("%d of %d arrived", len(r.order), count)
				}
				last := map[flow]uint32{}
				for _, u := range r.order {
					fl := flows[u]
					if prev, ok := last[fl]; ok && prev > u {
						t.Fatalf("%+v: message %d arrived after %d", fl, prev, u)
					}
					last[fl] = u
					if r.delivered[u] < alone[u] {
						t.Fatalf("message %d arrived at %v, before its uncontended %v", u, r.delivered[u], alone[u])
					}
				}
				for b, i := range n.buffers() {
					b.Fill(&n.releases, 0, unit.MaxTime-1)
					if b.Held() != 0 {
						t.Fatalf("buffer %d still holds %d bytes", i, b.Held())
					}
				}
				for i := range n.vcs {
					if n.vcs[i].head != 0 {
						t.Fatalf("message %d still waits", n.vcs[i].head)
					}
				}
			})
		})
	}
}

// BenchmarkMessage is one slot message end to end on an uncontended path of 6 links.
func BenchmarkMessage(b *testing.B) {
	m, topo := build(b)
	q := &des.Queue{}
	n := New(q, m, nothing{}, Slot, Sizes{topo.Fabric().MessageBytes, topo.Fabric().FlitBytes, topo.Fabric().BufferBytes})
	route := n.AddRoute(m.TCM(0), m.TCM(2), false)
	b.ReportAllocs()
	b.ReportMetric(float64(len(n.routes.Path(route))), "hops")
	b.ResetTimer()
	for i := range b.N {
		n.Send(q.Now(), Transfer{Route: route, Class: Collective, Bytes: 256, User: uint32(i)},
			des.MakeKey(des.Arrive, 1<<20, 0, uint32(i)))
		drain(n, q)
	}
}

type nothing struct{}

func (nothing) Departed(uint32, unit.Time)  {}
func (nothing) Taken(uint32)                {}
func (nothing) Delivered(uint32, unit.Time) {}
