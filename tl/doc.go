// Package tl is the kernel API: the operations of the program of one processing element. A Kernel
// calls methods of its Context. Each call becomes one Instr of a small set, which an executor (a
// Core) carries out. Executors differ in the cost of an instruction and in when it takes effect,
// never in its meaning. So one kernel runs on all of them.
//
// It may import mem, dtype, unit, fault, tl/watch and tl/frames, and never an executor. Start
// at Context.
package tl
