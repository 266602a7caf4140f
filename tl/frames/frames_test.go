package frames_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"kernbench/tl/frames"
)

// The line is that of the call outside the machinery, through inlined ones and at any depth that
// instructions have. A result stays right.
func TestCaller(t *testing.T) {
	for range 3 {
		for depth := range 5 {
			if got, want := frames.AtDepth(depth), here(); got != want {
				t.Errorf("depth %d: %q, want %q", depth, got, want)
			}
		}
		if got, want := frames.Inlined(), here(); got != want {
			t.Errorf("inlined: %q, want %q", got, want)
		}
	}
	if got := frames.AtDepth(20); got != "" {
		t.Errorf("too deep: %q, want none", got)
	}
}

func TestCallerLine(t *testing.T) {
	for _, depth := range []int{0, 1, 15} { // 15: the calls that Caller looks at are not enough
		if got, want := frames.LineAtDepth(depth), here(); got != want {
			t.Errorf("depth %d: %q, want %q", depth, got, want)
		}
	}
	if got, want := frames.CallerLine(), here(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Of a panic the innermost line of an author's counts, in a deferred function.
func TestPanicLine(t *testing.T) {
	var line, text string
	func() {
		defer func() {
			line, text = frames.PanicLine(), frames.PanicText()
			recover()
		}()
		var none []int
		_ = none[len(text)+3]
	}()
	if !strings.HasPrefix(line, "frames/frames_test.go:") || !strings.HasPrefix(text, "  "+line) {
		t.Errorf("line %q of\n%s", line, text)
	}
}

// here returns the line of its caller.
//
//go:noinline
func here() string {
	_, file, line, _ := runtime.Caller(1)
	parts := strings.Split(file, "/")
	return strings.Join(parts[len(parts)-2:], "/") + ":" + strconv.Itoa(line)
}
