// Package mock is the executor without a clock. The ranks of a launch run in turns, over rings
// in memory, in milliseconds. Rings have the slots and credits of the simulated machine, so a
// schedule that needs more slots hangs here too, and is reported. Accesses to other ranks'
// memory take effect at once, or, with a seed, in any order that the memory order allows.
//
// It may import exec, hw/ipcq, tl, fault, record, mem, dtype and unit. Start at New.
package mock
