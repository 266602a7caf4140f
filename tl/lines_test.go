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
	return l.caller().text()
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

// Of a ring only the latest receives are remembered, and on a context that was another rank's none of that.
func TestRecentReceives(t *testing.T) {
	l := newLines()
	for range 2 {
		for seq := range uint32(10 * recent) {
			l.now = &call{line: strconv.Itoa(int(seq))}
			l.take(2, seq)
			l.end(2, seq, ending{"recv", l.now})
			for back, want := range map[uint32]bool{0: true, recent - 1: true, recent: false} {
				if back > seq {
					continue
				}
				got := l.taken.at(2, seq-back)
				if want && got != strconv.Itoa(int(seq-back)) || !want && got != "" {
					t.Fatalf("receive %d after %d: %q", seq-back, seq, got)
				}
			}
		}
		if len(l.ended) != recent || len(l.taken[2].calls) != recent {
			t.Errorf("%d endings and %d receives remembered, want %d", len(l.ended), len(l.taken[2].calls), recent)
		}
		l.forget()
		if len(l.ended) != 0 || l.now != nil || l.taken.at(2, 0) != "" {
			t.Error("something is remembered")
		}
	}
}
