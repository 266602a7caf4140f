package race

import (
	"kernbench/mem"
	"kernbench/record/history"
)

// This file lets a put and its signal have joint events though their agent has sent other effects
// to the PE before. The signal then proves its own put and no other effect. But the event of the
// put is that of many. So a word with such a signal notes where the bytes of its put are. The agent
// that waits for the word receives them: see received.go.
// Invariant: a wait proves only those bytes of which this put is the last access. Where other
// accesses are, it proves nothing. Then there may be a hazard, and another pass decides.

// delivery is a put and its signal, which have joint events.
type delivery struct {
	signal, put eventID
	bytes       uint32
	addr        mem.Addr
}

// deliveryPool holds those for whose words no agent has waited.
type deliveryPool struct {
	deliveries     [][]delivery // in slabs
	numDeliveries  uint32
	freeDeliveries uint32 // the first one that is not in use, which are linked by bytes; 0: none
}

func (d *deliveryPool) deliveryAt(i uint32) *delivery {
	return &d.deliveries[i>>slabBits][i&(slabSize-1)]
}

// newDelivery returns the number of a delivery of a put to memory.
func (d *Detector) newDelivery(signal, put *event, to *history.Range) uint32 {
	i := d.freeDeliveries
	if i != 0 {
		d.freeDeliveries = d.deliveryAt(i).bytes
	} else {
		d.numDeliveries++
		if i = d.numDeliveries; int(i>>slabBits) >= len(d.deliveries) {
			d.deliveries = append(d.deliveries, make([]delivery, slabSize))
		}
	}
	put.hold()
	*d.deliveryAt(i) = delivery{signal.id, put.id, uint32(to.Bytes), to.Addr}
	return i
}

// delivered ends a delivery. An agent has waited for its word by record r.
func (d *Detector) delivered(r *history.Record, s wordState) {
	x := d.deliveryAt(s.number())
	d.receiveAt(r, d.event(x.put), x.addr, int64(x.bytes))
	d.forgetDelivery(s)
}

// updateOf returns the only update of a word; nil: there are none, or several.
func (d *Detector) updateOf(s wordState) *event {
	switch s.how() {
	case oneUpdate:
		return d.event(eventID(s.number()))
	case oneDelivery:
		return d.event(d.deliveryAt(s.number()).signal)
	}
	return nil
}

// forgetDelivery gives back the delivery of a word, if it has one.
func (d *Detector) forgetDelivery(s wordState) {
	if s.how() == oneDelivery {
		x := d.deliveryAt(s.number())
		d.release(d.event(x.put))
		x.bytes, d.freeDeliveries = d.freeDeliveries, s.number()
	}
}
