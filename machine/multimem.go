package machine

import (
	"fmt"
	"math/bits"
	"slices"

	"kernbench/conf"
	"kernbench/unit"
)

// Multimem is a switch that all PEs of a group have a link to, which copies what one of them stores
// to all, and combines what one of them loads from all.
type Multimem struct {
	Hub    NodeID
	Rate   unit.Rate // of a member's link
	Switch conf.Switch
	name   string
}

// Multimem returns the switch that joins some PEs, at least two. The error says what is missing:
// the PEs have no switch in common that each reaches by itself.
func (m *Machine) Multimem(pes []int32) (*Multimem, error) {
	if len(pes) < 2 {
		return nil, fmt.Errorf("a group of %s has no switch between them", unit.Count(len(pes), "PE"))
	}
	var found *Multimem
	var hops []Hop
	for _, pe := range pes[1:] {
		hops = m.Route(hops[:0], m.HBM(int(pes[0])), m.HBM(int(pe)))
		one := m.onlyHub(hops)
		switch {
		case one == nil:
			return nil, fmt.Errorf("no single switch joins %s and %s", m.PEName(int(pes[0])), m.PEName(int(pe)))
		case found == nil:
			found = one
		case found.Hub != one.Hub:
			return nil, fmt.Errorf("the %s and the %s join different PEs of the group", found.name, one.name)
		}
	}
	return found, nil
}

// onlyHub returns the switch between SIPs on a path that passes one and no gateway, or nil.
func (m *Machine) onlyHub(hops []Hop) *Multimem {
	var found *Multimem
	for _, h := range hops {
		l := m.Link(h.Link)
		at := m.place(l.To)
		if at.kind != kindSystemHub {
			continue
		}
		s := m.outside.stand(at.index + m.sips)
		level := &m.outside.at[s.level]
		if found != nil || level.gateway && s.local == level.n {
			return nil
		}
		found = &Multimem{Hub: l.To, Rate: l.Rate, Switch: m.topology.System().Between()[s.level].Switch,
			name: switchName(m.NodeName(l.To))}
	}
	return found
}

// switchName is "switch leaf2", or "switch" for the only one of a machine.
func switchName(node string) string {
	if node == "switch" {
		return node
	}
	return "switch " + node
}

// Copies returns an error that names what a store to all members lacks, or nil.
func (x *Multimem) Copies() error {
	if x.Switch.Multicast {
		return nil
	}
	return fmt.Errorf("the %s does not copy (switch.multicast)", x.name)
}

// Reduces returns an error that names what a load that combines elements of a type lacks, or nil.
func (x *Multimem) Reduces(typ string) error {
	switch types := x.Switch.Reduce.Types; {
	case len(types) == 0:
		return fmt.Errorf("the %s does not reduce (switch.reduce.types)", x.name)
	case !slices.Contains(types, typ):
		return fmt.Errorf("the %s does not reduce %s (switch.reduce.types)", x.name, typ)
	}
	return nil
}

// CanMultimem says what some PEs lack for loads that a switch combines and stores that it copies,
// or nil.
func (m *Machine) CanMultimem(pes []int32) error {
	x, err := m.Multimem(pes)
	if err == nil {
		err = x.Copies()
	}
	if err == nil && len(x.Switch.Reduce.Types) == 0 {
		err = x.Reduces("")
	}
	if err != nil {
		return fmt.Errorf("it needs a switch that reduces and copies: %w", err)
	}
	return nil
}

// Wire returns how many bytes of a link's time so much data takes that the switch copies or
// combines.
func (x *Multimem) Wire(bytes int64) int64 {
	own := x.Switch.Reduce.BW
	if own <= 0 || own >= x.Rate {
		return bytes
	}
	hi, lo := bits.Mul64(uint64(bytes), uint64(x.Rate))
	wire, rest := bits.Div64(hi, lo, uint64(own)) // rates differ by less than 2^32
	if rest > 0 {
		wire++
	}
	return int64(wire)
}

// RouteToHub appends the part of a route, of a request or not, up to a hub.
func (m *Machine) RouteToHub(buf []Hop, from, to, hub NodeID) []Hop {
	start := len(buf)
	buf = m.Route(buf, from, to)
	return buf[:start+m.hubAt(buf[start:], hub)]
}

// RouteFromHub appends the part of a route that lies behind a hub; that of a request stops before
// the port of the memory.
func (m *Machine) RouteFromHub(buf []Hop, from, to, hub NodeID, request bool) []Hop {
	start := len(buf)
	if request {
		buf = m.RouteRequest(buf, from, to)
	} else {
		buf = m.Route(buf, from, to)
	}
	return slices.Delete(buf, start, start+m.hubAt(buf[start:], hub))
}

// hubAt is the number of hops up to a hub.
func (m *Machine) hubAt(hops []Hop, hub NodeID) int {
	for i, h := range hops {
		if m.Link(h.Link).To == hub {
			return i + 1
		}
	}
	panic(fmt.Sprintf("machine: the route does not pass %s", m.NodeName(hub)))
}

// SwitchesReduce reports whether any switch between SIPs reduces, and whether any copies.
func (m *Machine) SwitchesReduce() (reduces, copies bool) {
	for _, l := range m.topology.System().Between() {
		reduces = reduces || len(l.Switch.Reduce.Types) > 0
		copies = copies || l.Switch.Multicast
	}
	return reduces, copies
}
