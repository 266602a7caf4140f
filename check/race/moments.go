package race

// This file lets a wait share the moment of the operations before it. So the accesses after several
// waits can have one joint event: see joint.go.
// Invariant: a moment ends when other agents get it. So an agent that knows a moment of another one
// knows what that one had begun and learned up to its end.
// A word in full begins a moment with each wait. So does a pass that hides no hazards: facts hold
// times of earlier passes, in which the same words may have been short.

// tickAtWait begins a new moment at the first wait for a word with the only update e, whose put is
// put. It begins none if the pass may hide hazards: e is joint, or put does without its signal.
func (a *agent) tickAtWait(e, put *event) {
	if !e.joint && put == nil {
		a.tick()
	}
}
