// Package cause records why simulated time passed. An executor and its components write points
// to a Log; each point names the earlier point that decided its time. Walk follows the chain
// from the end of a launch back to its start. The spans of that chain are the critical path,
// and add up to the time of the launch. A run without a Log records nothing.
//
// It may import unit only. Start at Log.
package cause
