package race

import "slices"

// The source line of an operation costs a walk of the stack, and most runs have no hazard. So a
// first pass may leave most lines out.
// Invariant of this file: lines name operations and decide nothing. If a report should name an
// operation without its line, it asks for another pass, which has all lines.

// lacksLines reports whether the report should name operations whose lines were left out.
func (d *Detector) lacksLines() bool {
	unnamed := func(x Depend) bool { return x.Line == "" }
	return d.log.WithoutLines() &&
		(d.hazards.total > 0 || slices.ContainsFunc(d.depends.list, unnamed) || slices.ContainsFunc(d.ordered.list, unnamed))
}
