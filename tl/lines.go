package tl

import (
	"fmt"
	"runtime"
	"strings"
)

// lines remembers source lines, so that a fault, a hazard or a record can name the kernel's
// call.
type lines struct {
	now   *call            // nil: none of the innermost frames is a kernel's
	taken latest           // receives, by ring
	sent  latest           // sends, by ring
	ended map[taken]ending // lifetimes that an undirected receive ended
	posts map[taken]*call  // announced receives that have not been waited for
}

func newLines() *lines { return &lines{ended: map[taken]ending{}, posts: map[taken]*call{}} }

// forget is for another rank.
func (l *lines) forget() {
	l.now = nil
	l.taken.forget()
	l.sent.forget()
	clear(l.ended)
	clear(l.posts)
}

type ending struct {
	op   string
	call *call
}

type taken struct {
	port int
	seq  uint32
}

// recent is how many calls of a ring are remembered: of one before them only the number is told.
const recent = 64

// latest are the latest calls of each ring.
type latest []ringCalls

type ringCalls struct {
	calls []*call // that with number n at n mod recent
	had   uint32
}

func (l *latest) forget() {
	for i := range *l {
		r := &(*l)[i]
		r.calls, r.had = r.calls[:0], 0
	}
}

// note adds a call.
func (l *latest) note(port int, c *call) {
	for len(*l) <= port {
		*l = append(*l, ringCalls{})
	}
	r := &(*l)[port]
	if r.had < recent {
		r.calls = append(r.calls, c)
	} else {
		r.calls[r.had%recent] = c
	}
	r.had++
}

// at is the line of call number seq of a ring, or "".
func (l latest) at(port int, seq uint32) string {
	if port >= len(l) || seq >= l[port].had || l[port].had-seq > recent {
		return ""
	}
	return l[port].calls[seq%recent].text()
}

// take notes a receive, of which there was one for each number before.
func (l *lines) take(port int, seq uint32) {
	l.taken.note(port, l.now)
	delete(l.posts, taken{port, seq})
}

func (l *lines) end(port int, seq uint32, e ending) {
	l.ended[taken{port, seq}] = e
	delete(l.ended, taken{port, seq - recent})
}

// depth is how many frames are looked at: the kernel is seldom more than four away.
const depth = 12

// caller is the innermost call by a kernel. Every instruction asks for it, so it looks at
// return addresses only.
func (l *lines) caller() *call {
	var stack [depth]uintptr
	returns(&stack)
	for _, ret := range stack {
		if ret == 0 {
			break
		}
		if k := callAt(ret); k.line != "" {
			return k
		}
	}
	return nil
}

// callerLine is the line of the innermost call by a kernel, found the slow way.
func callerLine() string {
	var pcs [24]uintptr
	return kernelLine(pcs[:runtime.Callers(2, pcs[:])])
}

// kernelLine is file:line of the innermost of some frames that belongs to a kernel, the file
// without its folders but the last; "" if there is none. A return address may stand for
// several frames, by inlining.
func kernelLine(pcs []uintptr) string {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.File != "" && !inside(f.Function) {
			return fileLine(&f)
		}
		if !more {
			return ""
		}
	}
}

func fileLine(f *runtime.Frame) string { return fmt.Sprintf("%s:%d", lastFolder(f.File), f.Line) }

// lastFolder is a file without its folders but the last.
func lastFolder(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		if j := strings.LastIndexByte(file[:i], '/'); j >= 0 {
			return file[j+1:]
		}
	}
	return file
}

// panicLine is the line of a kernel that panicked, or ended its goroutine; "" if no frame is its
// author's. A deferred function asks for it.
func panicLine() string {
	if stack, _ := panicStack(); len(stack) > 0 {
		return lineOf(stack[0])
	}
	return ""
}

// panicStack are the frames of a panic that are neither of the runtime and the standard library nor
// of packages whose functions a kernel calls, innermost first. It is internal if the innermost
// frame belongs to what carries out instructions.
func panicStack() (stack []string, internal bool) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	panicked, first := false, true
	for {
		f, more := frames.Next()
		std := strings.HasPrefix(f.Function, "runtime.") || library(f.File)
		switch {
		case f.Function == "kernbench/tl.(*Context).Run" || f.Function == "":
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

// executes reports whether a function carries out instructions.
func executes(function string) bool {
	for _, p := range [...]string{"kernbench/hw/", "kernbench/oplog.", "kernbench/program.(*", "kernbench/history."} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return strings.HasPrefix(function, "kernbench/exec/") && strings.Contains(function, ".(*")
}

// ours reports whether a function is of a package whose functions a kernel calls.
func ours(function string) bool {
	return strings.HasPrefix(function, "kernbench/tl.") || strings.HasPrefix(function, "kernbench/mem.") || strings.HasPrefix(function, "kernbench/hccl.(*") || inside(function)
}

// inside reports whether a function is this package's own, an executor's or a dialect's, or of
// the libraries below them: not the kernel's.
func inside(function string) bool {
	for _, p := range [...]string{"kernbench/tl.(*Context)", "kernbench/tl.(*Watch)", "kernbench/program.(*", "kernbench/hccl.(*", "kernbench/tl.(*lines)", "kernbench/tl.callerLine", "kernbench/tl.returns", "runtime.", "iter."} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	// Methods only: a function in there may be a kernel, in an executor's own tests.
	return strings.HasPrefix(function, "kernbench/exec/") && strings.Contains(function, ".(*")
}

// Line is the source line of the instruction being executed, when lines are recorded.
func (c *Context) Line() string {
	if c.lines == nil {
		return ""
	}
	return c.lines.now.text()
}
