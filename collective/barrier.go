package collective

import "kernbench/unit"

// Barrier moves no data. No rank leaves before all have entered.
var Barrier = register(Collective{
	Name:       "barrier",
	Summary:    "no rank continues before all ranks have arrived",
	SameOutput: true,
	In:         func(Call, int) int { return 0 },
	Out:        func(Call, int) int { return 0 },
	Parts:      func(dst []Part, _ Call, _ int) []Part { return dst },
	Demand:     func(Call) unit.Bytes { return 0 },
	BusFactor:  func(int) float64 { return 0 },
})
