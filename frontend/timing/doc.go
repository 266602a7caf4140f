// Package timing finds how long a plan takes on a machine. Each block carries out its steps one after
// the other: a step costs its issue, and its bytes at the rate that one block can move; messages
// take the links of their route, one after the other on each; a dependency is seen after the latency
// of a flag. Time is in whole picoseconds and follows from plan, machine and model alone. The package
// may import frontend/plan, machine and unit. Start at Run.
package timing
