package trace

import (
	"testing"

	"kernbench/unit"
)

// written counts bytes.
type written int

func (w *written) Write(b []byte) (int, error) {
	*w += written(len(b))
	return len(b), nil
}

// A file grows during the run: of every quarter of the events, most is in the file before the next
// quarter begins. The sorter and the views hold few events meanwhile.
func TestFilesGrowAsEventsCome(t *testing.T) {
	const quarters, messages, keep = 4, 10_000, 1 << 10
	for _, name := range []string{"a.pftrace", "a.json", "a.txt", "a.pftrace.gz"} {
		t.Run(name, func(t *testing.T) {
			var file written
			v, err := NewFile(name, &file, FileOptions{PE: peName})
			if err != nil {
				t.Fatal(err)
			}
			s := Sorter{Shown: v, Kept: keep}
			now := unit.Time(0)
			add := func(e Event) {
				if s.Add(e, false) {
					s.Flush(now)
				}
			}
			var sizes [quarters]int
			for q := range quarters {
				for i := range messages {
					seq := int64(q*messages + i)
					add(Event{Kind: Send, PE: 0, Peer: 1, Start: now, End: now + ns, Bytes: 64, Seq: seq, Ring: 1, Line: "ring.go:12"})
					add(Event{Kind: Message, PE: 0, Peer: 1, Start: now + ns, End: now + 9*ns, Bytes: 64, Seq: seq, Ring: 1})
					add(Event{Kind: Recv, PE: 1, Rank: 1, Peer: 0, Start: now + 9*ns, End: now + 10*ns, Bytes: 64, Seq: seq, Ring: 1})
					now += 10 * ns
				}
				if n := len(s.events); n > keep {
					t.Errorf("quarter %d: the sorter keeps %d events, more than %d", q, n, keep)
				}
				if p, ok := v.(*PFTrace); ok && len(p.pairs.held) > heldAtMost+keep {
					t.Errorf("quarter %d: %d events wait for the other ends of their flows", q, len(p.pairs.held))
				}
				sizes[q] = int(file)
			}
			s.End(func(*Event) bool { return false })
			if err := v.Close(); err != nil {
				t.Fatal(err)
			}
			for q, size := range sizes {
				if least := int(file) * (q + 1) / quarters * 3 / 4; size < least {
					t.Errorf("after quarter %d the file has %d bytes of %d, at least %d expected", q, size, file, least)
				}
			}
		})
	}
}
