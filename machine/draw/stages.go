package draw

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/machine"
)

// The names of the stages that every machine has.
const (
	sipStage  = "sip"
	cubeStage = "cube"
)

// kindOf returns the kind of a node in a drawing.
func (d *Drawing) kindOf(n machine.NodeID) string {
	m := d.machine
	name := m.NodeName(n)
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch sip, cube := m.Home(n); {
	case cube >= 0 && last == "sram":
		return "SRAM"
	case cube >= 0 && strings.HasPrefix(last, "pe"):
		return "PE"
	case cube >= 0:
		return "router"
	case last == "io":
		return "IO chiplet"
	case sip < 0 && strings.HasPrefix(last, "gateway"):
		return "gateway"
	}
	return "switch"
}

// levelOf returns the level of a link between SIPs: the first of which both ends are in one group.
func (d *Drawing) levelOf(l machine.Link) int {
	for i := range d.levelKind {
		if g := d.machine.Group(i, l.From); g >= 0 && g == d.machine.Group(i, l.To) {
			return i
		}
	}
	return len(d.levelKind) - 1
}

// levels describes the first network of each level of SIPs, the outermost first.
func (d *Drawing) levels() {
	m := d.machine
	all := m.Levels()
	for i, level := range all {
		name := level.Name
		switch {
		case name == "" && len(all) == 1:
			name = "system"
		case name == "":
			name = fmt.Sprintf("level%d", i)
		}
		d.levelKind = append(d.levelKind, name)
	}
	links := make([][]machine.Link, len(all))
	for i := range m.NumLinks() {
		l := m.Link(machine.LinkID(i))
		if l.Port || d.where(l.From) == 'c' || d.where(l.To) == 'c' {
			continue
		}
		if a, _ := m.Home(l.From); a >= 0 {
			if b, _ := m.Home(l.To); a == b {
				continue
			}
		}
		at := d.levelOf(l)
		links[at] = append(links[at], l)
	}
	for i := len(all) - 1; i >= 0; i-- {
		d.level(i, &all[i], links[i])
	}
}

// level describes a level: what hangs together with the first of its links.
func (d *Drawing) level(i int, level *machine.Level, links []machine.Link) {
	m := d.machine
	s := Stage{Name: d.levelKind[i], Network: level.Network, Look: level.Look, Dims: level.Dims, Member: "SIP",
		Nodes: []Node{}, Joins: []Joint{}}
	switch {
	case level.Below > 1 && level.Planes:
		s.Member = fmt.Sprintf("SIP of each %d", level.Below)
	case level.Below > 1:
		s.Member = fmt.Sprintf("group of %d SIPs", level.Below)
	}
	s.Count = m.SIPs() / (level.Below * level.Members)
	if level.Planes {
		s.Count *= level.Below
	}
	next := map[machine.NodeID][]machine.NodeID{}
	for _, l := range links {
		next[l.From] = append(next[l.From], l.To)
	}
	member := func(n machine.NodeID) bool {
		kind := d.kindOf(n)
		return kind == "IO chiplet" || kind == "gateway" && i > 0 && m.Group(i-1, n) >= 0
	}
	together := map[machine.NodeID]int{}
	var order []machine.NodeID
	reach := func(n machine.NodeID) {
		if _, known := together[n]; !known {
			together[n] = 0
			order = append(order, n)
		}
	}
	if len(links) > 0 {
		reach(links[0].From)
	}
	for k := 0; k < len(order); k++ {
		if n := order[k]; member(n) || d.kindOf(n) != "gateway" { // all planes of a group have one exit
			for _, to := range next[n] {
				reach(to)
			}
		}
	}
	var inOrder []machine.NodeID
	for n := range together {
		inOrder = append(inOrder, n)
	}
	slices.Sort(inOrder)
	for _, first := range []bool{true, false} {
		for _, n := range inOrder {
			if member(n) != first {
				continue
			}
			together[n] = len(s.Nodes)
			node := Node{Name: strings.TrimSuffix(m.NodeName(n), ".io"), Kind: d.kindOf(n), Member: first, At: -1}
			if first {
				node.Kind = "SIP"
				if level.Below > 1 {
					node.Kind = "group"
				}
			}
			s.Nodes = append(s.Nodes, node)
		}
	}
	var joints joints
	for _, l := range links {
		from, starts := together[l.From]
		to, ends := together[l.To]
		if starts && ends {
			joints.add(from, to, d.kind(l), l)
		}
	}
	joints.into(&s, d.Kinds)
	if slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Kind == "switch" }) {
		s.Switches = switchesOf(&d.topology.System().Between()[i].Switch)
	}
	d.Stages = append(d.Stages, s)
}

