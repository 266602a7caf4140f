// Package sim is the executor with a clock: a discrete-event model of PEs, memories and
// links. Kernels are coroutines that run ahead on their PE's own clock until they need
// something that another component decides; what others can see of them happens in the
// order of simulated time. Kernels that keep to their own PE are recorded and followed instead
// (local.go).
//
// It imports machine, conf, hw, des, oplog, trace, history, fault, tl and what is below. Start at
// Executor; core.go is what an instruction costs.
package sim
