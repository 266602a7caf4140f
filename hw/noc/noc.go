// Package noc carries messages over the links of a machine: virtual cut-through with
// finite input buffers and credits, one event per message and hop that takes time. It knows links, not
// what is at their ends: whoever sends gets told, through a Sink, when a message has left
// its source and when it has arrived whole.
//
// For a message at link i of its route
//
//	start_i = when the link is free and the whole message has room downstream
//	head_i  = start_i + router_i + wire_i
//	tail_i  = max(start_i + bytes/rate_i, tail_{i-1}) + router_i + wire_i
//
// The link is taken from start_i until the tail leaves, and the buffer that the message
// came from is free then. Messages that go into one buffer keep their order; a link takes
// the one whose head came first, then round robin over where they came from.
//
// It imports des, machine and unit. Start at Fabric.
package noc

import (
	"fmt"

	"kernbench/des"
	"kernbench/machine"
	"kernbench/unit"
)

// Class separates traffic that must not wait for each other: each has its own buffers.
type Class uint8

// Traffic classes.
const (
	Compute    Class = iota // loads and stores
	Collective              // messages of rings
	Control                 // notifications and atomics
	classes
)

// Fidelity is how closely messages are followed.
type Fidelity uint8

// Fidelities.
const (
	Slot  Fidelity = iota // messages of up to fabric.message_bytes: the default
	Flit                  // every flit on its own: the reference
	Ideal                 // no contention: latency and bandwidth of the path alone
)

// ParseFidelity reads slot, flit or ideal.
func ParseFidelity(s string) (Fidelity, error) {
	for _, f := range []Fidelity{Slot, Flit, Ideal} {
		if f.String() == s {
			return f, nil
		}
	}
	return 0, fmt.Errorf("unknown fidelity %q: one of ideal, slot, flit", s)
}

func (f Fidelity) String() string { return [...]string{"slot", "flit", "ideal"}[f] }

// Sink hears of messages. Calls come while an event is handled or a message is sent.
type Sink interface {
	// Departed says that the last byte of a transfer leaves its source at end, which may
	// lie ahead.
	Departed(user uint32, end unit.Time)
	// Taken says that the source's bytes have been read, for transfers that asked.
	Taken(user uint32)
	// Delivered says that the last byte arrives at a time: now, or while routes are isolated
	// perhaps later.
	Delivered(user uint32, at unit.Time)
}

// Event kinds: the top bits of des.Event.Target. Kinds from FirstFree on are the owner's.
const (
	kindShift         = 28
	kindArrive uint32 = iota - 1
	kindRetry
	kindDeliver
	FirstFree
)

// Kind is the kind of an event, and Index what it concerns.
func Kind(e des.Event) uint32 { return e.Target >> kindShift }

// Index is the component that an event concerns.
func Index(e des.Event) uint32 { return e.Target & (1<<kindShift - 1) }

// Target packs a kind and an index.
func Target(kind, index uint32) uint32 { return kind<<kindShift | index }

// Route is a path that the fabric has stored.
type Route struct {
	first uint32
	hops  uint32
}

// Hops is the number of links of the path.
func (r Route) Hops() int { return int(r.hops) }

// Fabric is the state of all links of a machine in one run.
type Fabric struct {
	q     *des.Queue
	m     *machine.Machine
	sink  Sink
	ideal bool
	most  int64 // bytes of a message

	links   []link
	room    int32    // bytes of an input buffer of a link that names none
	bufs    []buffer // class by class, each link by link
	inClass uint32   // buffers of one class
	spill   [][]release
	hops    []hop
	msgs    []message
	free    uint32 // list of unused messages, by next; 0: none
	ties    []uint32
	alone   []bool             // by hop: the link is passed by that route alone; nil: routes are not isolated
	freeAt  []unit.Time        // by hop: of such a link
	ways    [2]way             // of routes that share no link, by side
	alike   []*way             // of uses of a kind
	kept    int                // hops of routes that outlive Isolate
	found   []machine.Hop      // the path found last
	edges   []edge             // between links of isolated routes
	pending []uint32           // by link: messages that are on their way to it
	lead    unit.Time          // from what happens on the fabric to what is sent because of it
	lines   map[line]chain     // who waits behind a transfer of several messages
	latest  map[line]unit.Time // when the latest transfer arrives, by link with a memory; ideal only
}

