package frames

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
)

// executes reports whether a function carries out instructions.
func executes(function string) bool {
	return ofExecutor(function) ||
		begins(function, "kernbench/hw/", "kernbench/record/oplog.", "kernbench/program.(*", "kernbench/record/history.")
}

// begins reports whether the name of a function begins with one of some texts.
func begins(function string, with ...string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(function, p) })
}

// ofExecutor reports whether a function is a method of an executor's. A function in there may be a
// kernel, in an executor's own tests.
func ofExecutor(function string) bool {
	return strings.HasPrefix(function, "kernbench/exec/") && strings.Contains(function, ".(*")
}

// ours reports whether a function is of a package whose functions a kernel calls.
func ours(function string) bool {
	return begins(function, "kernbench/tl.", "kernbench/mem.") || inside(function)
}

// inside reports whether a function is this package's own, an executor's or a dialect's, or of
// the libraries below them: not the kernel's.
func inside(function string) bool {
	return ofExecutor(function) || begins(function, "kernbench/tl.(*Context)", "kernbench/tl.Driver.", "kernbench/tl/watch.",
		"kernbench/tl/frames.", "kernbench/program.(*", "kernbench/dialect/hccl.(*", "runtime.", "iter.")
}

// lastFolder returns a file without its folders but the last.
func lastFolder(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		if j := strings.LastIndexByte(file[:i], '/'); j >= 0 {
			return file[j+1:]
		}
	}
	return file
}

// frame is file:line (in function), both without folders but the last.
func frame(place, function string) string {
	return fmt.Sprintf("%s (%s)", lastFolder(place), function[strings.LastIndexByte(function, '/')+1:])
}

// LineOf returns the file:line of a frame.
func LineOf(frame string) string {
	line, _, _ := strings.Cut(frame, " ")
	return line
}

// library reports whether a file belongs to the standard library.
func library(file string) bool { return goSources != "" && strings.HasPrefix(file, goSources) }

// goSources is the folder of the standard library; "" if files are recorded without their folders.
var goSources = func() string {
	f, _ := runtime.CallersFrames([]uintptr{reflect.ValueOf(time.Unix).Pointer() + 1}).Next()
	return strings.TrimSuffix(f.File, "time/time.go")
}()
