package machine

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"kernbench/conf"
	"kernbench/unit"
)

// Multimem joins the PEs of a group. A store by one PE is copied to all. A load by one PE returns
// the combined data of all. It is a switch that each PE has a link to, or a tree of switches.
// Each member sends to the switch that it has a link to. In a tree each switch combines the data of
// members and of switches below it, and sends one message up. It copies data that go down to all of
// them.
type Multimem struct {
	Switches []Switch // the switches; the first is the root, and each other one comes after the switch above it
	At       []int32  // by member: its switch
	pes      []int32
}

// Switch is a switch of such a tree.
type Switch struct {
	Node     NodeID
	Spec     conf.Switch
	Above    int32   // the switch above; -1 at the root
	Below    []int32 // the switches below
	Members  []int32 // the members with a link to it
	Up, Down Hop     // the links to and from the switch above
	name     string
}

// Multimem returns the switches that join some PEs, at least two. The error states what is missing.
func (m *Machine) Multimem(pes []int32) (*Multimem, error) {
	if len(pes) < 2 {
		return nil, fmt.Errorf("a group of %s: multimem needs at least 2", unit.Count(len(pes), "PE"))
	}
	x := &Multimem{pes: pes}
	one, err := m.oneSwitch(pes)
	if err != nil {
		if !m.tree(x) {
			return nil, err
		}
		return x, nil
	}
	x.Switches, x.At = []Switch{one}, make([]int32, len(pes))
	for member := range pes {
		x.Switches[0].Members = append(x.Switches[0].Members, int32(member))
	}
	return x, nil
}

// oneSwitch returns the only switch between some PEs.
func (m *Machine) oneSwitch(pes []int32) (found Switch, err error) {
	var hops []Hop
	for i, pe := range pes[1:] {
		hops = m.Route(hops[:0], m.HBM(int(pes[0])), m.HBM(int(pe)))
		hub, only := m.onlyHub(hops)
		if !only {
			return found, fmt.Errorf("no single switch joins %s and %s", m.PEName(int(pes[0])), m.PEName(int(pe)))
		}
		one := m.switchAt(hub)
		if i > 0 && found.Node != one.Node {
			return found, fmt.Errorf("the %s and the %s join different PEs of the group", found.name, one.name)
		}
		found = one
	}
	return found, nil
}

// switchAt returns the switch to which a link leads.
func (m *Machine) switchAt(to LinkID) Switch {
	l := m.Link(to)
	s := m.outside.localSite(m.place(l.To).index + m.sips)
	return Switch{Node: l.To, Above: -1, Spec: m.topology.System().Between()[s.level].Switch,
		name: switchName(m.NodeName(l.To))}
}

// isSwitch reports whether a node is a switch between SIPs that is not a gateway.
func (m *Machine) isSwitch(n NodeID) bool {
	at := m.place(n)
	if at.kind != kindSystemHub {
		return false
	}
	s := m.outside.localSite(at.index + m.sips)
	level := &m.outside.at[s.level]
	return !level.gateway || s.local != level.n
}

// onlyHub returns the link that leads to the only switch on a path. It returns false if there is no
// switch, several, or a gateway.
func (m *Machine) onlyHub(hops []Hop) (to LinkID, ok bool) {
	for _, h := range hops {
		hub := m.Link(h.Link).To
		if m.place(hub).kind != kindSystemHub {
			continue
		}
		if ok || !m.isSwitch(hub) {
			return 0, false
		}
		to, ok = h.Link, true
	}
	return to, ok
}

// switchName is "switch leaf2", or "switch" for the only one of a machine.
func switchName(node string) string {
	if node == "switch" {
		return node
	}
	return "switch " + node
}

// tree joins the members by a tree of switches, and reports whether there is one. The root
// minimises the distance to the farthest member's switch. Groups with different first members use
// different roots among equals.
func (m *Machine) tree(x *Multimem) bool {
	if m.outside == nil {
		return false
	}
	firsts, ok := m.firstSwitches(x.pes)
	if !ok {
		return false
	}
	w := m.switchWeb()
	var distinct []NodeID
	for _, link := range firsts {
		if hub := m.Link(link).To; !slices.Contains(distinct, hub) {
			distinct = append(distinct, hub)
		}
	}
	farthest := map[NodeID]int{} // by candidate root: steps to the farthest member's switch
	for i, hub := range distinct {
		reached := w.from(hub)
		if i == 0 {
			for n, d := range reached {
				farthest[n] = d.steps
			}
			continue
		}
		for n := range farthest {
			if d, ok := reached[n]; ok {
				farthest[n] = max(farthest[n], d.steps)
			} else {
				delete(farthest, n)
			}
		}
	}
	var roots []NodeID
	for n, d := range farthest {
		if len(roots) > 0 && d > farthest[roots[0]] {
			continue
		}
		if len(roots) > 0 && d < farthest[roots[0]] {
			roots = roots[:0]
		}
		roots = append(roots, n)
	}
	if len(roots) == 0 {
		return false
	}
	slices.Sort(roots)
	m.grow(x, w, roots[int(x.pes[0])%len(roots)], firsts)
	return true
}

