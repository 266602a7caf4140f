// Package run performs one run from one Spec. It is the one place that builds a run: it joins
// configuration, machine, algorithm, executor, data log, checks and views, and returns a
// Result. A run is a pure function of its Spec. Products that need many runs load a Job and
// execute it. The package prints nothing.
//
// It may import every package below it, and no other product of lab. Start at Spec and Run.
package run
