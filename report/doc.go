// Package report turns what lab found out into what a person looks at, or a program reads:
// aligned text and JSON. It computes nothing that lab does not say.
//
// It imports lab and unit. Start at Text, JSON and Table.
package report
