// Package selfbench measures kernbench itself: how long its commands take from the start of the
// process to its exit, and what its parts cost. It also measures how much memory a PE needs, and
// how all these grow with the number of ranks. Its tables contain wall times, so they differ from
// run to run. The simulated times in them do not.
//
// It may import lab/run and packages below it. Start at Measure and Grow.
package selfbench
