// Package hosttest tests host programs: those that queue work on streams, call collectives, or
// run kernels by the HCCL task API. Run performs a program on the executors, under as many
// schedules as are asked for, and judges values, provenance and races.
//
// It imports lab/run, bench and what is below them. Start at Run.
package hosttest
