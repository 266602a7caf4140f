package noc

import (
	"slices"

	"kernbench/hw/noc/routes"
	"kernbench/record/cause"
	"kernbench/unit"
)

// causes is the state of the fabric for a log of causes. It follows two chains of each message,
// that of its head and that of its last byte. It keeps the latest message of each link, and the
// releases of each buffer.
type causes struct {
	log        *cause.Log
	head, tail []moment               // by message, at the link that it wants next
	busy       []moment               // by link: when the last byte of the message that it took last has left
	released   map[uint32][]vacated   // by number of a buffer
	latest     map[sourceQueue]moment // see Fabric.latest
	sinkCause  cause.Point            // of the current call of the sink
}

// moment is a point, and links that have only taken their latency since.
type moment struct {
	at   cause.Point
	path uint32
}

// vacated is space that a buffer gets back.
type vacated struct {
	at unit.Time
	by moment
}

// Explain makes the fabric write causes to a log, until it is called with nil. Routes must not be
// reserved meanwhile.
func (n *Fabric) Explain(log *cause.Log) {
	n.causes, n.shared = nil, nil
	if log != nil {
		n.causes = &causes{log: log, released: map[uint32][]vacated{}, latest: map[sourceQueue]moment{}}
		n.shared = &routes.Shared{}
	}
}

// SinkCause returns the point of the current call of a Sink.
func (n *Fabric) SinkCause() cause.Point { return n.causes.sinkCause }

// KeepCauses keeps what the fabric has of a log of causes, which is to forget the rest. It drops
// the messages of links that are free since before now, and space that buffers got back before: no
// message starts then.
func (n *Fabric) KeepCauses(k *cause.Keep) {
	c, now := n.causes, n.q.Now()
	keep := func(m moment) {
		k.Point(m.at)
		k.Path(m.path)
	}
	for li := range c.busy {
		if n.links[li].freeAt < now {
			c.busy[li] = moment{}
		}
	}
	for _, all := range [...][]moment{c.head, c.tail, c.busy} {
		for _, m := range all {
			keep(m)
		}
	}
	for in, all := range c.released {
		all = slices.DeleteFunc(all, func(v vacated) bool { return v.at < now })
		if len(all) == 0 {
			delete(c.released, in)
			continue
		}
		c.released[in] = all
		for _, v := range all {
			keep(v.by)
		}
	}
	for _, m := range c.latest {
		keep(m)
	}
	k.Point(c.sinkCause)
}

// place returns the entry of a number, for which it makes space.
func place[T any](s *[]T, i uint32) *T {
	for int(i) >= len(*s) {
		var zero T
		*s = append(*s, zero)
	}
	return &(*s)[i]
}

// sent begins the chains of a message.
func (c *causes) sent(mi uint32, at cause.Point) {
	*place(&c.head, mi), *place(&c.tail, mi) = moment{at: at}, moment{at: at}
}

// point turns a moment, at a time, into a point.
func (c *causes) point(m moment, t unit.Time) cause.Point {
	if m.path == 0 {
		return m.at
	}
	return c.log.Add(t, m.at, cause.Latency, cause.At(cause.Path, int(m.path)))
}

// past returns the moment a link's latency after another one.
func (n *Fabric) past(m moment, li uint32) moment {
	l := &n.links[li]
	if n.kind(l).latency > 0 {
		m.path = n.causes.log.Extend(m.path, int(l.id))
	}
	return m
}

// arrives ends the chains of a message.
func (c *causes) arrives(mi uint32, now unit.Time) {
	c.sinkCause = c.point(c.tail[mi], now)
	c.head[mi], c.tail[mi] = moment{}, moment{}
}