// hop is a link of a stored route and its buffer in the first class. While routes are isolated it
// has the number of the edge by which the link is reached, and how near a source is to the link by
// another one, in ps.
type hop struct{ link, buf, edge, others uint32 }

// link is the state of one link. It fills a cache line.
type link struct {
	freeAt   unit.Time
	retryAt  unit.Time // of the retry that counts, or never
	spec     *machine.LinkSpec
	latency  unit.Time
	queues   uint64 // of its buffers, class by class, those for which a message waits
	bufs     uint32 // first of its buffers in the first class
	waiting  uint32
	served   uint32 // where the message it took last came from
	counter  uint32
	lines    uint32 // how many lines wait at it
	channels uint32
}

// line is what one source sends in one class into a link at its side. While a transfer
// of several messages takes turns there with other sources, what the same source sends
// later waits for its last message.
type line struct {
	link, source uint32
	class        Class
}

// chain is a list of messages, by next.
type chain struct{ head, tail uint32 }

// buffer is the input buffer at the far end of a link, for one class and channel, and
// the queue of messages at the near end that want to go into it. It fills a cache line. Until its
// first message its link and room are zero: most buffers of a large machine are never used.
type buffer struct {
	link       uint32
	held       int32 // bytes, including those whose release lies ahead
	room       int32
	head, tail uint32
	more       uint32     // where further releases are in Fabric.spill, if anywhere
	few        uint8      // releases in first
	blocked    bool       // the queue waits for room that nobody has announced yet
	first      [2]release // earliest releases
}

type release struct {
	at    unit.Time
	bytes int64
}

// message is a part of a transfer on its way. It fills a cache line.
type message struct {
	arrived unit.Time // of its head at the link that it wants next
	tail    unit.Time // of its last byte there
	left    int64     // bytes of the transfer after this part
	bytes   int32
	user    uint32
	route   Route
	into    uint32 // buffer that it goes into next
	in      uint32 // buffer that it is in, from its second link on; nowhere where nobody counts
	via     uint32 // who sent it; 1 + the link it came from, from its second one on
	next    uint32
	hop     uint32
	class   Class
	taken   bool // tell the sink when the source has been read
	inLine  bool // at the front of a line
	ordered bool // see Transfer
}

const (
	never          = unit.MaxTime
	nowhere uint32 = 1<<32 - 1
)

// Sizes are the largest message, a flit, and the input buffers of links that name none.
type Sizes struct{ Message, Flit, Buffer unit.Bytes }

// New makes the fabric of a machine.
func New(q *des.Queue, m *machine.Machine, sink Sink, f Fidelity, sizes Sizes) *Fabric {
	n := &Fabric{q: q, m: m, sink: sink, ideal: f == Ideal, most: int64(sizes.Message)}
	if f == Flit {
		n.most = int64(sizes.Flit)
	}
	n.links = make([]link, len(m.Links))
	for i := range n.links {
		s := m.Links[i].LinkSpec
		n.links[i] = link{retryAt: never, spec: s, latency: s.Router + s.Wire, bufs: n.inClass, channels: uint32(max(1, s.Channels))}
		if s.Port {
			n.links[i].channels++ // what is to be written has a queue of its own: it never waits for what is read
		}
		n.inClass += n.links[i].channels
	}
	n.room = int32(min(sizes.Buffer, most))
	if !n.ideal {
		n.bufs = make([]buffer, n.inClass*uint32(classes))
	}
	n.msgs = make([]message, 1, 1024)
	n.spill = make([][]release, 1)
	n.lines = map[line]chain{}
	n.latest = map[line]unit.Time{}
	return n
}

// most is the largest room of a buffer that counts.
const most = 1 << 30

// roomOf is how many bytes each input buffer of a link holds.
func (n *Fabric) roomOf(l *link) int32 {
	if l.spec.Buffer > 0 {
		return int32(min(l.spec.Buffer, most))
	}
	return n.room
}

