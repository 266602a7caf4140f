// Package conformance tests executors. Run performs the algorithms of the library on an executor
// and judges the results. So a new executor is tested as soon as it is registered. An executor of
// another module calls Run from its own test.
//
// It may import lab/run, exec, algorithm and packages below them. Start at Run.
package conformance
