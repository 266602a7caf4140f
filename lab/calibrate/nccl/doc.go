// Package nccl computes the times with which NCCL chooses an algorithm and a protocol: its cost
// model, not a measurement and not a simulation. The times of a machine are compared with them.
// The constants are from NCCL 2.30 (NVIDIA/nccl, src/graph/tuning.cc).
//
// It may import unit only. Start at System and System.Time.
package nccl