// starts follows a message that starts on a link now.
func (c *causes) starts(n *Fabric, li, mi uint32) {
	l, m, now := &n.links[li], &n.msgs[mi], n.q.Now()
	link := cause.At(cause.Link, int(l.id))
	head, end := c.head[mi], c.tail[mi]
	leaves := now + n.kind(l).serial.Time(int64(m.bytes))
	rate := leaves > m.tail || m.hop == 0 // whether the rate of the link decides when the last byte leaves
	if !rate {
		leaves = m.tail
	}
	switch {
	case now == m.arrived:
		if rate {
			end = moment{at: c.log.Add(leaves, c.point(head, now), cause.Serialisation, link)}
		}
	case rate:
		head, end = c.served(n, li, m, head.at, leaves)
	default:
		head, _ = c.served(n, li, m, head.at, now)
	}
	*place(&c.busy, li) = end
	if m.hop > 0 && m.in != nowhere {
		c.vacates(m.in, leaves, end, now)
	}
	if m.hop == 0 && m.left == 0 {
		c.sinkCause = c.point(end, leaves)
	}
	c.head[mi], c.tail[mi] = n.past(head, li), n.past(end, li)
}

// served returns the moments at which a message starts on a link, now, and its last byte leaves. It
// has waited for the link, or for space behind it.
func (c *causes) served(n *Fabric, li uint32, m *message, own cause.Point, leaves unit.Time) (head, end moment) {
	l, now := &n.links[li], n.q.Now()
	by, at, space := *place(&c.busy, li), l.freeAt, false
	if at != now {
		by, at, space = c.vacancy(m.into, now), now, true
	}
	if by.at != 0 {
		if until := c.point(by, at); c.log.Time(until) == now {
			head.at, end.at = c.log.Serve(m.arrived, until, leaves, c.log.Owner(own), int(l.id), space)
			return head, end
		}
	}
	link := cause.At(cause.Link, int(l.id))
	head.at = c.log.Add(now, own, cause.Unknown, link)
	return head, moment{at: c.log.Add(leaves, head.at, cause.Serialisation, link)}
}

// vacates notes that a buffer gets space back at a time.
func (c *causes) vacates(in uint32, at unit.Time, by moment, now unit.Time) {
	kept := c.released[in][:0]
	for _, v := range c.released[in] {
		if v.at >= now {
			kept = append(kept, v)
		}
	}
	c.released[in] = append(kept, vacated{at, by})
}

// vacancy returns the point of a release of buffer space now.
func (c *causes) vacancy(in uint32, now unit.Time) moment {
	for _, v := range c.released[in] {
		if v.at == now {
			return v.by
		}
	}
	return moment{}
}

// next continues the chain at the next part of a transfer, after the one that has just left its
// source.
func (c *causes) next(li, mi uint32) {
	*place(&c.head, mi) = c.busy[li]
	*place(&c.tail, mi) = c.busy[li]
}

// queued makes the earlier message the cause of a message that queued after it.
func (c *causes) queued(n *Fabric, li, mi uint32, end unit.Time) {
	m, own := &n.msgs[mi], c.head[mi].at
	if end <= m.arrived {
		return
	}
	w := c.log.Wait(m.arrived, c.point(c.busy[li], end), c.log.Owner(own), cause.Queueing, cause.At(cause.Link, int(n.links[li].id)))
	c.head[mi], c.tail[mi] = moment{at: w}, moment{at: w}
}

// passes follows a transfer that takes a path as if it were alone. Its last byte has left its
// source at departed and arrives at end; without another of its source before it, it would at free.
func (c *causes) passes(n *Fabric, mi uint32, path []routes.Hop, bytes int64, key sourceQueue, departed, free, end unit.Time) {
	now, at := n.q.Now(), c.head[mi].at
	slowest, longest := uint32(0), unit.Time(-1)
	for _, h := range path {
		li := h.Number()
		if d := n.kind(&n.links[li]).serial.Time(bytes); d > longest {
			slowest, longest = li, d
		}
	}
	link := func(li uint32) cause.Resource { return cause.At(cause.Link, int(n.links[li].id)) }
	first := path[0].Number()
	c.sinkCause = c.log.Add(departed, at, cause.Serialisation, link(first))
	m := moment{at: c.log.Add(now+longest, at, cause.Serialisation, link(slowest))}
	for _, h := range path {
		m = n.past(m, h.Number())
	}
	if end > free {
		before := c.latest[key]
		m = moment{at: c.log.Wait(free, before.at, c.log.Owner(at), cause.Queueing, link(key.link))}
	} else {
		m = moment{at: c.point(m, end)}
	}
	c.latest[key], c.tail[mi] = m, m
}
