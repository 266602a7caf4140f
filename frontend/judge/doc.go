// Package judge carries out a plan without a clock, on symbols in place of data: each cell of
// an input is one contribution, so a result shows what it is made of, and how often. It finds
// deadlocks with the cycle of waits, reads of undefined cells, wrong results, messages left
// over, and races. Blocks, channels and dependencies are deterministic, so one order of
// execution is enough while no race is found.
//
// It may import frontend/plan only. Start at Judge.
package judge
