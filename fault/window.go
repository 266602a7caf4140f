package fault

import "fmt"

// OutOfBounds is an access outside the part of a window that it names.
type OutOfBounds struct {
	Place
	Window, Buffer string
	Unit           string // what From, To and Size count: element, word
	From, To       int64  // the access: From up to To, without To
	Size           int64  // the part has 0 up to Size, without Size
}

func (e *OutOfBounds) Error() string {
	what := fmt.Sprintf("%ss %d to %d", e.Unit, e.From, e.To-1)
	if e.To == e.From+1 {
		what = fmt.Sprintf("%s %d", e.Unit, e.From)
	}
	return fmt.Sprintf("%v: out of bounds: %s of %s.%s, which has 0 to %d", e.Place, what, e.Window, e.Buffer, e.Size-1)
}

// NotMember is an operation on a window or team by a PE that is not a member. It is also an
// operation that names a rank which the team does not have.
type NotMember struct {
	Place
	Team   string
	Size   int
	Peer   int  // the rank that the operation names
	ByRank bool // Peer is wrong; otherwise the PE is not a member
}

func (e *NotMember) Error() string {
	if e.ByRank {
		return fmt.Sprintf("%v: no peer %d: team %s has ranks 0 to %d", e.Place, e.Peer, e.Team, e.Size-1)
	}
	return fmt.Sprintf("%v: this PE is not a member of team %s, which has %d members: only members can use its windows", e.Place, e.Team, e.Size)
}

// Released is an access to a window after it was freed.
type Released struct {
	Place
	Window string
}

func (e *Released) Error() string {
	return fmt.Sprintf("%v: window %s was freed before", e.Place, e.Window)
}

// Unsupported is an operation that the machine does not have.
type Unsupported struct {
	Place
	What string // the capability, by its key in topology.yaml
}

func (e *Unsupported) Error() string {
	return fmt.Sprintf("%v: the machine does not have %s (topology.yaml): use a kernel that does not need it", e.Place, e.What)
}