// firstSwitches returns the link to the switch of each member. The routes to and from the next
// member must pass the same switch.
func (m *Machine) firstSwitches(pes []int32) (links []LinkID, ok bool) {
	var hops []Hop
	for i, pe := range pes {
		at, next := m.HBM(int(pe)), m.HBM(int(pes[(i+1)%len(pes)]))
		hops = m.Route(hops[:0], at, next)
		to, found := m.switchLink(hops, func(l Link) NodeID { return l.To })
		hops = m.Route(hops[:0], next, at)
		slices.Reverse(hops)
		from, back := m.switchLink(hops, func(l Link) NodeID { return l.From })
		if !found || !back || m.Link(to).To != m.Link(from).From {
			return nil, false
		}
		links = append(links, to)
	}
	return links, true
}

// switchLink returns the first link between the SIP at which hops begin and a switch, if no other
// SIP and no gateway lies between them. far is the end of a link that is farther from that SIP.
func (m *Machine) switchLink(hops []Hop, far func(Link) NodeID) (link LinkID, ok bool) {
	home := -1
	for _, h := range hops {
		to := far(m.Link(h.Link))
		switch sip, _ := m.Home(to); {
		case home < 0 && sip >= 0:
			home = sip
		case sip < 0:
			return h.Link, m.isSwitch(to)
		case sip != home:
			return 0, false
		}
	}
	return 0, false
}

// web is the links between switches.
type web struct {
	out map[NodeID][]LinkID // by where they begin, in ascending order
	to  map[[2]NodeID]LinkID
	m   *Machine
}

// switchWeb lists the links between switches.
func (m *Machine) switchWeb() *web {
	w := &web{map[NodeID][]LinkID{}, map[[2]NodeID]LinkID{}, m}
	for id := m.outerLink(0); id < m.links; id++ {
		if l := m.Link(LinkID(id)); m.isSwitch(l.From) && m.isSwitch(l.To) {
			if _, known := w.to[[2]NodeID{l.From, l.To}]; !known {
				w.to[[2]NodeID{l.From, l.To}] = LinkID(id)
				w.out[l.From] = append(w.out[l.From], LinkID(id))
			}
		}
	}
	return w
}

// reach is the distance of a switch, and the switch before it on the route.
type reach struct {
	steps  int
	before NodeID
}

// from returns the switches that can be reached from one, and back.
func (w *web) from(hub NodeID) map[NodeID]reach {
	all := map[NodeID]reach{hub: {}}
	for queue := []NodeID{hub}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, id := range w.out[at] {
			to := w.m.Link(id).To
			_, seen := all[to]
			if _, back := w.to[[2]NodeID{to, at}]; !seen && back {
				all[to] = reach{all[at].steps + 1, at}
				queue = append(queue, to)
			}
		}
	}
	return all
}

// grow makes the tree with a root, over the shortest routes to the switches of all members.
func (m *Machine) grow(x *Multimem, w *web, root NodeID, firsts []LinkID) {
	routes := w.from(root)
	number := map[NodeID]int32{}
	var add func(hub NodeID) int32
	add = func(hub NodeID) int32 {
		if n, ok := number[hub]; ok {
			return n
		}
		j := Switch{Above: -1}
		if hub != root {
			above := routes[hub].before
			j.Above = add(above)
			down := w.to[[2]NodeID{above, hub}]
			j.Up.Link, j.Down.Link = w.to[[2]NodeID{hub, above}], down
		}
		n := int32(len(x.Switches))
		number[hub] = n
		s := m.outside.localSite(m.place(hub).index + m.sips)
		j.Node, j.Spec, j.name = hub, m.topology.System().Between()[s.level].Switch, switchName(m.NodeName(hub))
		x.Switches = append(x.Switches, j)
		if j.Above >= 0 {
			x.Switches[j.Above].Below = append(x.Switches[j.Above].Below, n)
		}
		return n
	}
	for member, link := range firsts {
		n := add(m.Link(link).To)
		x.At = append(x.At, n)
		j := &x.Switches[n]
		j.Members = append(j.Members, int32(member))
	}
}

// CheckMulticast returns an error that names what a store to all members lacks, or nil.
func (x *Multimem) CheckMulticast() error {
	for i := range x.Switches {
		if j := &x.Switches[i]; !j.Spec.Multicast {
			return fmt.Errorf("the %s does not copy (switch.multicast)", j.name)
		}
	}
	return nil
}

