// Package noc carries messages over the links of a machine. It is virtual cut-through with finite
// input buffers and credits, and one event per message and hop that takes time. It knows links, not
// what is at their ends. A Sink is notified when a message has left its source, and when all of it
// has arrived. The comment of Fabric has the formulas.
//
// It may import des, machine, record/cause, record/trace, internal/prefetch, unit and the packages
// below it: what buffers hold, stored routes, exclusive routes. Start at Fabric.
package noc

import (
	"fmt"

	"kernbench/des"
	"kernbench/hw/noc/buffer"
	"kernbench/hw/noc/routes"
	"kernbench/machine"
	"kernbench/record/cause"
	"kernbench/unit"
)

// Class separates traffic that must not wait for each other: each has its own buffers.
type Class uint8

// Traffic classes.
const (
	Compute    Class = iota // loads and stores
	Collective              // messages of rings
	Control                 // notifications and atomics

	Classes = iota // how many there are
)

func (c Class) String() string { return [...]string{"compute", "collective", "control"}[c] }

// Fidelity is the level of detail of messages.
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
	return 0, fmt.Errorf("unknown fidelity %q: want one of ideal, slot, flit", s)
}

func (f Fidelity) String() string { return [...]string{"slot", "flit", "ideal"}[f] }

// Sink is notified of messages. It is called while an event is handled or a message is sent.
type Sink interface {
	// Departed reports that the last byte of a transfer leaves its source at end, which may be in
	// the future.
	Departed(user uint32, end unit.Time)
	// Taken reports that the source's bytes have been read, for transfers that request it.
	Taken(user uint32)
	// Delivered reports that the last byte arrives at a time: now, or possibly later while routes
	// are reserved.
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

// Kind returns the kind of an event, and Index what it concerns.
func Kind(e des.Event) uint32 { return e.Target >> kindShift }

// Index returns the component that an event concerns.
func Index(e des.Event) uint32 { return e.Target & (1<<kindShift - 1) }

// Target packs a kind and an index.
func Target(kind, index uint32) uint32 { return kind<<kindShift | index }

// Fabric is the state of all links of a machine in one run.
//
// For a message at link i of its route
//
//	start_i = when the link is free and the buffer behind it has space for the whole message
//	head_i  = start_i + router_i + wire_i
//	tail_i  = max(start_i + bytes/rate_i, tail_{i-1}) + router_i + wire_i
//
// At the port of a memory, at the end of a route, start_i is at least tail_{i-1} - bytes/rate_i. A
// port serves other messages while this one comes over slower links.
//
// The message occupies the link from start_i until its tail leaves, which also frees the buffer
// that it came from. Messages into one buffer keep their order. A link takes the message whose
// head came first, then round robin over the buffers that the messages came from.
type Fabric struct {
	q     *des.Queue
	m     *machine.Machine
	sink  Sink
	ideal bool
	most  int64 // bytes of a message
	linkState
	storedRoutes
	inTransit
	reservation
	shortcuts

	causes *causes // nil: see Explain
	counts *counts // nil: see CountUse
}

// sourceQueue identifies the messages of one source and class for its first link. While a transfer
// of several messages takes turns there with other sources, later messages of the same source wait
// for its last one.
type sourceQueue struct {
	link, source uint32
	class        Class
}

// chain is a list of messages, by next.
type chain struct{ head, tail uint32 }

// message is a part of a transfer in flight. It fills a cache line.
type message struct {
	arrived    unit.Time // of its head at the link that it wants next
	tail       unit.Time // of its last byte there
	left       int64     // bytes of the transfer after this part
	bytes      int32
	user       uint32
	route      Route  // what is left of it, from the link that it wants next on
	into       uint32 // buffer that it goes into next, from when it comes to the link
	in         uint32 // buffer that it is in, from its second link on; nowhere if buffers are not counted
	via        uint32 // its source, at its first link; later 1 + the link it came from
	next       uint32
	hop        uint8 // links that it has passed; 2 stands for 2 or more
	vc         uint8 // its class, and the channel of the link that it wants next
	taken      bool  // the sink is notified when the source has been read
	headsQueue bool  // at the front of its sourceQueue
	ordered    bool  // see Transfer
}

// Sizes are the largest message, a flit, and the input buffers of links that name none.
type Sizes struct{ Message, Flit, Buffer unit.Bytes }

// New makes the fabric of a machine.
func New(q *des.Queue, m *machine.Machine, sink Sink, f Fidelity, sizes Sizes) *Fabric {
	n := &Fabric{q: q, m: m, sink: sink, ideal: f == Ideal, most: int64(sizes.Message)}
	if f == Flit {
		n.most = int64(sizes.Flit)
	}
	n.space = int32(min(sizes.Buffer, most))
	n.routes, n.compressFrom, n.prefetchFrom = routes.New(), compressHops, prefetchBytes
	n.vcs, n.vcBuffers, n.queues = make([]vc, 1), make([]buffer.Buffer, 1), make([]queue, 1)
	n.msgs = make([]message, 1, 1024)
	n.sourceQueues = map[sourceQueue]chain{}
	n.latest = map[sourceQueue]unit.Time{}
	return n
}

// Transfer is a number of bytes to be carried.
type Transfer struct {
	Route  Route
	Class  Class
	Bytes  int64
	Source uint32 // number of the sender: transfers of one source, class and route keep their order
	User   uint32 // handed back to the sink
	Taken  bool   // the sink wants a call of Taken

	// Ordered declares that no later transfer of the source starts as early. Then this one can
	// advance ahead of time, while routes are reserved.
	Ordered bool

	Cause cause.Point // of its start, for Explain
}

// Send starts a transfer at a time that is not past. The key orders it among the events of that
// instant; components of the owner must be numbered after all links.
func (n *Fabric) Send(at unit.Time, t Transfer, key des.Key) {
	part := max(1, min(t.Bytes, n.most))
	i := n.newMessage()
	if n.causes != nil {
		n.causes.sent(i, t.Cause)
	}
	if t.Route.Empty() {
		n.msgs[i] = message{user: t.User, taken: t.Taken, route: t.Route}
		n.q.Post(des.Event{Time: at, Key: key, Target: Target(kindDeliver, 0), Arg: i})
		return
	}
	h := n.routes.Hops[t.Route.At]
	li := h.Number()
	n.msgs[i] = message{
		arrived: at, tail: at, left: max(0, t.Bytes-part), bytes: int32(part), vc: n.vcAt(h, t.Class),
		user: t.User, route: t.Route, taken: t.Taken, via: t.Source, ordered: t.Ordered,
	}
	if n.reserved {
		n.advance(i, trigger{key: key}, false)
		return
	}
	n.q.Post(des.Event{Time: at, Key: key, Target: Target(kindArrive, li), Arg: i})
}

// Handle acts on an event of a kind below FirstFree.
func (n *Fabric) Handle(e des.Event) {
	switch Kind(e) {
	case kindArrive:
		n.arrive(Index(e), e.Arg)
		n.check(Index(e))
	case kindRetry:
		n.retry(Index(e))
		n.check(Index(e))
	case kindDeliver:
		m := &n.msgs[e.Arg]
		user, taken, last := m.user, m.taken && (m.hop == 0 || n.ideal), m.left == 0
		nowhere := m.route.Empty()
		n.freeMessage(e.Arg)
		if c := n.causes; c != nil {
			c.arrives(e.Arg, n.q.Now())
		}
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
