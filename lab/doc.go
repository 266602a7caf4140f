// Package lab is one run from one Spec: it joins configuration, machine, algorithm,
// executor, data log, checks and views, and returns everything that a person or a
// program wants to know of the run as a Result. A run is a pure function of its Spec.
//
// It is the only place that knows everybody, and prints nothing. Start at Spec and Run.
package lab
