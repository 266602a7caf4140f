package noc

import (
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/conf"
	"kernbench/des"
	"kernbench/machine"
	"kernbench/unit"
)

// walks is traffic on reserved routes: tokens go from PE to PE, each walk a cycle of its own. A
// token that has arrived leaves for the next PE a lead later. All times are small multiples of one,
// so that messages of different walks often come to a link at the same instant.
type walks struct {
	n    *Fabric
	m    *machine.Machine
	q    *des.Queue
	lead unit.Time
	uses []Use
	next []int // use that follows a use

	token []walkToken
	sent  []uint32 // by use
	alone []bool   // by use: its source sends on no other
	came  [][]unit.Time

	starting bool   // the first sends come before what follows from them
	held     []hold // until then
}

// hold is a token to send.
type hold struct {
	user uint32
	at   unit.Time
}

type walkToken struct {
	use   int
	hops  int // that it still has
	bytes int64
}

func (w *walks) Departed(uint32, unit.Time) {}
func (w *walks) Taken(uint32)               {}
func (w *walks) Delivered(user uint32, at unit.Time) {
	t := &w.token[user]
	w.came[t.use] = append(w.came[t.use], at)
	if t.hops--; t.hops > 0 {
		t.use = w.next[t.use]
		if w.starting {
			w.held = append(w.held, hold{user, at + w.lead})
			return
		}
		w.send(user, at+w.lead)
	}
}

func (w *walks) send(user uint32, at unit.Time) {
	t := &w.token[user]
	u := &w.uses[t.use]
	w.sent[t.use]++
	if u.Exclusive {
		_, at := w.n.Exclusive().Pass(&u.State, u.Kind, t.bytes, at)
		w.Delivered(user, at)
		return
	}
	w.n.Send(at, Transfer{
		Route: u.Route(), Class: Collective, Bytes: t.bytes, Source: uint32(u.From), User: user, Ordered: w.alone[t.use],
	}, des.MakeKey(des.Arrive, uint32(w.m.NumLinks())+uint32(u.From), uint8(t.use), w.sent[t.use]))
}

// arrivals returns the times at which messages arrive, by use. Large is to do what large machines
// need.
func arrivals(m *machine.Machine, topo *conf.Topology, seed uint64, off Shortcuts, large bool) [][]unit.Time {
	const tokens, hops = 3, 30
	r := rand.New(rand.NewPCG(seed, 3))
	w := &walks{m: m, q: &des.Queue{}, lead: unit.Time(1000 * (1 + r.IntN(4)))}
	w.n = New(w.q, m, w, Slot, Sizes{topo.Fabric().MessageBytes, topo.Fabric().FlitBytes, topo.Fabric().BufferBytes})
	if large {
		w.n.compressFrom, w.n.prefetchFrom = 0, 0
	}
	w.n.Without(off)
	bytes, outs := int64(64<<r.IntN(4)), map[machine.NodeID]int{}
	toSelf := seed%3 == 0 // then a port is reached by the PE's own messages too
	var starts []int      // of the walk of a use
	pes := r.Perm(m.NumPEs())[:4+r.IntN(8)]
	for range 3 + r.IntN(12) {
		first, at := len(w.uses), pes[r.IntN(len(pes))]
		for k, length := 0, 2+r.IntN(3); k < length; k++ {
			to := pes[r.IntN(len(pes))]
			for to == at && !toSelf {
				to = pes[r.IntN(len(pes))]
			}
			w.uses = append(w.uses, Use{From: m.TCM(at), To: m.TCM(to), Bytes: tokens * bytes})
			w.next = append(w.next, len(w.uses))
			starts = append(starts, first)
			at = to
		}
		last := &w.uses[len(w.uses)-1]
		if last.To == w.uses[first].From {
			w.next[len(w.uses)-1] = first
			continue
		}
		w.uses = append(w.uses, Use{From: last.To, To: w.uses[first].From, Bytes: tokens * bytes})
		w.next, starts = append(w.next, first), append(starts, first)
	}
	// Uses to one node stand side by side.
	order := make([]int, len(w.uses))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(w.uses[a].To) - int(w.uses[b].To) })
	place, uses, next := make([]int, len(order)), make([]Use, len(order)), make([]int, len(order))
	for k, i := range order {
		place[i], uses[k] = k, w.uses[i]
		uses[k].Kind = uint32(k)
		outs[uses[k].From]++
	}
	for i, k := range place {
		next[k] = place[w.next[i]]
	}
	w.uses, w.next = uses, next
	w.sent, w.came, w.alone = make([]uint32, len(uses)), make([][]unit.Time, len(uses)), make([]bool, len(uses))
	for k := range uses {
		w.alone[k] = outs[uses[k].From] == 1
	}
	w.n.ReserveRoutes(w.uses, bytes)
	w.starting = true
	for k := range tokens {
		for i, first := range starts {
			if i == first {
				w.token = append(w.token, walkToken{use: place[i], hops: hops, bytes: bytes})
				w.send(uint32(len(w.token)-1), w.lead+unit.Time(1000*k))
			}
		}
	}
	w.starting = false
	for _, h := range w.held {
		w.send(h.user, h.at)
	}
	drain(w.n, w.q)
	return w.came
}

