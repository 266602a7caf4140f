package noc

import "kernbench/des"

// pass carries a whole transfer over its path as if it were alone: the latencies, and its bytes
// over the slowest link. The operations of one source at one memory, in one class, keep their order
// all the same. So fidelities differ in time and not in values.
func (n *Fabric) pass(m *message, mi uint32) {
	now := n.q.Now()
	path := n.routes.Path(m.route)
	end, departed := now, now
	for k, h := range path {
		d := n.kind(&n.links[h.Number()]).serial.Time(int64(m.bytes) + m.left)
		end = max(end, now+d)
		if n.counts != nil {
			n.counts.passes(h.Number(), m, now, d)
		}
		if k == 0 {
			departed += d
		}
	}
	for _, h := range path {
		end += n.kind(&n.links[h.Number()]).latency
	}
	at := path[len(path)-1].Number()
	if first := path[0].Number(); n.kind(&n.links[first]).spec.Port && !n.kind(&n.links[at]).spec.Port {
		at = first
	}
	key := sourceQueue{at, m.via, m.class()}
	free := end
	end = max(end, n.latest[key])
	n.latest[key] = end
	if n.causes != nil {
		n.causes.passes(n, mi, path, int64(m.bytes)+m.left, key, departed, free, end)
	}
	user := m.user
	m.left = 0
	n.q.Post(des.Event{Time: end, Key: n.key(at, des.Arrive), Target: Target(kindDeliver, 0), Arg: mi})
	n.sink.Departed(user, departed)
}
