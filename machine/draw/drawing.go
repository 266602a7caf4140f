// Package draw describes a machine for a drawing: each network once, with its nodes, joints,
// types of links and memories. It draws the machine as one picture that nests, and each network
// with letters. How a network is drawn stands in its file in machine (Look). Start at Of.
//
// It may import machine, conf, plot/scene and unit.
package draw

import (
	"slices"

	"kernbench/conf"
	"kernbench/machine"
	"kernbench/unit"
)

// Drawing is a machine for a drawing: of equal parts only the first, with their number.
type Drawing struct {
	Name    string `json:"name"` // of the preset or file; "built-in"
	Machine string `json:"machine"`

	PEs       int                `json:"pes"`
	Links     int                `json:"links"` // one for each direction, without the ports of memories
	Memories  []Memory           `json:"memories"`
	Bisection *machine.Bisection `json:"bisection"` // see Bisect; null: there is one PE, or there are too many links
	Kinds     []LinkKind         `json:"link_kinds"`
	Stages    []Stage            `json:"stages"` // outermost first: levels of SIPs, a SIP, a cube
	topology  *conf.Topology
	specs     map[kindKey]int // in Kinds
	machine   *machine.Machine
	levelKind []string // names of levels, innermost first
	use       *use     // of links; nil: a drawing without a run
}

// Memory is one kind of memory.
type Memory struct {
	Name  string     `json:"name"`
	Count int        `json:"count"`
	Each  unit.Bytes `json:"bytes_each"`
	Rate  unit.Rate  `json:"bytes_per_second_each"` // of its port
	Delay unit.Time  `json:"access_ps"`
}

// LinkKind holds what links of one kind have in common.
type LinkKind struct {
	Stage string    `json:"stage"` // where they are, by its name
	Name  string    `json:"name"`  // what they join, such as "cube <-> cube"
	Rate  unit.Rate `json:"bytes_per_second"`
	Line  unit.Rate `json:"line_bytes_per_second"` // 0: not known
	Delay unit.Time `json:"delay_ps"`              // of the head of a message
	Links int       `json:"links"`                 // in the machine, one for each direction

	Parallel int `json:"links_side_by_side"` // between the same two
}

// Share returns how much of the line rate a program gets; 0: not known.
func (k *LinkKind) Share() float64 {
	if k.Line <= 0 {
		return 0
	}
	return float64(k.Rate) / float64(k.Line)
}

// Stage is one network of the machine, the first of those that are alike.
type Stage struct {
	Name    string  `json:"name"`
	Network string  `json:"network"` // by the name that topology.yaml has for it
	Dims    []int   `json:"dims"`    // members along each dimension; one number where there are none
	Member  string  `json:"member"`  // what it joins, such as "cube"
	Count   int     `json:"count"`   // of such networks in the machine
	Alike   int     `json:"alike"`   // Count by its former key, for one version
	Nodes   []Node  `json:"nodes"`   // members first, in their order
	Joins   []Joint `json:"joins"`

	Switches *Switches `json:"switches,omitempty"` // what its switches do besides passing messages on; nil: nothing

	Look machine.Look `json:"-"`
}

// Node is a place in a stage.
type Node struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"` // SIP, group, cube, IO chiplet, router, PE, SRAM, switch, gateway
	Member bool   `json:"member"`
	At     int    `json:"at"`            // PE, SRAM: the router that it is at; -1
	Out    int    `json:"out,omitempty"` // router: links out of the cube
}

// Joint holds what joins two nodes directly.
type Joint struct {
	From  int  `json:"from"` // in Nodes
	To    int  `json:"to"`
	Kind  int  `json:"kind"`  // in link_kinds, of From to To
	Links int  `json:"links"` // side by side
	Both  bool `json:"both"`  // as many lead back

	ends [][2]machine.NodeID // of its links, each pair once
}

// Fingerprint returns the hash of the machine's description.
func (d *Drawing) Fingerprint() string { return d.topology.Fingerprint() }

