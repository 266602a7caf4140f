package timing

import (
	"kernbench/machine"
	"kernbench/unit"
)

// links is the state of a machine's links: a transfer takes each link of its route, in order, when
// the one before it leaves. Transfers must come in the order of their times.
type links struct {
	machine *machine.Machine
	model   *Model
	free    []unit.Time
	busy    []unit.Time // for how long each has been taken
	routes  map[[2]int]*route

	meetings map[string]*meeting
}

type route struct {
	hops []machine.LinkID
	head unit.Time // latency of the first byte
	late unit.Time // from the arrival of a message until it is seen

	slowest unit.Rate // of the links of a part to or from a switch
}

func newLinks(m *machine.Machine, model *Model) *links {
	return &links{machine: m, model: model, free: make([]unit.Time, m.NumLinks()),
		busy: make([]unit.Time, m.NumLinks()), routes: map[[2]int]*route{},
		meetings: map[string]*meeting{}}
}

// route returns the path of writes by rank from into the memory of rank to.
func (l *links) route(from, to int) *route {
	key := [2]int{from, to}
	if r := l.routes[key]; r != nil {
		return r
	}
	r := &route{late: l.model.Latency}
	if level := l.machine.Between(from, to) + 1; level < len(l.model.Hops) {
		r.late = l.model.Hops[level]
	}
	for _, h := range l.machine.Route(nil, l.machine.PE(from), l.machine.HBM(to)) {
		s := l.machine.Spec(h.Link)
		r.hops = append(r.hops, h.Link)
		r.head += s.Router + s.Wire
	}
	l.routes[key] = r
	return r
}

// send carries bytes from a time on and returns when the last has arrived.
func (l *links) send(r *route, bytes int64, at unit.Time) unit.Time {
	head, tail := at, at
	for _, id := range r.hops {
		s := l.machine.Spec(id)
		took := s.Serial.Time(bytes)
		start := max(head, l.free[id])
		l.free[id] = start + took
		l.busy[id] += took
		head = start + s.Router + s.Wire
		tail = max(start+took, tail) + s.Router + s.Wire
	}
	return tail
}

func (l *links) name(id int) string { return l.machine.LinkName(machine.LinkID(id)) }