// TestTrafficWithoutShortcuts: on routes that meet, messages arrive at the same times with each
// shortcut and without it, to the picosecond. Either of two that meet at one instant may go first.
func TestTrafficWithoutShortcuts(t *testing.T) {
	m, topo := build(t, "system.sips.count=1", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.noc.router_ns=1", "sip.ucie.port_ns=2")
	seeds := uint64(200)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		want := arrivals(m, topo, seed, Exclusive|Advance|ContentionFree|Compress|Prefetch, false)
		for _, off := range []Shortcuts{0, Advance, ContentionFree, Exclusive, Compress, Prefetch} {
			if got := arrivals(m, topo, seed, off, seed%2 == 0); !slices.EqualFunc(got, want, slices.Equal) {
				for u := range want {
					if !slices.Equal(got[u], want[u]) {
						t.Fatalf("seed %d, without %b, use %d: arrivals\n%v, without all\n%v", seed, off, u, got[u], want[u])
					}
				}
			}
		}
	}
}

// TestTiesAtAMergePoint: two messages reach a link at the same instant, from sources at the same
// distance. They start in the order of their keys, whichever was sent first.
func TestTiesAtAMergePoint(t *testing.T) {
	m, topo := build(t, "system.sips.count=1", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1")
	const lead, bytes = 1000, 512
	for a := range m.NumPEs() {
		for b := range a {
			run := func(order ...int) [2]unit.Time {
				w := &pairOfMessages{}
				q := &des.Queue{}
				n := New(q, m, w, Slot, Sizes{topo.Fabric().MessageBytes, topo.Fabric().FlitBytes, topo.Fabric().BufferBytes})
				far := m.TCM(m.NumPEs() - 1)
				uses := []Use{{From: m.TCM(a), To: far, Bytes: bytes}, {From: m.TCM(b), To: far, Bytes: bytes, Kind: 1}}
				n.ReserveRoutes(uses, bytes)
				for _, i := range order {
					n.Send(lead, Transfer{Route: uses[i].Route(), Class: Collective, Bytes: bytes,
						Source: uint32(uses[i].From), User: uint32(i), Ordered: true},
						des.MakeKey(des.Arrive, uint32(m.NumLinks())+uint32(uses[i].From), 0, 1))
				}
				drain(n, q)
				return w.at
			}
			one, other := run(0, 1), run(1, 0)
			if one != other {
				t.Fatalf("PEs %d and %d: arrivals %v, and %v if sent in the other order", a, b, one, other)
			}
		}
	}
}

type pairOfMessages struct{ at [2]unit.Time }

func (*pairOfMessages) Departed(uint32, unit.Time)            {}
func (*pairOfMessages) Taken(uint32)                          {}
func (p *pairOfMessages) Delivered(user uint32, at unit.Time) { p.at[user] = at }
