package machine

import "kernbench/unit"

// Bisection is the narrowest place that was found between two halves of the PEs. There may be a
// narrower one. Package check/bound finds it.
type Bisection struct {
	Rate  unit.Rate `json:"bytes_per_second"` // from one half to the other
	Links []string  `json:"links"`
	Ranks int       `json:"ranks"` // of the first half; the other has as many, or one more
}
