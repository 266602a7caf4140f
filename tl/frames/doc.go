// Package frames finds the stack frames of a kernel's author, between those of the runtime and
// those of the code that carries out instructions. It names lines as file:line, with the last
// folder of the file.
//
// It may import the standard library only. Start at Caller.
package frames
