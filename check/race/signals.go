package race

// This file frees the signal of a put when the agent that it is for has waited for it. Else the put
// would keep it, for as long as its bytes are not written again.
// Invariant: the put is known to be complete to all that know of the wait, as with its signal. What
// other agents may learn of the signal later, such as by a quiet of its sender, they learn of the
// put as well. Should one know less, it is reported as a hazard, and another pass, which keeps all
// signals, decides.

// signalled returns the put whose signal e is, or nil if the put has to keep the signal. The put is
// the effect before the signal on its link.
func (d *Detector) signalled(e *event) *event {
	if !d.sharing(&d.agents[e.agent]) {
		return nil
	}
	before := d.placeIn(e.id).lprev
	if before == 0 {
		return nil
	}
	if put := d.event(before); put.carrier == e.id {
		return put
	}
	return nil
}

// freeSignal lets a put do without its signal.
func (d *Detector) freeSignal(put, signal *event) {
	put.carrier = 0
	d.release(signal)
}
