package race

// This file leaves out what only the hints of hazards need: the last releases and waits of agents.
// Of many agents they are in no cache when an agent notifies or waits.
// Invariant: a pass without them reports no hazards. It requests another pass, which has them.

// hinting reports whether the pass keeps what hints need. If not, it notes that something is left
// out.
func (d *Detector) hinting() bool {
	if d.plain || d.facts.exact || len(d.agents) <= fewAgents {
		return true
	}
	d.hintless = true
	return false
}
