package tl

import (
	"kernbench/fault"
	"kernbench/tl/frames"
)

// Driver is the interface of executors to the context of a kernel. Dialects and front ends that run
// kernels of their own use it too. It is not for kernels.
type Driver struct{ c *Context }

// DriverOf returns the driver of a context.
func DriverOf(c *Context) Driver { return Driver{c} }

// Cell returns the state of an operand.
func (d Driver) Cell(i int32) *Cell { return &d.c.cells[i] }

// Meet waits, in a program of a grid, until all earlier events have happened. Memory of this
// process that programs share then has its state of that time. Meet takes no simulated time. It is
// for dialects that keep such memory; kernels communicate by words.
func (d Driver) Meet() { d.c.plain(OpMeet) }

// Interpret replaces the lines of Go code in faults and records by those of s. A kernel that
// interprets a program calls it first.
func (d Driver) Interpret(s Source) { d.c.source = s }

// PE returns the PE that runs the kernel.
func (d Driver) PE() int { return d.c.pe }

// Block returns the number of the block that the kernel is among the blocks of its rank.
func (d Driver) Block() int { return d.c.block }

// Run executes a kernel to its end. It returns the fault that stopped it, if any; abandoned is true
// if the executor gave it up.
func (d Driver) Run(k Kernel, a Args) (abandoned bool, err error) { return d.c.run(k, a) }

// Reset makes the context that of another rank, as NewContext would, and keeps its memory. The
// kernel that had it has ended.
func (d Driver) Reset(s Setup) { d.c.reset(s) }

// Abandon stops the kernel without a fault of its own. It does not return.
func (d Driver) Abandon() {
	d.c.watch.Ends(&d.c.seen, d.c.here)
	panic(abandon{})
}

// Fail stops the kernel with a fault. It does not return. The fault stands even if the kernel
// recovers from the panic that carries it.
func (d Driver) Fail(err error) { d.c.fail(err) }

// DropAll reports to the core that all tensors are done with, when a kernel has ended.
func (d Driver) DropAll() {
	for i := range d.c.cells {
		if d.c.cells[i].Value != 0 {
			d.c.drop(int32(i))
		}
	}
}

// Enter reports to the launch's watch that this kernel runs on.
func (d Driver) Enter() {
	if d.c.watch != unwatched {
		d.c.watch.Enter(&d.c.seen)
	}
}

// Line returns the source line of the instruction being executed, or "" if it is not recorded.
func (d Driver) Line() string { return d.Call().Text() }

// Call returns the call of the instruction being executed, or nil if its line is not recorded.
func (d Driver) Call() *frames.Call {
	if d.c.lines == nil {
		return d.c.choice
	}
	return d.c.lines.now
}

// Place returns where the kernel is: rank, PE, time and the source line of the call that it is in.
// It walks the stack, so it is for faults only.
func (d Driver) Place(op string) fault.Place { return d.c.place(op) }
