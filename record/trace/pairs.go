package trace

// pairs holds events back until both ends of their flow are known. So a file that is written during
// the run has no flow with one end. Events keep their order. An event whose
// other end does not come within heldAtMost events loses its flow.
type pairs struct {
	held    []paired        // from first on
	first   int             // in held
	base    int             // number of held[0] among all events
	waiting map[flowKey]int // numbers of events whose other end has not come
	flows   uint64
	out     func(e *Event, flow uint64)
}

const heldAtMost = 1 << 16

type paired struct {
	Event
	flow uint64
	open bool // it waits for its other end
}

func newPairs(out func(e *Event, flow uint64)) *pairs {
	return &pairs{waiting: map[flowKey]int{}, out: out}
}

// add takes the next event.
func (p *pairs) add(e *Event) {
	k := e.flow()
	number := p.base + len(p.held)
	at, known := p.waiting[k]
	switch {
	case k == (flowKey{}):
		p.held = append(p.held, paired{Event: *e})
	case !known:
		p.waiting[k] = number
		p.held = append(p.held, paired{Event: *e, open: true})
	case p.held[at-p.base].ends() == e.ends():
		p.held = append(p.held, paired{Event: *e}) // a second one of the same kind has no partner
	default:
		delete(p.waiting, k)
		p.flows++
		other := &p.held[at-p.base]
		other.flow, other.open = p.flows, false
		p.held = append(p.held, paired{Event: *e, flow: p.flows})
	}
	for p.first < len(p.held) && (!p.held[p.first].open || len(p.held)-p.first > heldAtMost) {
		p.next()
	}
	if p.first > heldAtMost {
		p.base += p.first
		p.held = p.held[:copy(p.held, p.held[p.first:])]
		p.first = 0
	}
}

// next writes the event that has been held the longest.
func (p *pairs) next() {
	h := &p.held[p.first]
	p.first++
	if h.open {
		delete(p.waiting, h.Event.flow())
	}
	p.out(&h.Event, h.flow)
}

// flush writes all events that are held.
func (p *pairs) flush() {
	for p.first < len(p.held) {
		p.next()
	}
}
