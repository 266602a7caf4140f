// Package plan is the form of programs of other tools. Each rank has one or more sequential blocks
// that share the rank's memory, in cells (chunks). It also has channels between ranks, dependencies
// between blocks, and counters. It has no clock and no data. It also defines verdicts: Finding and
// its Verdict. Front ends make a Plan, package judge judges it, package timing times it.
//
// It may import the standard library only. Start at Plan.
package plan
