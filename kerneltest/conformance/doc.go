// Package conformance tests executors. Run performs the algorithms of the library on an executor
// and judges what comes out, so that a new executor is tested as soon as it is registered. An
// executor of another module calls it from a test of its own.
//
// It imports lab/run, exec, algorithm and what is below them. Start at Run.
package conformance
