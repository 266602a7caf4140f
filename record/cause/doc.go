// Package cause keeps why simulated time passed: an executor and its components write points
// to a Log, and each point names the one before it that decided its time. Walk reads the
// chain that ends a launch back to its start. The spans of that chain are the critical path,
// and add up to the time of the launch.
//
// It imports unit. Start at Log; a run without a Log pays nothing.
package cause
