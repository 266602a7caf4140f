package fault

import (
	"fmt"
	"strings"
)

// RingEnd is one end of an IPCQ ring with the two pointers that it keeps. Pointers count
// slot messages since the start of the launch.
type RingEnd struct {
	Rank    int
	Peer    int    // rank at the other end
	Dir     string // what this end calls it
	Sending bool
	Mine    uint32 // my_head: messages sent; my_tail: slots given back
	Cached  uint32 // peer_tail_cache: slots known to be back; peer_head_cache: messages known to be there
	Pending string // what a sending end still has to send of its payload, or empty
}

func (e *RingEnd) String() string {
	if !e.Sending {
		return fmt.Sprintf("rank %d from %s (rank %d): my_tail=%d peer_head_cache=%d", e.Rank, e.Dir, e.Peer, e.Mine, e.Cached)
	}
	s := fmt.Sprintf("rank %d to %s (rank %d): my_head=%d peer_tail_cache=%d", e.Rank, e.Dir, e.Peer, e.Mine, e.Cached)
	if e.Pending != "" {
		s += ", " + e.Pending
	}
	return s
}

// Pointers returns the dump of ring ends: a line each, for the first ranks of the list; most
// of 0 means all.
func Pointers(ends []RingEnd, most int) string {
	if len(ends) == 0 {
		return "  no rings"
	}
	var b strings.Builder
	b.WriteString("  rings (since the start; head: messages sent; tail: slots given back; cache: what this end knows of the peer):")
	shown, last := 0, -1
	for i := range ends {
		if ends[i].Rank != last {
			last = ends[i].Rank
			if shown++; most > 0 && shown > most {
				fmt.Fprintf(&b, "\n    ... and the rings of more ranks")
				break
			}
		}
		fmt.Fprintf(&b, "\n    %v", &ends[i])
	}
	return b.String()
}
