// Package tl is the kernel API: what the program of one processing element can say.
// A Kernel calls methods of its Context; each call becomes one Instr of a small set,
// which an executor (a Core) carries out. Executors differ in what an instruction costs
// and when it takes effect, never in what it means, so one kernel runs on all of them.
//
// It imports mem, dtype, unit, fault, tl/watch and tl/frames, and never an executor. Start at Context.
package tl
