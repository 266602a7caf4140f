// Package race judges the accesses of a run: which accesses to the same memory does the program
// leave unordered, in whatever order they happened in that run? Vector clocks hold what each agent
// can know of the others. An access is complete only for agents that can know of its completion.
//
// It may import record/history, tl, mem, unit and internal/prefetch. Start at New, Detector.Log and
// Detector.Report.
package race
