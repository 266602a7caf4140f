package tl

import "kernbench/tl/frames"

// Line is a place in the source of a kernel.
type Line struct{ frames.Call }

// NewLine makes a line of its text, such as "ring.txt:12".
func NewLine(text string) *Line { return &Line{*frames.NewCall(text)} }

// Source tells where in its own source an interpreter is.
type Source interface{ Line() *Line }

// caller is the innermost call by the kernel, or the line that an interpreter is at.
func (c *Context) caller() *frames.Call {
	if c.source != nil {
		return &c.source.Line().Call
	}
	return frames.Caller()
}

// sourceLine is the text of caller, found the slow way.
func (c *Context) sourceLine() string {
	if c.source != nil {
		return c.source.Line().Text()
	}
	return frames.CallerLine()
}
