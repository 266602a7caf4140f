package trace

import (
	"testing"

	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

func TestUsage(t *testing.T) {
	u := NewUsage()
	for i := range twoRanks {
		u.Emit(&twoRanks[i])
	}
	pes := []PEUsage{
		// Loads last from 0 to 24 ns, the messages from 24.4 to 41 ns. The sends take 4.4 and 3.6
		// ns of their own.
		{PE: 0, DMA: 40600, IPCQ: 8000},
		{PE: 1, DMA: 11958999, Math: 1, IPCQ: 2800},
	}
	if d := cmp.Diff(pes, u.PEs()); d != "" {
		t.Errorf("PEs (-want +got):\n%s", d)
	}
	// The slot of ring E is in use from 28.4 to 50 ns, that of ring W to the end, of 12 us.
	rings := []RingUsage{
		{PE: 0, Peer: 1, Dir: uint8(tl.West), Messages: 1, MaxSlots: 1, Mean: (12e6 - 24400) / 12e6},
		{PE: 0, Peer: 1, Dir: uint8(tl.East), Messages: 1, MaxSlots: 1, Mean: (50000 - 28400) / 12e6},
	}
	if d := cmp.Diff(rings, u.Rings()); d != "" {
		t.Errorf("rings (-want +got):\n%s", d)
	}
}
