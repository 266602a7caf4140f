package sweep

import (
	"errors"
	"fmt"

	"kernbench/fault"
)

// RingsTooLarge says by how much the rings of a run exceeded the memory that holds them. It
// returns "" if the run did not fail, or failed otherwise.
func RingsTooLarge(err error) string {
	full, ok := errors.AsType[*fault.RingMemory](err)
	if !ok {
		return ""
	}
	return fmt.Sprintf("the rings need %v of %s, which has %v (keys defaults.n_slots, defaults.slot_size, defaults.buffer_kind)",
		full.Need, full.Kind, full.Have)
}
