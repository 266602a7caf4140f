package oplog_test

import (
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// A fault names the origin that caused it, whichever origins of the rank came before.
func TestFaultNamesItsOrigin(t *testing.T) {
	tests := []struct {
		name   string
		origin oplog.Origin
		want   string
	}{
		{"the same", oplog.Origin{Rank: 3, PE: 7, Line: "kernel.go:9"}, "rank 3 (pe7) store at kernel.go:9"},
		{"another line", oplog.Origin{Rank: 3, PE: 7, Line: "kernel.go:10"}, "rank 3 (pe7) store at kernel.go:10"},
		{"no line", oplog.Origin{Rank: 3, PE: 7}, "rank 3 (pe7) store: "},
		{"another PE", oplog.Origin{Rank: 3, PE: 8, Line: "kernel.go:9"}, "rank 3 (pe8) store at kernel.go:9"},
		{"another rank", oplog.Origin{Rank: 4, PE: 7, Line: "kernel.go:9"}, "rank 4 (pe7) store at kernel.go:9"},
		{"another call", oplog.Origin{Rank: 3, PE: 7, Line: "kernel.go:9", Call: "put"}, "rank 3 (pe7) put at kernel.go:9"},
		{"the host", oplog.Origin{Rank: -1, PE: 7}, "(pe7) store"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, oplog.Options{PEName: func(pe int) string { return "pe" + string(rune('0'+pe)) }})
			x := b.put(t, 0, dtype.F32, 1, 2)
			first := oplog.Origin{Rank: 3, PE: 7, Line: "kernel.go:9"}
			v := b.LoadBy(number(b, first), 2, dtype.F32, x.Addr)
			b.StoreBy(number(b, first), x.Addr, v, 0, 2, dtype.F32)
			b.StoreBy(number(b, tt.origin), at(5), v, 0, 2, dtype.F32)
			if o := b.Origin(number(b, tt.origin)); o != tt.origin {
				t.Errorf("%+v is remembered as %+v", tt.origin, o)
			}
			if err := b.Flush(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// However many values go at once, what they took is used again.
func TestReleasedMemoryIsUsedAgain(t *testing.T) {
	b := newBench(t, oplog.Options{Inline: true})
	x := b.put(t, 0, dtype.F32, 1, 2, 3, 4)
	values := make([]tl.Value, 7)
	round := func() {
		for range 1024 {
			for i := range values {
				values[i] = b.LoadBy(oplog.By{}, 4, dtype.F32, x.Addr)
			}
			for _, v := range values {
				b.Release(v)
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(3, round); n != 0 {
		t.Errorf("%v allocations for 7168 values that follow as many", n)
	}
}
