// Package timing finds how long a plan takes on a machine. A step costs its issue, and its
// bytes at the rate of one block. Messages take the links of their route, one after the other
// on each. A dependency is seen after the latency of a flag. Time is in whole picoseconds and
// follows from plan, machine and model alone.
//
// It may import frontend/plan, machine and unit. Start at Run.
package timing
