// Package report formats the results of the products of lab and of selfbench: as aligned text,
// CSV, SVG and JSON. It computes no results of its own.
//
// It may import the products of lab, frontend, selfbench, machine, machine/draw and unit.
// Start at Text, JSON and Table.
package report
