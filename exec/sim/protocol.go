package sim

import (
	"kernbench/des"
	"kernbench/hw/memory"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/tl"
	"kernbench/unit"
)

// delayVisibility reports whether the receiver has still to see an arrival, and schedules that for
// later: the latency of the protocol. No resource is occupied meanwhile, so messages behind it keep
// their distance. seen is whether a time has been set.
//
// All updates of words by other PEs are late, atomics too, so that updates on one path take effect
// in order. The data of a put do not wait, because only its word makes them known.
func (x *run) delayVisibility(r *rank, user uint32, seen *bool, now, late unit.Time) bool {
	if late <= 0 || *seen {
		return false
	}
	*seen = true
	at := now + late
	x.seenAt(user, at, cause.Protocol)
	x.e.q.Post(des.Event{Time: at, Key: r.nextKey(des.Arrive, seqSeen), Target: noc.Target(kindSeen, user)})
	return true
}

// lateToken returns the time from the arrival of a token until it is seen. One that comes behind it
// may be there sooner, and is taken later.
func (r *rank) lateToken(t *transfer) unit.Time {
	q, p := r.tx[t.port], &r.run.ring.Protocol
	late := q.late + p.Copied(t.bytes)
	if rate := p.Through(int32(t.channels)); rate > 0 && !t.seen {
		e := r.run.e
		if q.head == 0 {
			from, pe := int(r.pe), int(r.run.ranks[q.to].pe)
			e.hops = e.m.Route(e.hops[:0], e.m.TCM(from), memory.RingNode(e.m, pe, r.run.ring.Space))
			q.head, _ = e.m.Latency(e.hops)
		}
		q.written = max(q.written, t.at+e.spec.DMA.Setup) + rate.Time(t.bytes)
		late += max(0, q.written+q.head-e.q.Now())
	}
	return late
}

// latePut returns the time from the arrival of a put until its signal is seen. An update behind a
// put through channels may be seen before it.
func (r *rank) latePut(t *transfer, f *effect) unit.Time {
	late := r.late(f.peer, f.lines)
	if rate := r.run.ring.Protocol.Through(int32(t.channels)); rate > 0 && t.kind == transferPut && !t.seen {
		e := r.run.e
		if pair := &e.pairTimes[r.peers.at(f.peer).pair]; !pair.own {
			head := pair.heads[0]
			if f.fromMemory {
				head = pair.heads[1]
			}
			late += max(0, t.at+e.spec.DMA.Setup+rate.Time(t.bytes)+head-e.q.Now())
		}
	}
	return late
}

// putWire returns the bytes that a put takes on the links, given the bytes of its data. Lines of
// packets have flags.
func (x *run) putWire(bytes int64, lines tl.PacketLine) int64 {
	p := &x.ring.Protocol
	if lines != tl.NoLine {
		ll := x.ring.Lines(lines)
		p = &ll
	}
	return p.Wire(bytes)
}

// onWire returns the bytes that the data of a load or store take on the links. Data of another PE's
// memory travel with the flags of the protocol. The PE's own memory and the SRAM of a cube hold
// data alone, and tiles of a composite are no messages.
func (r *rank) onWire(t *transfer) int64 {
	if t.kind != transferLoad && t.kind != transferStore || t.addr.Space() == mem.SRAM || t.addr.Unit() == int(r.seat) {
		return t.bytes
	}
	return r.run.ring.Protocol.Wire(t.bytes)
}
