// Package topology defines the logical neighbours of ranks: which rank each rank calls E, parent
// and so on, and overrides of them. Connect turns these names into rings with two ends. RingStep
// and TreeStep are the arithmetic that algorithms on rings and trees share.
//
// It may import tl, mem, dtype, unit and internal/near. Start at Topology and Wire.
package topology
