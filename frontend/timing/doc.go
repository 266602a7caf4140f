// Package timing finds how long a plan takes on a machine. A step takes the time of its issue, and
// that of its bytes at the rate of one block. A message crosses the links of its route in order,
// and each link carries one message at a time. A step sees the progress of another block after the
// latency of a flag. Time is in whole picoseconds and follows from plan, machine and model alone.
//
// It may import frontend/plan, machine and unit. Start at Run.
package timing