// CheckReduce returns an error that names what a load that combines elements of a type lacks, or
// nil. If typ is "", each switch must reduce some type.
func (x *Multimem) CheckReduce(typ string) error {
	for i := range x.Switches {
		j := &x.Switches[i]
		switch types := j.Spec.Reduce.Types; {
		case len(types) == 0:
			return fmt.Errorf("the %s does not reduce (switch.reduce.types)", j.name)
		case typ != "" && !slices.Contains(types, typ):
			return fmt.Errorf("the %s reduces %s only (switch.reduce.types)", j.name, strings.Join(types, ", "))
		}
	}
	return nil
}

// NoSwitch is the reason why no switch joins some PEs, or why it does not reduce and copy.
type NoSwitch struct {
	Elsewhere bool // another switch of the machine reduces, and one copies
	cause     error
}

func (e *NoSwitch) Error() string {
	return fmt.Sprintf("it needs a switch that reduces and copies: %v", e.cause)
}

// SwitchPresets lists the presets that have switches which reduce and copy.
func SwitchPresets() (names []string) {
	for _, p := range Presets() {
		files, err := ReadSource(p.Name)
		if err != nil {
			continue
		}
		if t, err := conf.LoadTopology(files, nil); err == nil {
			if m, err := Build(t); err == nil {
				if reduces, copies := m.SwitchesReduce(); reduces && copies {
					names = append(names, p.Name)
				}
			}
		}
	}
	return names
}

// CanMultimem returns a NoSwitch if no switch joins some PEs, or if it does not combine loads and
// copy stores. Else it returns nil.
func (m *Machine) CanMultimem(pes []int32) error {
	x, err := m.Multimem(pes)
	if err == nil {
		err = x.CheckMulticast()
	}
	if err == nil {
		err = x.CheckReduce("")
	}
	if err != nil {
		reduces, copies := m.SwitchesReduce()
		return &NoSwitch{reduces && copies, err}
	}
	return nil
}

// WireBytes scales bytes that the switch copies or combines: at rate slowest they then take as long
// as the switch needs at its own rate. On a path of AnyRate they take no time.
func (j *Switch) WireBytes(bytes int64, slowest unit.Rate) int64 {
	own := j.Spec.Reduce.BW
	if own <= 0 || own >= slowest || slowest == AnyRate {
		return bytes
	}
	hi, lo := bits.Mul64(uint64(bytes), uint64(slowest))
	wire, rest := bits.Div64(hi, lo, uint64(own)) // rates differ by less than 2^32
	if rest > 0 {
		wire++
	}
	return int64(wire)
}

// RouteUp appends the route from a member's PE or memory to its switch.
func (m *Machine) RouteUp(buf []Hop, x *Multimem, member int, from NodeID) []Hop {
	start := len(buf)
	buf = m.Route(buf, from, m.PE(x.next(member)))
	return buf[:start+m.hubAt(buf[start:], x.Switches[x.At[member]].Node)]
}

// RouteDown appends the route from a member's switch to its PE or memory; that of a request stops
// before the port of the memory.
func (m *Machine) RouteDown(buf []Hop, x *Multimem, member int, to NodeID, request bool) []Hop {
	start := len(buf)
	from := m.PE(x.next(member))
	if request {
		buf = m.RouteRequest(buf, from, to)
	} else {
		buf = m.Route(buf, from, to)
	}
	hub, last := x.Switches[x.At[member]].Node, 0
	for i, h := range buf[start:] {
		if m.Link(h.Link).To == hub {
			last = i + 1
		}
	}
	return slices.Delete(buf, start, start+last)
}

// next returns the PE of the member after one.
func (x *Multimem) next(member int) int { return int(x.pes[(member+1)%len(x.pes)]) }

// hubAt returns the number of hops up to a hub.
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
	for level := range m.topology.System().Between() {
		r, c := m.LevelReduces(level)
		reduces, copies = reduces || r, copies || c
	}
	return reduces, copies
}

// LevelShare returns the rate of a link of a level of SIPs, at most that at which a SIP accepts
// data. It also returns the rate of data that its switches combine or copy there.
func (m *Machine) LevelShare(level int) (link, combined unit.Rate) {
	c := &m.topology.System().Between()[level]
	link = min(c.Link.BW, m.topology.SIP().IO.BW)
	if own := c.Switch.Reduce.BW; own > 0 && own < link {
		return link, own
	}
	return link, link
}

// LevelReduces reports whether the switches of a level of SIPs reduce, and whether they copy.
func (m *Machine) LevelReduces(level int) (reduces, copies bool) {
	s := &m.topology.System().Between()[level].Switch
	return len(s.Reduce.Types) > 0, s.Multicast
}
