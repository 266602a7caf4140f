// Package bound returns lower limits of the simulated time of a collective on a machine. No
// algorithm beats them. Each limit has a witness: two nodes, links or a ring. The definition of
// the collective gives the data that must move. The machine's graph of links gives the data that
// can move.
//
// It may import machine, hw/memory, collective, conf, mem, tl and unit. Start at New.
package bound
