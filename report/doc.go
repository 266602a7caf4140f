// Package report turns what the products of lab found, and what selfbench measured, into what a
// person looks at, or a program reads: aligned text, CSV, SVG and JSON. It computes nothing that
// they do not say.
//
// It imports the products of lab, frontend, selfbench, machine/draw and unit. Start at Text, JSON
// and Table.
package report
