package device

import (
	"kernbench/algorithm"
	"kernbench/machine"
)

// CanMultimem returns an error if an algorithm needs switches, which join ranks on some PEs, that
// the machine does not have.
func CanMultimem(m *machine.Machine, a *algorithm.Algorithm, pes []int32) error {
	if !a.Multimem || len(pes) < 2 {
		return nil
	}
	if a.Groups == nil {
		return m.CanMultimem(pes)
	}
	for _, ranks := range a.Groups(len(pes), levels(m, pes)) {
		group := make([]int32, len(ranks))
		for i, r := range ranks {
			group[i] = pes[r]
		}
		if len(group) < 2 {
			continue
		}
		if err := m.CanMultimem(group); err != nil {
			return err
		}
	}
	return nil
}
