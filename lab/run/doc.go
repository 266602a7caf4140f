// Package run performs one run from one Spec. It is the one place that builds a run: it joins
// configuration, machine, algorithm, executor, data log, checks and views, and returns everything
// that a person or a program wants to know of the run as a Result. A run is a pure function of its
// Spec. Start at Spec and Run. Products that need many runs load a Job and execute it.
//
// It may import every package below it, and no other product of lab. It prints nothing.
package run
