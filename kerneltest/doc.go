// Package kerneltest tests kernels for their authors. Run performs a kernel on the executors,
// under as many schedules as requested, and judges values, provenance and races. Once, Try,
// Observe and Races perform one schedule, for tests that judge by themselves. Package hosttest
// tests host programs, package conformance executors.
//
// It may import exec/mock, exec/sim, check/race, check/verify and packages below them. Start
// at Run.
package kerneltest
