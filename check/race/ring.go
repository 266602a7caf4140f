package race

import (
	"kernbench/record/history"
	"kernbench/unit"
)

// ring is the messages of one ring whose slots may still be in use.
type ring struct {
	slots []message
	op    uint64 // of the last send, which may have more messages to come
	sent  clock  // when it began
}

// message is the current or last content of a slot.
type message struct {
	seq      uint32
	sent     clock // of the sender, until it is received
	credited bool
	credit   clock // of the receiver, until the slot is used again
	sender   place
	use      place // of the slot, after it was given back
}

// place is the place and time of an operation of an agent.
type place struct {
	witness
	call, line string
	when       unit.Time
}

func (q *ring) forget(d *Detector) {
	for i := range q.slots {
		d.drop(&q.slots[i].sent)
		d.drop(&q.slots[i].credit)
	}
	d.drop(&q.sent)
}

func (d *Detector) placeOf(r *history.Record) place {
	return place{witness{r.Agent, d.agents[r.Agent].clk.time}, r.Call, r.Line, r.Time}
}

func (d *Detector) ringRecord(r *history.Record) {
	q := d.rings[r.Ring]
	if q == nil {
		q = &ring{}
		d.rings[r.Ring] = q
	}
	if r.Kind == history.Send {
		d.send(q, r)
		return
	}
	if len(q.slots) == 0 {
		return // no message was sent
	}
	m := &q.slots[int(r.Seq)%len(q.slots)]
	switch r.Kind {
	case history.Recv:
		d.join(&d.agents[r.Agent].clk, &m.sent)
		d.drop(&m.sent)
	case history.Credit:
		m.credited = true
		d.drop(&m.credit)
		m.credit = d.publish(r)
	case history.Use:
		switch {
		case m.seq != r.Seq: // the slot has another message by now
			d.slot(d.placeOf(r), m.sender)
		case m.credited && m.use.time == 0:
			m.use = d.placeOf(r)
		}
	}
}

// send handles a message that has got its slot. The sender waits for the credit of the slot's
// previous message if the message is the first of a payload. For the others the engine waits.
func (d *Detector) send(q *ring, r *history.Record) {
	if len(q.slots) == 0 {
		q.slots = make([]message, max(1, r.Slots))
	}
	m := &q.slots[int(r.Seq)%len(q.slots)]
	a := &d.agents[r.Agent]
	first := q.op != r.Op || r.Op == 0
	if first && m.credited {
		d.join(&a.clk, &m.credit)
	}
	if m.use.time != 0 && !d.reaches(&a.clk, m.use.agent, m.use.time) {
		d.slot(m.use, d.placeOf(r))
	}
	if first {
		q.op = r.Op
		d.drop(&q.sent)
		q.sent = d.publish(r)
	}
	d.drop(&m.sent)
	d.drop(&m.credit)
	*m = message{seq: r.Seq, sent: d.holdClock(q.sent), sender: d.placeOf(r)}
}
