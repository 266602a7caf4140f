// Package sim is the executor with a clock: an event-driven model of PEs, memories and links.
// Kernels are coroutines that run ahead on their PE's own clock until they need something that
// another component decides. Their effects on others happen in the order of simulated time.
// Kernels that meet the conditions of replay are recorded and replayed instead (replaying.go).
//
// It may import exec, program, machine, conf, hw, des, record, fault, tl and packages below
// them. Start at Executor; core.go has the cost of an instruction.
package sim
