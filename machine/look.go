package machine

// Look describes the drawing of a network.
type Look struct {
	Layout Layout
	Wraps  bool   // links of a grid lead round to its other side
	Title  string // with %s for its members; "": the name of the network, and how many of what
}

// LookOfCubes returns how the network that joins the cubes of a SIP is drawn.
func (m *Machine) LookOfCubes() Look { return m.look }

// Layout holds the positions of the members of a network in a drawing, and what else joins them.
type Layout uint8

// The layouts of networks.
const (
	Around    Layout = iota // members in a circle round the switches
	EachOther               // members in a circle, fully connected
	Line                    // members in a circle, each joined to the next; in text a line
	Grid                    // members in rows and columns, switches above
	Tiers                   // members below, each tier of switches above the one before
)
