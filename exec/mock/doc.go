// Package mock is the executor without a clock: all ranks of a launch run at once, in
// turns, over rings in memory, in milliseconds. Rings have as many slots and the same
// credits as on the simulated machine, so a schedule that needs more slots than it has
// hangs here too, and is reported. Run and Try test a kernel from Go.
//
// What ranks do to the memory of others takes effect at once, or, by a seed, in any of the orders
// that a machine of a given memory order could bring about.
//
// It imports exec, tl, fault, history, oplog, collective, topology, mem, dtype and unit. Start at Run.
package mock
