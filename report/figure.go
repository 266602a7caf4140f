package report

import (
	"kernbench/lab/run"
	"kernbench/plot"
	"kernbench/plot/scene"
)

// aboutFigure returns the command and version that made a figure, for the metadata of its file.
func aboutFigure(by run.MadeBy, machine string) []scene.Fact {
	facts := []scene.Fact{{Name: "version", Value: "kernbench " + by.Version}}
	if by.Command != "" {
		facts = append(facts, scene.Fact{Name: "command", Value: by.Command})
	}
	if machine != "" {
		facts = append(facts, scene.Fact{Name: "machine", Value: machine})
	}
	for _, m := range by.Machines {
		facts = append(facts, scene.Fact{Name: "machine fingerprint", Value: m})
	}
	return facts
}

// AboutFigure returns the command and version that made a picture, for the metadata of its file.
func AboutFigure(by run.MadeBy, machine string) []scene.Fact { return aboutFigure(by, machine) }

// quantity is the quantity of a call that a panel shows.
type quantity struct {
	title  string
	better plot.Better
	label  func(float64) string
}

// The quantities of a collective over sizes, with values in ns and GB/s.
var (
	timeOf  = quantity{"time (lower is better)", plot.Lower, plot.Nanoseconds}
	algbwOf = quantity{"algbw: bytes of the call / time (higher is better)", plot.Higher, plot.Gigabytes}
	busbwOf = quantity{"busbw: algbw × bus factor (higher is better)", plot.Higher, plot.Gigabytes}
)

// panel makes a panel of a quantity on a log axis.
func (q quantity) panel(curves []plot.Curve) plot.Panel {
	return plot.Panel{Title: q.title, Better: q.better, Y: plot.Axis{Scale: plot.Log10, Label: q.label}, Curves: curves}
}

// boundName is the name of the curve of the hardware bound, which holds for any algorithm.
const boundName = "bound of the hardware"

// curves collects points by the names of curves, in the order of first appearance.
type curves struct {
	all []plot.Curve
	at  map[string]int
}

func (c *curves) add(name string, role plot.Role, x, y float64) {
	if c.at == nil {
		c.at = map[string]int{}
	}
	i, known := c.at[name]
	if !known {
		i = len(c.all)
		c.at[name] = i
		c.all = append(c.all, plot.Curve{Name: name, Role: role})
	}
	c.all[i].Points = append(c.all[i].Points, plot.XY{X: x, Y: y})
}
