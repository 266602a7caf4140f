// Package exec defines what an executor is: the interface Executor, the Setup that every
// constructor takes, and the registry of executors with their capabilities. An executor is a
// folder below this one that calls Register from its init. All other packages ask a Row for
// capabilities, never for a name.
//
// It may import machine, conf, hw, record, tl, fault, mem and unit, but no executor. Start at
// Row.
package exec
