// Package conf reads the two files that describe a run, topology.yaml and ccl.yaml, and the --set
// arguments that change single keys of either. Defaults are embedded; a user's file changes only
// the keys that it names. Each mistake is an *Error with file, line, column and key, with what was
// found and what would be right. All mistakes of a file come at once.
//
// It may import unit, internal/near and a YAML parser. Start at LoadTopology and LoadCCL.
package conf
