package tl

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// atDepth asks for the caller from below some frames of its own.
//
//go:noinline
func (l *lines) atDepth(n int) (text string) {
	if n > 0 {
		return l.atDepth(n - 1)
	}
	return l.text[l.caller()]
}

// inlined is small enough to be inlined into whoever calls it.
func (l *lines) inlined() string { return l.atDepth(0) }

// The line is that of the call outside this package's own methods, through inlined ones and
// at any depth that instructions have; what was found out stays right.
func TestCaller(t *testing.T) {
	l := newLines()
	for range 3 {
		for depth := range 5 {
			if got, want := l.atDepth(depth), here(); got != want {
				t.Errorf("depth %d: %q, want %q", depth, got, want)
			}
		}
		if got, want := l.inlined(), here(); got != want {
			t.Errorf("inlined: %q, want %q", got, want)
		}
	}
	if got := l.atDepth(20); got != "" {
		t.Errorf("too deep: %q, want none", got)
	}
}

// here is the line of its caller.
//
//go:noinline
func here() string {
	_, file, line, _ := runtime.Caller(1)
	parts := strings.Split(file, "/")
	return strings.Join(parts[len(parts)-2:], "/") + ":" + strconv.Itoa(line)
}

// Of a ring only the latest receives are remembered.
func TestRecentReceives(t *testing.T) {
	l := newLines()
	for seq := range uint32(10 * recent) {
		l.now = uintptr(seq) + 1
		l.take(2, seq)
		l.end(2, seq, ending{"recv", l.now})
	}
	if len(l.taken) != recent || len(l.ended) != recent {
		t.Errorf("%d receives and %d endings remembered, want %d", len(l.taken), len(l.ended), recent)
	}
	if l.taken[taken{2, 10*recent - 1}] != 10*recent {
		t.Error("the latest is lost")
	}
}
