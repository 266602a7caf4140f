package frames

import (
	"fmt"
	"runtime"
	"strings"
)

// CallerLine returns the line of the innermost call by a kernel. It walks the whole stack if Caller
// finds none.
func CallerLine() string {
	if k := Caller(); k != nil {
		return k.line
	}
	var pcs [24]uintptr
	return kernelLine(pcs[:runtime.Callers(2, pcs[:])])
}

// kernelLine returns the line of the innermost of some frames that belongs to a kernel; "" if there
// is none. A return address may stand for several frames, by inlining.
func kernelLine(pcs []uintptr) string {
	file, line := kernelPlace(pcs)
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", lastFolder(file), line)
}

// kernelPlace returns the file and the line of kernelLine, as the compiler has recorded them.
func kernelPlace(pcs []uintptr) (file string, line int) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.File != "" && !inside(f.Function) {
			return f.File, f.Line
		}
		if !more {
			return "", 0
		}
	}
}

// PanicLine returns the line of a kernel that panicked, or ended its goroutine; "" if no frame is
// its author's. It must be called by a deferred function.
func PanicLine() string {
	if stack, _ := panicStack(); len(stack) > 0 {
		return LineOf(stack[0])
	}
	return ""
}

// PanicText returns the stack of a panic as its report shows it. It has the frames of the kernel's
// author, or all of them if code of an executor panicked. A deferred function calls it.
func PanicText() string {
	frames, internal := panicStack()
	if internal {
		buf := make([]byte, 8<<10)
		return string(buf[:runtime.Stack(buf, false)])
	}
	return "  " + strings.Join(frames, "\n  ")
}

// panicStack returns the frames of a panic, innermost first. It leaves out the runtime, the
// standard library, and packages whose functions a kernel calls. It is internal if the innermost
// frame belongs to what carries out instructions.
func panicStack() (stack []string, internal bool) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	panicked, first := false, true
	for {
		f, more := frames.Next()
		std := strings.HasPrefix(f.Function, "runtime.") || library(f.File)
		switch {
		case f.Function == "kernbench/tl.(*Context).run" || f.Function == "":
			return stack, internal
		case f.Function == "runtime.gopanic" || f.Function == "runtime.Goexit":
			panicked = true
		case !panicked || std:
		default:
			if first {
				internal, first = executes(f.Function), false
			}
			if !ours(f.Function) {
				stack = append(stack, frame(fmt.Sprintf("%s:%d", f.File, f.Line), f.Function))
			}
		}
		if !more {
			return stack, internal
		}
	}
}
