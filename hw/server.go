// Package hw holds the component models of a machine, one folder each: a typed Spec with
// units, and the state that a run needs. Components know their own ports, not the machine
// around them. Unit is the interface between an engine and the PE that has it.
//
// It may import tl, record/trace and unit.
package hw

import (
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// Unit is an engine of a PE that computes, one instruction at a time. Its state is a Server.
type Unit interface {
	// Takes returns how long the unit works on an instruction. ok is false if the instruction is
	// not for this unit.
	Takes(in *tl.Instr) (d unit.Time, ok bool)

	// Kind is the name of its work in the trace.
	Kind() trace.Kind
}

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
