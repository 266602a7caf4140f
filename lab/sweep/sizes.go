// Package sweep has what products that measure many calls share. These are sizes and element counts
// as nccl-tests counts them, and settings to vary. An algorithm made ready on a machine is a
// Target, and one call of it a Case. SideBySide executes cases in parallel, within a memory limit.
//
// It may import lab/run and packages below it, and no product that measures. Start at Target.
package sweep

import (
	"fmt"

	"kernbench/unit"
)

// Sizes is the sizes of a sweep: from Min to Max, by a factor or by steps.
type Sizes struct {
	Min, Max unit.Bytes
	Factor   int        // from one size to the next; or
	Step     unit.Bytes // what is added; one of the two is 0
}

// maxSizes is the most sizes of a sweep. A step that gives more is probably a mistake.
const maxSizes = 4096

// List returns the sizes, or an error if the range is invalid.
func (s Sizes) List() ([]unit.Bytes, error) {
	switch {
	case s.Min < 1:
		return nil, fmt.Errorf("smallest size %v: at least 1 B is needed", s.Min)
	case s.Max < s.Min:
		return nil, fmt.Errorf("sizes from %v to %v: the largest is below the smallest", s.Min, s.Max)
	case s.Factor != 0 && s.Step != 0:
		return nil, fmt.Errorf("sizes by a factor of %d and by steps of %v: both set the sizes; give one of the two", s.Factor, s.Step)
	case s.Step < 0 || s.Step == 0 && s.Factor < 2 && s.Min < s.Max:
		return nil, fmt.Errorf("sizes from %v to %v by a factor of %d: give a factor of at least 2, or a step", s.Min, s.Max, s.Factor)
	}
	var all []unit.Bytes
	for size := s.Min; ; {
		if all = append(all, size); len(all) > maxSizes {
			return nil, fmt.Errorf("sizes from %v to %v by steps of %v: more than %d of them", s.Min, s.Max, s.Step, maxSizes)
		}
		switch {
		case s.Step > 0 && s.Step <= s.Max-size:
			size += s.Step
		case s.Step == 0 && s.Factor >= 2 && size <= s.Max/unit.Bytes(s.Factor):
			size *= unit.Bytes(s.Factor)
		default:
			return all, nil
		}
	}
}
