// Package report turns what lab found out, and what speed measured, into what a person looks at,
// or a program reads: aligned text and JSON. It computes nothing that they do not say.
//
// It imports lab, speed and unit. Start at Text, JSON and Table.
package report
