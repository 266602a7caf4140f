// Package judge carries out a plan without a clock, on symbols in place of data: each cell of an
// input is a contribution of its own, so that a result tells exactly what it is made of, and how
// often. It finds deadlocks with the cycle of waits, reads of undefined cells, wrong results,
// messages left over, and accesses that nothing orders. Blocks, channels and dependencies are
// deterministic, so one order of execution speaks for all, as long as no race is found. The package
// may import plan only. Start at Judge.
package judge
