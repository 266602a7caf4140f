// Package hw holds the component models of a machine, one folder each: a typed Spec with
// units and the state that a run needs. Components know their own ports and nothing of
// the machine around them.
//
// It imports unit only. Server is what several engines are.
package hw

import "kernbench/unit"

// Server does one thing at a time, in the order of booking.
type Server struct {
	FreeAt unit.Time
}

// Book takes the server for d, from the earliest moment not before at.
func (s *Server) Book(at, d unit.Time) (start, end unit.Time) {
	start = max(at, s.FreeAt)
	s.FreeAt = start + d
	return start, s.FreeAt
}
