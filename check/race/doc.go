// Package race judges the account of a run (package history): which accesses of the same
// memory does the protocol not order, whatever order they happened to have in that run? It
// follows what each agent can know of the others, by vector clocks, and holds an access for
// complete only for those who can know of its completion.
//
// It imports history, tl, mem and unit, and for Run, which tests a kernel from Go, exec/mock.
// Start at New, Detector.Log and Detector.Report.
package race
