package oplog_test

import (
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// Each element knows the operation that wrote it last, in explain mode: not the host, and not what
// was there when it became a contribution.
func TestWriters(t *testing.T) {
	for _, explain := range []bool{true, false} {
		b := newBench(t, oplog.Options{Inline: true, Explain: explain})
		x := b.put(t, 0, dtype.F32, 1, 2, 3, 4)
		writers := func() (names []string) {
			for _, id := range b.Writers(x.Addr, x.DType, x.Len()) {
				name := ""
				if id != 0 {
					name, _, _ = strings.Cut(strings.TrimPrefix(b.Why(id), "rank 3 "), " at")
				}
				names = append(names, name)
			}
			return names
		}
		check := func(want string) {
			t.Helper()
			if !explain {
				want = ""
			}
			if got := strings.Join(writers(), ","); got != want {
				t.Errorf("explain %v: written by %q, want %q", explain, got, want)
			}
		}
		check(",,,")
		b.c.Store(x.Slice(1, 2), b.c.Load(x.Slice(0, 2)))
		check(",store,store,")
		b.combine(x.Slice(2, 1).Addr, x.Addr, 1, dtype.F32, dtype.Add)
		check(",store,put_combine,")
		b.own(t, 0, x.Slice(1, 1))
		check(",,put_combine,")

		turn := &tl.Turn{ID: 1, World: 1, In: []tl.Ref{x.Slice(0, 2)}, Out: []tl.Ref{x.Slice(2, 2)}}
		b.BeginTurn(b.origin, turn)
		b.c.Store(x.Slice(3, 1), b.c.Load(x.Slice(0, 1)))
		b.EndTurn(b.origin, turn)
		check(",,,store")
		captured, err := b.TakeTurns()
		if err != nil {
			t.Fatal(err)
		}
		if wrote := captured[0].Wrote; explain != (len(wrote) == 2) || explain && (wrote[0] != 0 || wrote[1] == 0) {
			t.Errorf("explain %v: captured %v", explain, wrote)
		}
	}
}
