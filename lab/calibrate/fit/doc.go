// Package fit reads tables of measured collectives and fits the parameters of a machine to
// them: what a table says (Parse), which of its sizes a model can say anything about (Aside), and the
// parameters with which the times of a model come nearest (Problem.Fit), with how far each could be
// off. What the times of a machine are, it is told: it simulates nothing.
//
// It imports unit, and an optimizer. Start at Parse and Problem.
package fit