// AddRoute stores the path between two nodes; request leaves out the far memory's port.
func (n *Fabric) AddRoute(from, to machine.NodeID, request bool) Route {
	if request {
		n.found = n.m.RouteRequest(n.found[:0], from, to)
	} else {
		n.found = n.m.Route(n.found[:0], from, to)
	}
	path, first := n.found, len(n.hops)
	for i, h := range path {
		l := &n.links[h.Link]
		buf := l.bufs + uint32(h.Channel)
		if l.spec.Port && i == len(path)-1 {
			buf = l.bufs + l.channels - 1
		}
		n.hops = append(n.hops, hop{link: uint32(h.Link), buf: buf})
	}
	return Route{uint32(first), uint32(len(path))}
}

// Latency is what the head of a message needs over a path without contention, and the
// rate of its slowest link (0 for a path without links).
func (n *Fabric) Latency(r Route) (head unit.Time, slowest unit.Rate) {
	for _, h := range n.path(r) {
		l := &n.links[h.link]
		head += l.latency
		if slowest == 0 || l.spec.Rate < slowest {
			slowest = l.spec.Rate
		}
	}
	return head, slowest
}

// Between is the Latency of the path between two nodes, which need not be stored.
func (n *Fabric) Between(from, to machine.NodeID) (head unit.Time, slowest unit.Rate) {
	n.found = n.m.Route(n.found[:0], from, to)
	for _, h := range n.found {
		l := &n.links[h.Link]
		head += l.latency
		if slowest == 0 || l.spec.Rate < slowest {
			slowest = l.spec.Rate
		}
	}
	return head, slowest
}

func (n *Fabric) path(r Route) []hop { return n.hops[r.first : r.first+uint32(r.hops)] }

// Transfer is a number of bytes to be carried.
type Transfer struct {
	Route  Route
	Class  Class
	Bytes  int64
	Source uint32 // who sends: transfers of one source, class and route keep their order
	User   uint32 // handed back to the sink
	Taken  bool   // whether Sink.Taken is wanted

	// Ordered says that nothing that the source sends from now on starts as early: then this can go
	// before its time comes, while routes are isolated.
	Ordered bool
}

// Send starts a transfer at a time that is not past. The key orders it among what happens
// at the same instant; components of the owner must be numbered after all links.
func (n *Fabric) Send(at unit.Time, t Transfer, key des.Key) {
	part := max(1, min(t.Bytes, n.most))
	i := n.newMessage()
	if t.Route.hops == 0 {
		n.msgs[i] = message{user: t.User, taken: t.Taken, route: t.Route}
		n.q.Post(des.Event{Time: at, Key: key, Target: Target(kindDeliver, 0), Arg: i})
		return
	}
	n.msgs[i] = message{
		arrived: at, tail: at, left: max(0, t.Bytes-part), bytes: int32(part),
		user: t.User, route: t.Route, class: t.Class, taken: t.Taken, via: t.Source, ordered: t.Ordered,
	}
	h := n.hops[t.Route.first]
	n.msgs[i].into = h.buf + uint32(t.Class)*n.inClass
	if n.edges != nil {
		n.expect(t.Route)
		if n.alone[t.Route.first] || n.follows(&n.msgs[i], h) {
			n.follow(i, key)
			return
		}
	}
	n.q.Post(des.Event{Time: at, Key: key, Target: Target(kindArrive, h.link), Arg: i})
}

// Handle acts on an event of a kind below FirstFree.
func (n *Fabric) Handle(e des.Event) {
	switch Kind(e) {
	case kindArrive:
		n.arrive(Index(e), e.Arg)
	case kindRetry:
		n.retry(Index(e))
	case kindDeliver:
		m := &n.msgs[e.Arg]
		user, taken, last := m.user, m.taken && m.route.hops <= 1 || m.taken && n.ideal, m.left == 0
		nowhere := m.route.hops == 0
		n.freeMessage(e.Arg)
		if nowhere {
			n.sink.Departed(user, n.q.Now())
		}
		if last {
			if taken {
				n.sink.Taken(user)
			}
			n.sink.Delivered(user, n.q.Now())
		}
	}
}

func (n *Fabric) newMessage() uint32 {
	if i := n.free; i != 0 {
		n.free = n.msgs[i].next
		return i
	}
	n.msgs = append(n.msgs, message{})
	return uint32(len(n.msgs) - 1)
}

func (n *Fabric) freeMessage(i uint32) {
	n.msgs[i].next = n.free
	n.free = i
}
