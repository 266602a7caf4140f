package sweep

import (
	"errors"
	"fmt"

	"kernbench/fault"
)

// RingsTooLarge returns the memory that the rings of a failed run need, and the memory that there
// is, as a sentence. It returns "" if the run did not fail, or failed for another reason.
func RingsTooLarge(err error) string {
	full, ok := errors.AsType[*fault.RingMemory](err)
	if !ok {
		return ""
	}
	return fmt.Sprintf("the rings need %v of %s, which has %v (keys defaults.n_slots, defaults.slot_size, defaults.buffer_kind)",
		full.Need, full.Kind, full.Have)
}
