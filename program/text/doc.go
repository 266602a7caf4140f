// Package text is the text form of a program: what each rank of a collective does, as
// statements, with the context that a judge needs. A program is read from text or JSON, or
// made of a kernel's record. It runs as a kernel that interprets its statements.
//
// It may import program, collective, tl and packages below them. Start at File.
package text
