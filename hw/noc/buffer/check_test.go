package buffer

import (
	"strings"
	"testing"

	"kernbench/unit"
)

// Each possible error of a buffer and its releases is detected.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b *Buffer, p *Pool)
		want  string
	}{
		{"right", func(*Buffer, *Pool) {}, ""},
		{"too much held", func(b *Buffer, _ *Pool) { b.held = 101 }, "holds 101"},
		{"less than nothing", func(b *Buffer, _ *Pool) { b.held = -1 }, "holds -1"},
		{"more to come than held", func(b *Buffer, _ *Pool) { b.held = 59 }, "60 are to be released"},
		{"more to come than held, without a list", func(b *Buffer, _ *Pool) { b.held, b.part[1] = 39, 20 }, "40 are to be released"},
		{"releases out of order", func(b *Buffer, _ *Pool) { b.first[0] = 9 }, "the first release"},
		{"list out of order", func(_ *Buffer, p *Pool) { p.list[2].at = 7 }, "stands behind"},
		{"list of another time", func(_ *Buffer, p *Pool) { p.list[1].at = 6 }, "begins at"},
		{"end of the list", func(_ *Buffer, p *Pool) { p.list[1].last = 1 }, "ends with 2"},
		{"circle of releases", func(_ *Buffer, p *Pool) { p.list[2].next = 2 }, "circle"},
	} {
		// A buffer of 100 bytes holds 90, of which three releases give 60 back.
		b, p := Empty(0, 1), &Pool{}
		b.held = 90
		for _, at := range []unit.Time{7, 8, 9} {
			b.Release(p, 20, at)
		}
		c.spoil(&b, p)
		switch err := b.Check(p, 100); {
		case c.want == "" && err == nil:
		case err == nil || c.want == "" || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
