package frames

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Running returns the frames of the kernel that runs code of its author's, file:line in function,
// innermost first. It is nil if no kernel runs, or if it waits for an instruction to be carried
// out. Of several kernels it prefers that of the tl.Context at an address; entry is where that
// kernel's code begins. It stops all goroutines to look at their stacks, so it is for reports only.
func Running(context, entry uintptr) []string {
	var found []string
	this := fmt.Sprintf("kernbench/tl.(*Context).run(%#x", context)
	for g := range strings.SplitSeq(stacks(), "\n\n") {
		frames := authorFrames(g)
		if frames == nil {
			continue
		}
		if found == nil || strings.Contains(g, this) {
			found = frames
		}
	}
	if found == nil {
		return nil
	}
	if at := runtime.FuncForPC(entry); at != nil && strings.HasSuffix(LineOf(found[0]), ".go:1") {
		// The compiler gives an empty loop no line of its own: name where the kernel begins.
		file, line := at.FileLine(at.Entry())
		if entry := frame(fmt.Sprintf("%s:%d", file, line), at.Name()); strings.HasSuffix(entry,
			found[0][strings.IndexByte(found[0], ' '):]) {
			found[0] = entry
		}
	}
	return found
}

// Suspended returns the lines of kernels that have begun and wait for their turn, by the addresses
// of their tl.Contexts. It returns those for which context is true. It is for reports only, as
// Running.
func Suspended(context func(uintptr) bool) map[uintptr]string {
	at := map[uintptr]string{}
	for g := range strings.SplitSeq(stacks(), "\n\n") {
		lines := strings.Split(g, "\n")
		if !parked(lines) {
			continue
		}
		if found, ok := kernelFrames(lines); ok && len(found) > 0 {
			if a, ok := argument(lines, context); ok {
				at[a] = LineOf(found[0])
			}
		}
	}
	return at
}

// argument returns the first argument of a function in a stack that is one of certain addresses. A
// stack shows those arguments that the compiler has not kept in registers alone.
func argument(lines []string, of func(uintptr) bool) (uintptr, bool) {
	for _, line := range lines {
		for {
			_, rest, ok := strings.Cut(line, "0x")
			if !ok {
				break
			}
			n := len(rest) - len(strings.TrimLeft(rest, "0123456789abcdef"))
			if a, err := strconv.ParseUint(rest[:n], 16, 64); err == nil && of(uintptr(a)) {
				return uintptr(a), true
			}
			line = rest[n:]
		}
	}
	return 0, false
}

// stacks returns the stacks of all goroutines, or as much as fits.
func stacks() string {
	for size := 1 << 20; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= 1<<28 {
			return string(buf[:n])
		}
	}
}

// authorFrames returns the frames of a kernel in a goroutine's stack, file:line in function,
// innermost first. They are nil if the goroutine runs no kernel, if the kernel is parked, or if it
// waits for an instruction.
func authorFrames(stack string) []string {
	lines := strings.Split(stack, "\n")
	if parked(lines) || slices.ContainsFunc(lines, issuing) {
		return nil
	}
	frames, _ := kernelFrames(lines)
	return frames
}

// parked reports whether a goroutine is a parked coroutine.
func parked(stack []string) bool { return strings.Contains(stack[0], "[coroutine") }

// issuing reports whether a line of a stack is that of a function that carries out an instruction.
func issuing(line string) bool {
	return strings.HasPrefix(line, "kernbench/tl.(*Context).issue(") || strings.HasPrefix(line, "kernbench/tl.(*Context).drop(")
}

// kernelFrames returns the frames of a kernel's author in a goroutine's stack, and whether it runs
// a kernel.
func kernelFrames(lines []string) (frames []string, ok bool) {
	for i := 1; i+1 < len(lines); i += 2 {
		function, place := lines[i], strings.TrimSpace(lines[i+1])
		if k := strings.LastIndexByte(function, '('); k > 0 {
			function = function[:k]
		}
		place, _, _ = strings.Cut(place, " +0x")
		switch {
		case function == "kernbench/tl.(*Context).run":
			return frames, true
		case !ours(function) && !library(place):
			frames = append(frames, frame(place, function))
		}
	}
	return nil, false
}
