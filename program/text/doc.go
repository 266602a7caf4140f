// Package text is the text of a program: what each rank of a collective does, as statements, with
// all that must be known to judge it. A program is read from text or JSON, or made of a kernel's
// record, and runs as a kernel that interprets its statements.
//
// It imports program, collective, tl and what is below them. Start at File.
package text
