package cli

import (
	"bytes"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		name         string
		width        int
		total, done  int64
		passed       time.Duration
		want, erased string
	}{
		{"half", 0, 8, 4, 10 * time.Second, "\rrun  50% |███████████████               | [10s left]\r", "\r" + blanks(52) + "\r"},
		{"nothing", 0, 8, 0, time.Second, "\rrun   0% |                              |\r", "\r" + blanks(41) + "\r"},
		{"all", 0, 8, 9, time.Second, "\rrun 100% |██████████████████████████████| [0s left]\r", "\r" + blanks(51) + "\r"},
		{"no end", 0, 0, 3, 90 * time.Second, "\rrun [1m30s]\r", "\r" + blanks(11) + "\r"},
		{"narrow", 8, 8, 4, time.Second, "\rrun  50\r", "\r" + blanks(7) + "\r"},
	} {
		var b bytes.Buffer
		bar := &bar{w: &b, width: c.width, total: c.total, from: start}
		bar.draw("run", c.done, start.Add(c.passed))
		if b.String() != c.want {
			t.Errorf("%s: drew %q, want %q", c.name, &b, c.want)
		}
		b.Reset()
		if bar.draw("later", c.done, start.Add(c.passed+betweenBars/2)); b.Len() > 0 {
			t.Errorf("%s: drew %q too soon", c.name, &b)
		}
		if bar.clear(); b.String() != c.erased {
			t.Errorf("%s: erased with %q, want %q", c.name, &b, c.erased)
		}
	}
}

func blanks(n int) string { return string(bytes.Repeat([]byte(" "), n)) }
