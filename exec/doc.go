// Package exec is the seam between what asks for a run and what performs it: the interface
// Executor, the Setup that every constructor takes, and the registry of executors with what
// each can do. An executor is a folder below this one, which calls Register from its init.
// All other packages ask a Row for capabilities, never for a name.
//
// It imports machine, conf, history, oplog, trace, tl, mem and unit. Start at Row.
package exec
