// Package fit reads tables of measured collectives (Parse) and fits the parameters of a machine to
// them. It finds the sizes that a model cannot explain (Excluded). It also finds the parameters
// with which the times of a model come nearest (Problem.Fit), with their uncertainty. The caller
// supplies the times of a machine; this package does not simulate.
//
// It may import unit only. Start at Parse and Problem.
package fit
