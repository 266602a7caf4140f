package explain

import (
	"fmt"
	"strings"

	"kernbench/machine"
	"kernbench/record/cause"
)

// operation names an operation of a rank.
func (x *explaining) operation(s cause.Site) string {
	o := x.log.Operation(s)
	if o.Line == "" {
		return fmt.Sprintf("rank %d %s", o.Rank, o.Call)
	}
	return fmt.Sprintf("rank %d %s at %s", o.Rank, o.Call, o.Line)
}

// unitNames are the names of the resources of a PE.
var unitNames = map[cause.Kind]string{
	cause.CPU: "CPU", cause.IPCQ: "IPCQ", cause.DMA: "DMA", cause.Math: "MATH", cause.GEMM: "GEMM", cause.TCM: "TCM",
	cause.Word: "words", cause.Engine: "communication engine", cause.Peer: "acknowledgement",
}

// name returns the name of a resource.
func (x *explaining) name(r cause.Resource) string {
	switch k := r.Kind(); k {
	case cause.Link:
		return x.m.LinkName(machine.LinkID(r.Number()))
	case cause.Buffer:
		return "buffer behind " + x.m.LinkName(machine.LinkID(r.Number()))
	case cause.Ring:
		e := x.log.Ring(r)
		return fmt.Sprintf("ring %s of rank %d to rank %d", e.Dir, e.From, e.To)
	case cause.None, cause.Event:
		return ""
	default:
		return x.m.PEName(r.Number()) + " " + unitNames[k]
	}
}

// class returns the common name of similar resources.
func (x *explaining) class(r cause.Resource) string {
	switch k := r.Kind(); k {
	case cause.Link:
		return linkClass(x.m, machine.LinkID(r.Number()))
	case cause.Buffer:
		return "buffers: " + linkClass(x.m, machine.LinkID(r.Number()))
	case cause.Ring:
		return "ring slots"
	case cause.None, cause.Event:
		return ""
	default:
		return unitNames[k]
	}
}

// linkClass returns the common name of links that join nodes of the same kinds as a link.
func linkClass(m *machine.Machine, id machine.LinkID) string {
	l := m.Link(id)
	if l.Port {
		name := m.LinkName(id)
		parts := strings.Split(name, ".")
		return strings.ToUpper(parts[len(parts)-2]) + " " + parts[len(parts)-1]
	}
	_, from := m.Home(l.From)
	_, to := m.Home(l.To)
	if from >= 0 && to >= 0 && from != to {
		return "cube to cube"
	}
	return nodeClass(m.NodeName(l.From), from, to) + " to " + nodeClass(m.NodeName(l.To), to, from)
}

// nodeClass names a node by its kind. A node of a cube whose link leaves it is the cube.
func nodeClass(name string, cube, other int) string {
	if cube >= 0 && other < 0 {
		return "cube"
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	kind := strings.TrimRight(last, "0123456789")
	switch {
	case cube >= 0 && strings.HasPrefix(last, "r") && strings.Contains(last, "c"):
		return "router"
	case kind == "pe":
		return "PE"
	case kind == "sram":
		return "SRAM"
	}
	return kind
}
