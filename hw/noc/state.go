package noc

import (
	"fmt"

	"kernbench/hw/noc/buffer"
	"kernbench/hw/noc/routes"
	"kernbench/machine"
	"kernbench/unit"
)

// This file holds the state of links. Only links that some route passes have state, in the order in
// which routes pass them. So links that lie together are near in memory. Only the keys of events
// have the number of a link in the machine.

// link is the state of one link: all that a message touches if it passes without waiting. It fills
// a cache line.
type link struct {
	freeAt  unit.Time
	own     buffer.Buffer // of the class and channel that came first; others are vcs
	flying  uint32        // messages that an event brings to it by its one edge, while routes are reserved
	id      uint32        // in the machine
	counter uint32
	served  uint32 // where the message it took last came from: see from
	vcs     uint32 // first in Fabric.vcs
	queue   uint32 // in Fabric.queues
}

// linkState is the state of all links.
type linkState struct {
	index     []uint32 // by link of the machine: 1 + its number in links; 0: no route passes it; nil until it is needed
	links     []link
	kinds     []kind
	space     int32           // bytes of an input buffer of a link that names none
	vcs       []vc            // of all links; number 0 is none, as of queues
	vcBuffers []buffer.Buffer // of vcs
	queues    []queue
	releases  buffer.Pool // of all buffers
}

// Flags of buffers, of which there is one for each class and channel of a link. The last two are
// those of the link, at its own buffer. Kind is that of the link; VC the class and channel, or
// unused.
const (
	blocked   uint8 = 1 << iota // a queue waits for space that has not been announced
	soleRoute                   // one route alone passes the link
	neverFull                   // its buffers hold all that can be in flight over it
)

// vc is the state of a class and channel of a link, if it needs more than a buffer. Its buffer has
// the same number in Fabric.vcBuffers, unless it is the link's own. Two vcs share a cache line.
type vc struct {
	head, tail uint32 // messages at the near end that wait to go into the buffer
	next       uint32 // vc of the link, by class and channel
	link       uint32
}

// queue describes a link at which messages have waited.
type queue struct {
	retryAt      unit.Time // of the retry that counts, or never
	waiting      uint32
	sourceQueues uint32 // number of source queues in front of it
}

// kind holds the properties that similar links share.
type kind struct {
	spec    *machine.LinkSpec
	serial  unit.Serial
	latency unit.Time
	space   int32 // bytes of an input buffer
}

const (
	never          = buffer.Never
	nowhere uint32 = 1<<32 - 1
	isVC    uint32 = 1 << 31 // tells vcs from links, where a number stands for a buffer
	unused  uint8  = 1<<8 - 1
)

// most is the largest buffer space that counts.
const most = 1 << 30

func (m *message) class() Class { return Class(m.vc / routes.Channels) }

// vcAt returns the vc of a class, at the channel of a hop.
func (n *Fabric) vcAt(h routes.Hop, class Class) uint8 {
	return uint8(class)*routes.Channels | h.Channel()
}

// channelOf returns the channel of hop i of a path in the machine. Writes into a memory have a
// queue of their own at its port: they never wait for reads.
func (n *Fabric) channelOf(path []machine.Hop, i int) uint8 {
	if i == len(path)-1 {
		if s := n.m.Spec(path[i].Link); s.Port {
			return max(1, s.Channels)
		}
	}
	return path[i].Channel
}

// link returns the number in n.links of a link of the machine. It adds the link if it has no state.
func (n *Fabric) link(id machine.LinkID) uint32 {
	if n.index == nil {
		n.index = make([]uint32, n.m.NumLinks())
		for i := range n.links {
			n.index[n.links[i].id] = uint32(i) + 1
		}
	}
	if i := n.index[id]; i != 0 {
		return i - 1
	}
	n.links = append(n.links, link{own: buffer.Empty(n.kindOf(n.m.Spec(id)), unused), id: uint32(id)})
	n.index[id] = uint32(len(n.links))
	return uint32(len(n.links) - 1)
}

// kindOf finds the kind of links with a specification. There are a few for each level of a machine.
func (n *Fabric) kindOf(s *machine.LinkSpec) uint16 {
	for i := range n.kinds {
		if n.kinds[i].spec == s {
			return uint16(i)
		}
	}
	if s.Channels >= routes.Channels {
		panic(fmt.Sprintf("noc: a link with %d channels: at most %d", s.Channels, routes.Channels-1))
	}
	n.kinds = append(n.kinds, kind{spec: s, serial: s.Serial, latency: s.Router + s.Wire, space: n.spaceOf(s)})
	return uint16(len(n.kinds) - 1)
}

// spaceOf returns how many bytes each input buffer of a link holds.
func (n *Fabric) spaceOf(s *machine.LinkSpec) int32 {
	if s.Buffer > 0 {
		return int32(min(s.Buffer, most))
	}
	return n.space
}

func (n *Fabric) kind(l *link) *kind { return &n.kinds[l.own.Kind] }

// into returns the number of the buffer of a class and channel of a link.
func (n *Fabric) into(li uint32, vc uint8) uint32 {
	b := &n.links[li].own
	if b.VC == vc {
		return li
	}
	if b.VC == unused {
		b.VC = vc
		return li
	}
	return isVC | n.vc(li, vc)
}

// buffer returns the buffer with a number.
func (n *Fabric) buffer(i uint32) *buffer.Buffer {
	if i < isVC {
		return &n.links[i].own
	}
	return &n.vcBuffers[i-isVC]
}

// spaceIn returns how many bytes a buffer holds.
func (n *Fabric) spaceIn(b *buffer.Buffer) int32 { return n.kinds[b.Kind].space }

// fits reports whether a buffer has space for a message at a time.
func (n *Fabric) fits(i uint32, bytes int32, now unit.Time) bool {
	b := n.buffer(i)
	return b.Fits(&n.releases, n.spaceIn(b), bytes, now)
}

// release gives back the space that m took in the buffer that it came from, at the time its tail
// leaves.
func (n *Fabric) release(m *message, at unit.Time) {
	if m.in == nowhere {
		return
	}
	b := n.buffer(m.in)
	b.Release(&n.releases, m.bytes, at)
	if b.Flags&blocked != 0 {
		li := m.in
		if li >= isVC {
			li = n.vcs[li-isVC].link
		}
		b.Flags &^= blocked
		n.schedule(li)
	}
	n.checkBuffer(m.in)
}

// vcOf returns the vc of a buffer with a number.
func (n *Fabric) vcOf(i uint32) uint32 {
	if i < isVC {
		return n.vc(i, n.links[i].own.VC)
	}
	return i - isVC
}

// vc finds a vc of a link, or makes it.
func (n *Fabric) vc(li uint32, which uint8) uint32 {
	at := &n.links[li].vcs
	for *at != 0 && n.vcBuffers[*at].VC < which {
		at = &n.vcs[*at].next
	}
	if i := *at; i != 0 && n.vcBuffers[i].VC == which {
		return i
	}
	i, next := uint32(len(n.vcs)), *at
	*at = i // before they move
	n.vcs = append(n.vcs, vc{link: li, next: next})
	n.vcBuffers = append(n.vcBuffers, buffer.Empty(n.links[li].own.Kind, which))
	return i
}

// queue returns the queue of a link, or makes it.
func (n *Fabric) queue(l *link) *queue {
	if l.queue == 0 {
		n.queues = append(n.queues, queue{retryAt: never})
		l.queue = uint32(len(n.queues) - 1)
	}
	return &n.queues[l.queue]
}
