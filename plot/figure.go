// Package plot lays out figures: curves over sizes or ranks on shared axes, and bars. A figure is
// as wide as a column of a journal (85 mm), with texts of 6 points or more. Curves differ in
// colour (Okabe and Ito's, for colour-blind readers), dashes and markers. It knows no collective.
//
// It may import plot/scene and unit. Start at Figure and Bars.
package plot

import "kernbench/plot/scene"

// XY is a point of a curve, in units of the axes.
type XY struct{ X, Y float64 }

// Role is the role of a curve.
type Role int

// The roles of curves.
const (
	Computed  Role = iota // a line with markers, in a colour of its own
	Bound                 // a limit that no curve can cross: a black line
	Reference             // measured elsewhere: markers without a line
)

// Curve is a line of a panel. Curves of one name look alike in all panels.
type Curve struct {
	Name   string
	Role   Role
	Points []XY // by X; those that the scale cannot show, such as 0 on a log axis, are left out
}

// Better is the direction in which values of a panel are good.
type Better int

// The directions in which values are good.
const (
	Neither Better = iota
	Lower
	Higher
)

// Panel is one frame with its y axis.
type Panel struct {
	Title  string
	Y      Axis
	Better Better // crossovers are marked unless it is Neither
	Curves []Curve
}

// Figure is panels one below the other over one x axis.
type Figure struct {
	Title string
	Notes []string // lines below the title, such as the machine
	X     Axis
	Panel []Panel
	About []scene.Fact
}

// Crossing is a point at which the best curve changes.
type Crossing struct {
	At       XY
	From, To string // the best before, and after
}