// Of describes a machine: a preset, a file or, with no name, the built-in one.
func Of(name string, sets []string) (*Drawing, error) {
	topoSets, err := machine.TopologySets(sets)
	if err != nil {
		return nil, err
	}
	files, err := machine.ReadSource(name)
	if err != nil {
		return nil, err
	}
	t, err := conf.LoadTopology(files, topoSets)
	if err != nil {
		return nil, err
	}
	m, err := machine.Build(t)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = "built-in"
	}
	d := &Drawing{
		Name: name, Machine: m.Describe(), PEs: m.NumPEs(),
		Kinds: []LinkKind{}, Stages: []Stage{}, topology: t, machine: m, specs: map[kindKey]int{},
	}
	d.Memories = []Memory{
		{"HBM", m.NumPEs(), t.Cube().HBM.Capacity, t.Cube().HBMBW, t.Cube().HBM.Access},
		{"TCM", m.NumPEs(), t.PE().TCM.Capacity, t.PE().TCM.BW, t.PE().TCM.Access},
		{"SRAM", m.NumCubes(), t.Cube().SRAM.Capacity, t.Cube().SRAMBW, t.Cube().SRAM.Access},
	}
	d.levels()
	d.sip()
	d.cube()
	for i := range d.Stages {
		d.Stages[i].Alike = d.Stages[i].Count
	}
	d.kinds()
	return d, nil
}

// Bisect adds the bisection of the machine, which find returns.
func (d *Drawing) Bisect(find func(*machine.Machine) (*machine.Bisection, error)) (err error) {
	d.Bisection, err = find(d.machine)
	return err
}

// kindKey holds what makes links one kind in a drawing.
type kindKey struct {
	spec     *machine.LinkSpec
	from, to byte
}

// where returns whether a node is in a cube, in a SIP outside its cubes, or between SIPs.
func (d *Drawing) where(n machine.NodeID) byte {
	switch sip, cube := d.machine.Home(n); {
	case cube >= 0:
		return 'c'
	case sip >= 0:
		return 's'
	}
	return 'o'
}

// kinds counts the links of each kind, and merges kinds that differ in direction only.
func (d *Drawing) kinds() {
	m := d.machine
	for i := range m.NumLinks() {
		l := m.Link(machine.LinkID(i))
		if l.Port {
			continue
		}
		d.Links++
		d.Kinds[d.kind(l)].Links++
	}
}

// kind returns the kind of a link, which may be a new one.
func (d *Drawing) kind(l machine.Link) int {
	key := kindKey{l.LinkSpec, d.where(l.From), d.where(l.To)}
	if k, ok := d.specs[key]; ok {
		return k
	}
	stage, line := d.stageOf(l)
	end := func(n machine.NodeID) string {
		switch kind := d.kindOf(n); {
		case kind == "router" && stage != cubeStage:
			return "cube"
		case kind == "IO chiplet" && stage != sipStage:
			return "SIP"
		default:
			return kind
		}
	}
	from, to := end(l.From), end(l.To)
	k := LinkKind{Stage: stage, Name: from + " -> " + to, Rate: l.Rate, Line: line, Delay: l.Router + l.Wire}
	if key.from == key.to { // they are all alike in both directions
		k.Name = from + " <-> " + to
	}
	at := slices.IndexFunc(d.Kinds, func(other LinkKind) bool {
		names := []string{k.Name, to + " -> " + from, to + " <-> " + from, from + " <-> " + to}
		return other.Stage == k.Stage && other.Rate == k.Rate && other.Delay == k.Delay && slices.Contains(names, other.Name)
	})
	switch {
	case at < 0:
		at = len(d.Kinds)
		d.Kinds = append(d.Kinds, k)
	case d.Kinds[at].Name == to+" -> "+from:
		d.Kinds[at].Name = to + " <-> " + from
	}
	d.specs[key] = at
	return at
}

// stageOf returns where a link is, with the rate of its line where that is known.
func (d *Drawing) stageOf(l machine.Link) (string, unit.Rate) {
	fromSIP, fromCube := d.machine.Home(l.From)
	toSIP, toCube := d.machine.Home(l.To)
	switch {
	case fromCube >= 0 && fromCube == toCube:
		return cubeStage, 0
	case fromSIP >= 0 && fromSIP == toSIP:
		return sipStage, 0
	}
	i := d.levelOf(l)
	return d.levelKind[i], d.machine.Levels()[i].Line
}
