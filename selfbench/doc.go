// Package selfbench measures kernbench itself: what its commands take from the start of the process
// to its exit, what its parts cost, how much memory a PE needs, and how all that grows with the
// number of ranks. It looks at the clock, so that no two of its tables are alike; what runs simulate
// is in them too, and must be.
//
// It imports lab, and for what it measures in its own process the parts below. Start at Measure
// and Grow.
package selfbench
