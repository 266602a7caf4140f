package noc

import (
	"kernbench/machine"
	"kernbench/unit"
)

// Invariant of this file: no other traffic takes the links of an exclusive route, and its messages
// come in the order of their times. So a message starts at a link when it and the link are ready,
// and needs no event. Input buffers hold all that can be on its way.

// PassExclusive carries a transfer of one message over an exclusive route of a kind: its last byte
// leaves the source at departed and arrives at delivered.
func (n *Fabric) PassExclusive(p *Reserved, kind uint32, bytes int64, at unit.Time) (departed, delivered unit.Time) {
	w := n.pathKinds[kind]
	k := w.latest
	if k == 0 || w.passages[k-1].bytes != bytes {
		k = w.passage(bytes)
	}
	t := &w.passages[k-1]
	switch {
	case n.ideal:
		p.at = max(p.at, at+t.ideal)
		return at + t.departed, p.at
	case p.clear == k && at >= p.at+t.gap:
		p.at = at
		return at + t.departed, at + t.delivered
	}
	return n.passBehind(p, w, k, at)
}

// passBehind is PassExclusive of a message that may have to wait for the one before.
func (n *Fabric) passBehind(p *Reserved, w *pathKind, k uint32, at unit.Time) (departed, delivered unit.Time) {
	free := n.freeAt[p.first : p.first+uint32(len(w.links))]
	if p.clear != 0 {
		for i, end := range w.passages[p.clear-1].ends {
			free[i] = p.at + end
		}
		p.clear = 0
	}
	t := &w.passages[k-1]
	arrived, tail, waits := at, at, false
	for i, l := range w.links {
		start := max(arrived, free[i])
		waits = waits || start > arrived
		end := max(start+t.takes[i], tail)
		free[i] = end
		if i == 0 {
			departed = end
		}
		latency := l.Router + l.Wire
		arrived, tail = start+latency, end+latency
	}
	if !waits {
		p.at, p.clear = at, k
	}
	return departed, tail
}

// pathKind is what exclusive routes of a kind have in common: their links are of the same kinds.
type pathKind struct {
	latest   uint32 // number of the passage that was asked for last
	passages []passage
	bySize   map[int64]uint32
	links    []*machine.LinkSpec
}

// knows reports whether a kind has been found.
func (n *Fabric) knows(kind uint32) bool {
	return int(kind) < len(n.pathKinds) && n.pathKinds[kind] != nil
}

// pathKind finds a kind by the path of one of its uses, unless it is known.
func (n *Fabric) pathKind(kind uint32, path []hop) {
	if n.knows(kind) {
		return
	}
	for int(kind) >= len(n.pathKinds) {
		n.pathKinds = append(n.pathKinds, nil)
	}
	w := &pathKind{bySize: map[int64]uint32{}}
	for _, h := range path {
		w.links = append(w.links, n.m.Spec(machine.LinkID(n.linkOf(h))))
	}
	n.pathKinds[kind] = w
}

// passage is how a message of one size passes a path on which it meets no other, in times from
// its start. A message of the same size that starts a gap later does not meet it either.
type passage struct {
	bytes               int64
	departed, delivered unit.Time
	ideal               unit.Time // when it arrives at fidelity Ideal
	gap                 unit.Time
	takes, ends         []unit.Time // by link: how long it is taken, and until when
}

// passage is the number of that of messages of a size, from 1 on.
func (w *pathKind) passage(bytes int64) uint32 {
	if k := w.bySize[bytes]; k != 0 {
		w.latest = k
		return k
	}
	t := passage{bytes: bytes}
	var start, tail, latency unit.Time
	for _, l := range w.links {
		takes := l.Serial.Time(max(1, bytes))
		end := max(start+takes, tail)
		t.takes, t.ends = append(t.takes, takes), append(t.ends, end)
		t.gap = max(t.gap, end-start)
		t.ideal = max(t.ideal, takes)
		start, tail = start+l.Router+l.Wire, end+l.Router+l.Wire
		latency += l.Router + l.Wire
	}
	t.departed, t.delivered, t.ideal = t.ends[0], tail, t.ideal+latency
	w.passages = append(w.passages, t)
	w.latest = uint32(len(w.passages))
	w.bySize[bytes] = w.latest
	return w.latest
}
