// Package race judges the accesses of a run. It finds the accesses to the same memory that the
// program leaves unordered, whatever their order was in that run. Vector clocks hold what each
// agent can know of the others. An access is complete only for agents that can know of its
// completion.
//
// It may import record/history, tl, mem and unit. Start at New, Detector.Log and Detector.Report.
package race
