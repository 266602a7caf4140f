// Package hosttest tests host programs: those that queue work on streams, call collectives, or
// run kernels by the HCCL task API. Run performs a program on the executors, under as many
// schedules as requested, and judges values, provenance and races. Open makes a device with its
// executor and judge, for tests that call it by hand.
//
// It may import lab/run, bench, kerneltest and packages below them. Start at Run.
package hosttest
