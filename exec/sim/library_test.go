package sim_test

import (
	"slices"

	"kernbench/algorithm"
)

// onRings lists the algorithms of the library that need rings only. Those over a window are
// judged here by the conformance tests of the library.
func onRings() []*algorithm.Algorithm {
	return slices.DeleteFunc(algorithm.All(), func(a *algorithm.Algorithm) bool { return a.Window != nil })
}
