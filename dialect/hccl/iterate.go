package hccl

import "fmt"

// Side selects the ranks that Iterate returns.
type Side uint8

// The sides.
const (
	Sources      Side = iota // Iterate<true>: whose blocks have come, after waiting for them
	Destinations             // Iterate<false>: to whom the next blocks go
)

// Iterate goes through the steps of an AlltoAllV that runs in steps. It puts the ranks of the next
// steps into slices and returns how many there are, as many as one Commit releases. When it has
// returned all steps of all turns, to either side, it returns 0. In step k this rank sends to rank
// me+k and receives from rank me-k, of the world size; Sources waits until that has been received.
func (h *Hccl) Iterate(side Side, id Handle, slices []int) int {
	call := fmt.Sprintf("Iterate(handle %d, %d slices)", id, len(slices))
	t, ok := h.find(call, id, "0")
	if !ok {
		return 0
	}
	size := 0
	if t.cc != nil {
		size = t.cc.StepSize()
	}
	switch {
	case t.op != OpAlltoAllV || size == 0:
		h.refuse(BadIterate, call, fmt.Sprintf("the task is %s, with step size %d", t.call, size),
			"it is for AlltoAllV with level1:pairwise and SetStepSize", "0")
		return 0
	case side > Destinations:
		h.refuse(BadIterate, call, fmt.Sprintf("Side(%d)", side), "one of Sources, Destinations", "0")
		return 0
	case len(slices) < size:
		h.refuse(BadIterate, call, fmt.Sprintf("%d ranks come at a time", size), "pass slices of at least this length", "0")
		return 0
	}
	unit := h.iterated[id]
	if unit == t.units() {
		return 0
	}
	if side == Sources && unit >= h.commits[id] {
		h.refuse(WaitBeforeCommit, call, fmt.Sprintf("%d of %d Commits were made", h.commits[id], t.units()),
			"Commit steps before they are waited for", "0")
		return 0
	}
	h.iterated[id]++
	first := unit % t.unitsPerTurn() * size
	p := t.world()
	for i := range size {
		if k := first + i; side == Sources {
			slices[i] = (h.me - k + p) % p
		} else {
			slices[i] = (h.me + k) % p
		}
	}
	if side == Sources {
		done := h.status.done
		if t.unitsPerTurn() > 1 {
			done = h.status.steps
		}
		h.waitFor(call, done, id, unit+1)
	}
	return size
}
