// Package plan is the form that programs of other tools take: for each rank one or more
// sequential blocks that share the rank's memory, in cells (chunks), with channels between
// ranks, dependencies between blocks and counters. It has no clock and no bytes of data. It also
// has the language of verdicts: Finding and its Verdict. A front end makes a Plan, package judge
// judges it, package timing times it. The package imports the standard library only.
package plan
