// Package bound returns lower limits of the simulated time of a collective on a machine. No
// algorithm beats them. Each limit has a witness: two nodes, links or a channel. What must
// move follows from the meaning of the collective, what can move from the machine's graph of
// links.
//
// It may import machine, hw/memory, collective, conf, mem, tl and unit. Start at New.
package bound
