package sim

import (
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// peer is the state of a rank for a PE whose memory it writes: the paths there, and the operations
// in flight. There may be one for each pair of PEs, so it holds no pointer.
type peer struct {
	pe      int32
	out     int32     // puts, stores and notifications that are in flight there
	acked   unit.Time // when the latest acknowledgement of those that have arrived is back
	pair    uint32    // in Executor.pairTimes
	fenced  uint32    // fences before the latest operation there
	path    pathID    // of the latest operation there
	putPath pathID    // of the latest put there
}

// peerPath is a path between a rank and a peer.
type peerPath uint8

const (
	controlPath peerPath = iota // from the PE to the peer's HBM
	backPath                    // from the peer to the PE
	tcmPath                     // from the PE's TCM to the peer's HBM
	hbmPath                     // from the PE's HBM to the peer's HBM
	askPath                     // from the PE to the peer's HBM, for a request
	dataPath                    // from the peer's HBM to the PE's HBM

	peerPaths = iota
)

// pairTimes holds the times that all pairs of a class have in common.
type pairTimes struct {
	ack   unit.Time    // of an acknowledgement
	heads [2]unit.Time // of a put without its bytes: from the PE's TCM, from its HBM
	level int          // of the network between SIPs that their messages pass
	own   bool         // they are one PE
}

// delays is the state of a random schedule for a peer.
type delays struct {
	started [channels]unit.Time // latest start of a transfer, by channel
	landed  unit.Time           // latest arrival of a put, past or future
}

// pathID names one of the paths to a destination. Messages on one path arrive in order. The path of
// a put begins at the memory that holds its source; its ID is the node of that memory.
type pathID int32

const (
	noPath    pathID = -1 - iota
	byStore          // compute traffic
	byControl        // notifications and atomics
)

// peers is a table of peers by PE, without the cost of a map.
type peers struct {
	list   []peer
	random []delays               // of random schedules, by number; nil if there are none
	paths  [][peerPaths]noc.Route // each from its first use on, by number; nil if the run is explained

	slot []slot // by hash of the PE; a power of two of them
	last int32  // the number found last
}

// slot is an entry of the table. It names the PE, so that a failed lookup does not read the list.
type slot struct{ pe, number int32 } // 1 + the number in list; 0: empty

// at returns a peer by its number. The pointer holds until another one is added.
func (p *peers) at(number int32) *peer { return &p.list[number] }

func (p *peers) find(pe int32) (number int32, ok bool) {
	if len(p.list) == 0 {
		return 0, false
	}
	if p.list[p.last].pe != pe {
		s := p.slot[p.probe(pe)]
		if s.number == 0 {
			return 0, false
		}
		p.last = s.number - 1
	}
	return p.last, true
}

// probe returns the slot of a PE, or the empty one where it would be.
func (p *peers) probe(pe int32) uint32 {
	mask := uint32(len(p.slot) - 1)
	h := (uint32(pe) + uint32(pe)>>7) & mask
	for p.slot[h].number != 0 && p.slot[h].pe != pe {
		h = (h + 1) & mask
	}
	return h
}

// add gives a PE that has none an entry.
func (p *peers) add(e peer) int32 {
	if 2*len(p.list) >= len(p.slot) {
		old := p.slot
		p.slot = make([]slot, max(8, 2*len(old)))
		list := p.list
		p.list = make([]peer, len(list), len(p.slot)/2) // append would take more than can be used
		copy(p.list, list)
		for _, s := range old {
			if s.number != 0 {
				p.slot[p.probe(s.pe)] = s
			}
		}
	}
	h := p.probe(e.pe)
	p.list = append(p.list, e)
	p.last = int32(len(p.list) - 1)
	p.slot[h] = slot{e.pe, p.last + 1}
	return p.last
}

// peer returns the number of a PE among the peers of a rank. A rank is its own peer for one-sided
// operations on its own memory.
func (r *rank) peer(pe int32) int32 {
	if i, ok := r.peers.find(pe); ok {
		return i
	}
	e := r.run.e
	r.address(r.instr.Call(), mem.At(mem.HBM, int(pe), 0), 0)
	if e.opts.Seed != 0 {
		r.peers.random = append(r.peers.random, delays{})
	}
	if e.opts.Causes == nil {
		r.peers.paths = append(r.peers.paths, [peerPaths]noc.Route{})
	}
	return r.peers.add(peer{pe: pe, path: noPath, putPath: noPath, pair: e.pair(pe, r.seat)})
}

// pair returns the number of the pairTimes of two PEs. The times are computed once per class.
func (e *Executor) pair(from, to int32) uint32 {
	if e.pairs == nil {
		e.pairs = e.m.PairClasses()
	}
	number := e.pairs.Number(int(from), int(to))
	if int(number) == len(e.pairTimes) {
		e.hops = e.m.Route(e.hops[:0], e.m.PE(int(from)), e.m.PE(int(to)))
		head, slowest := e.m.Latency(e.hops)
		t := pairTimes{ack: head, own: from == to, level: e.m.Between(int(to), int(from))}
		if slowest > 0 {
			t.ack += slowest.Time(int64(e.topo.Fabric().RequestBytes))
		}
		for i, source := range [2]machine.NodeID{e.m.TCM(int(from)), e.m.HBM(int(from))} {
			e.hops = e.m.Route(e.hops[:0], source, e.m.HBM(int(to)))
			t.heads[i], _ = e.m.Latency(e.hops)
		}
		e.pairTimes = append(e.pairTimes, t)
	}
	return number
}

// ack returns the time of an acknowledgement of a peer.
func (r *rank) ack(i int32) unit.Time { return r.run.e.pairTimes[r.peers.at(i).pair].ack }

// late returns the time from the arrival of an update of a peer's word, or of a packet of lines,
// until it is seen.
func (r *rank) late(i int32, lines tl.PacketLine) unit.Time {
	t := &r.run.e.pairTimes[r.peers.at(i).pair]
	if t.own {
		return 0
	}
	if lines != tl.NoLine {
		return r.run.ring.LineLate(lines, t.level)
	}
	late, _ := r.run.ring.Protocol.Late(t.level)
	return late
}

// path finds a path once and keeps it, unless the run is explained. Programs and tasks share those
// of the executor, because a PE can have many of them.
func (r *rank) path(peer int32, which peerPath, from, to machine.NodeID) noc.Route {
	e, request := r.run.e, which == askPath
	if e.opts.Causes != nil {
		return e.find(path{from, to, request})
	}
	kept := &r.peers.paths[peer][which]
	switch {
	case !kept.Empty():
	case r.parent == nil:
		*kept = e.net.AddRoute(from, to, request)
	default:
		*kept = e.find(path{from, to, request})
	}
	return *kept
}

// controlTo returns the path of a control message to a peer.
func (r *rank) controlTo(i int32) noc.Route {
	m := r.run.e.m
	return r.path(i, controlPath, m.PE(int(r.seat)), m.HBM(int(r.peers.at(i).pe)))
}

// backFrom returns the path of a reply from a peer.
func (r *rank) backFrom(i int32) noc.Route {
	m := r.run.e.m
	return r.path(i, backPath, m.PE(int(r.peers.at(i).pe)), m.PE(int(r.seat)))
}

// routeTo returns the path of a put from a memory to a peer's HBM.
func (r *rank) routeTo(i int32, from machine.NodeID) noc.Route {
	e := r.run.e
	switch to := e.m.HBM(int(r.peers.at(i).pe)); from {
	case e.m.HBM(int(r.seat)):
		return r.path(i, hbmPath, from, to)
	case e.m.TCM(int(r.seat)):
		return r.path(i, tcmPath, from, to)
	default:
		return e.route(from, to)
	}
}

// routesFrom returns the paths of a get from a peer's HBM into a memory: of the request, and of
// the data.
func (r *rank) routesFrom(i int32, to machine.NodeID) (ask, data noc.Route) {
	e := r.run.e
	from, own := e.m.HBM(int(r.peers.at(i).pe)), e.m.HBM(int(r.seat))
	ask = r.path(i, askPath, e.m.PE(int(r.seat)), from)
	if to != own {
		return ask, e.route(from, to)
	}
	return ask, r.path(i, dataPath, from, own)
}