// sip describes the first SIP: its cubes, and what else joins them.
func (d *Drawing) sip() {
	m, mesh := d.machine, d.topology.SIP().CubeMesh
	s := Stage{Name: sipStage, Network: mesh.Network, Look: m.LookOfCubes(), Dims: []int{mesh.W, mesh.H},
		Member: "cube", Count: m.SIPs(), Joins: []Joint{}}
	for cube := range m.CubesPerSIP() {
		s.Nodes = append(s.Nodes, Node{Name: fmt.Sprintf("cube%d", cube), Kind: "cube", Member: true, At: -1})
	}
	adjacent := map[machine.NodeID]int{}
	place := func(n machine.NodeID) int {
		if _, cube := m.Home(n); cube >= 0 {
			return cube
		}
		at, ok := adjacent[n]
		if !ok {
			at = len(s.Nodes)
			adjacent[n] = at
			name := m.NodeName(n)
			s.Nodes = append(s.Nodes, Node{Name: name[strings.LastIndexByte(name, '.')+1:], Kind: d.kindOf(n), At: -1})
		}
		return at
	}
	var joints joints
	for i := range m.NumLinks() {
		l := m.Link(machine.LinkID(i))
		if l.Port {
			continue
		}
		fromSIP, fromCube := m.Home(l.From)
		toSIP, toCube := m.Home(l.To)
		if fromSIP == 0 && toSIP == 0 && (fromCube < 0 || fromCube != toCube) {
			joints.add(place(l.From), place(l.To), d.kind(l), l)
		}
	}
	joints.into(&s, d.Kinds)
	d.Stages = append(d.Stages, s)
}

// cube describes the first cube: its routers, and what is at each.
func (d *Drawing) cube() {
	m, noc := d.machine, d.topology.Cube().NoC
	s := Stage{Name: cubeStage, Network: "mesh", Look: machine.Look{Layout: machine.Grid}, Dims: []int{noc.W, noc.H},
		Member: "router", Count: m.NumCubes(), Joins: []Joint{}}
	ids := map[machine.NodeID]int{}
	var joints joints
	var links, out []machine.Link
	for i := range m.NumLinks() {
		l := m.Link(machine.LinkID(i))
		if _, from := m.Home(l.From); l.Port || from != 0 {
			continue
		}
		if _, to := m.Home(l.To); to == 0 {
			links = append(links, l)
		} else {
			out = append(out, l)
		}
	}
	for _, routers := range []bool{true, false} {
		var nodes []machine.NodeID
		for _, l := range links {
			if _, known := ids[l.From]; !known && (d.kindOf(l.From) == "router") == routers {
				ids[l.From] = 0
				nodes = append(nodes, l.From)
			}
		}
		slices.Sort(nodes)
		for _, n := range nodes {
			name := m.NodeName(n)
			ids[n] = len(s.Nodes)
			s.Nodes = append(s.Nodes, Node{Name: name[strings.LastIndexByte(name, '.')+1:], Kind: d.kindOf(n), Member: routers, At: -1})
		}
	}
	for _, l := range links {
		from, to := ids[l.From], ids[l.To]
		joints.add(from, to, d.kind(l), l)
		if !s.Nodes[from].Member {
			s.Nodes[from].At = to
		}
	}
	for _, l := range out {
		s.Nodes[ids[l.From]].Out++
	}
	joints.into(&s, d.Kinds)
	d.Stages = append(d.Stages, s)
}
