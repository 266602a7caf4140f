package noc

// This file finds how messages of reserved routes reach each link: an edge is the link before it on
// a route, or the source.

// How messages reach a link, while routes are reserved.
const (
	bySeveral      uint8 = iota // by several edges
	byOneEdge                   // by one edge
	contentionFree              // plus the kind of the link: by one edge, and no message ever waits
)

// severalEdges stands for the origin of messages that come from several links or sources. See from.
const severalEdges uint32 = 1<<32 - 1

// note notes that a route reaches a link from a link or source.
func (l *passed) note(from uint32) {
	switch l.from {
	case 0:
		l.from = from
	case from:
	default:
		l.from = severalEdges
	}
}

// findReached finds out how messages reach each link. It returns the number of merge points: links
// that several edges lead to.
func (n *Fabric) findReached(p *plan) (mergePoints int) {
	n.reached = make([]uint8, len(n.links))
	for li := range p.links {
		if p.links[li].from == severalEdges {
			mergePoints++
		} else {
			n.reached[li] = byOneEdge
		}
	}
	return mergePoints
}

// approaches counts a message that an event brings to a link.
func (n *Fabric) approaches(li uint32) {
	if n.reached[li] == byOneEdge {
		n.links[li].flying++
	}
}

// started ends the count of a message that starts on a link, to which an event brought it.
func (n *Fabric) started(li uint32) {
	if n.reached[li] == byOneEdge {
		n.links[li].flying--
	}
}
