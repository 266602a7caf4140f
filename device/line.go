package device

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"kernbench/fault"
)

// hostPlace returns the place of a host program's operation.
func hostPlace(op string) fault.Place {
	return fault.Place{Rank: fault.Host, Op: op, Line: hostLine()}
}

// hostLine returns the source line of the host program that called a method of this package: the
// file with its last folder, and the line.
func hostLine() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "kernbench/device.") {
			return fmt.Sprintf("%s:%d", path.Join(path.Base(path.Dir(f.File)), path.Base(f.File)), f.Line)
		}
		if !more {
			return ""
		}
	}
}
