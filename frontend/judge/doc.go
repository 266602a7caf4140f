// Package judge executes a plan without a clock, on symbols in place of data. Each cell of an input
// is one contribution, so a result shows its contributions and how often it has each. It finds
// deadlocks with the cycle of waits, reads of undefined cells, wrong results, messages left over,
// and races. Blocks, channels and dependencies are deterministic, so one order of execution is
// enough while no race is found.
//
// It may import frontend/plan only. Start at Judge.
package judge
