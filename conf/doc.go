// Package conf reads the two files that describe a run, topology.yaml and ccl.yaml, and the --set arguments that change
// single keys of either. Defaults are embedded; a user's file changes only the keys that it names. Whatever is
// wrong is an *Error with file, line, column, key, what was found and what would be right, all of a file at
// once, never a panic. Start with Topology and LoadTopology, CCL and LoadCCL. The package may import unit
// and a YAML parser, nothing else of the house; what the values mean for a machine is decided above.
package conf
