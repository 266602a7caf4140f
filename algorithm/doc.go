// Package algorithm is the library of kernels that perform a collective. Each algorithm is one
// file, with its row in the registry at the foot. A program outside this repository adds its
// own with Register.
//
// It may import tl, collective, topology, mem, dtype, unit and internal/near only. Start at
// Algorithm.
package algorithm
