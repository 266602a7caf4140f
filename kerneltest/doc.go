// Package kerneltest tests kernels as an author of them needs it. Run performs a kernel on the
// executors, under as many schedules as are asked for, and judges values, provenance and races.
// Once, Try, Observe and Races perform one schedule for tests that judge by themselves. Package
// hosttest tests host programs, package conformance executors.
//
// It imports exec/mock, exec/sim, race, verify and what is below them. Start at Run.
package kerneltest
