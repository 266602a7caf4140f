// Package frames finds the frames of a kernel's author on stacks, between those of the runtime
// and those of the machinery that carries out instructions. It names lines as file:line, the file
// without its folders but the last.
//
// It imports the standard library only. Start at Caller.
package frames
