package tl

import "kernbench/tl/frames"

// Line is a place in the source of a kernel.
type Line struct{ frames.Call }

// NewLine makes a line of its text, such as "ring.txt:12".
func NewLine(text string) *Line { return &Line{*frames.NewCall(text)} }

// Source returns the current line of an interpreted program.
type Source interface{ Line() *Line }

// caller returns the innermost call by the kernel, or the line that an interpreter is at.
func (c *Context) caller() *frames.Call {
	if c.source != nil {
		return &c.source.Line().Call
	}
	return frames.Caller()
}

// sourceLine returns the text of caller, by a walk of the stack.
func (c *Context) sourceLine() string {
	if c.source != nil {
		return c.source.Line().Text()
	}
	return frames.CallerLine()
}
