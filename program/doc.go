// Package program holds what the ranks of a launch do as data: for each rank one or more sequential
// blocks, each a sequence of operations. RecordLaunch makes a program of a kernel. It runs the
// kernel of each rank alone, compares it with the ranks before, and stores equal ranks once.
//
// It may import tl, fault, mem, dtype and unit. Start at Program.
package program
