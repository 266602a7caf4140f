package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/unit"
)

// Blocked is a rank that cannot continue; in a run of streams, a stream or a program of a grid.
type Blocked struct {
	Place            // the operation it is in, and since when (Time)
	Of        string // the part of the rank, where a rank has several: "stream 1", "program 3 of 8 of add on stream 1"
	Sending   bool   // waits for a free slot; otherwise for a message
	Dir       string
	Peers     []int // the rank that it waits for, or several ranks when any direction would do
	Occupancy int   // messages in the ring it waits on
	Slots     int

	// Of a wait for a control word: its name, the value that it has and the one that is waited for.
	// Peers are the ranks that could still change it. Without Want, Word describes the whole wait:
	// an event of a stream, the other launches of a group.
	Word     string
	Held     int64
	Unsigned bool   // Held has all 64 bits
	Want     string // ">= 3"
}

// StoppedAt notes where the rank was that waits. The operation is the one noted before.
func (b *Blocked) StoppedAt(p Place) {
	p.Op = b.Op
	b.Place = p
}

func (b *Blocked) String() string {
	s := b.Place.String()
	if b.Of != "" {
		s = b.Of + " of " + s
	}
	switch {
	case b.Word != "" && b.Want == "":
		s += ": waits for " + b.Word
	case b.Word != "":
		s += fmt.Sprintf(": waits for %s %s, which is %s", b.Word, b.Want, b.held())
	case b.Sending:
		s += fmt.Sprintf(": waits for a free slot at rank %s, ring %s %d/%d", joinInts(b.Peers), b.Dir, b.Occupancy, b.Slots)
	default:
		s += fmt.Sprintf(": waits for a message from rank %s, ring %s %d/%d", joinInts(b.Peers), b.Dir, b.Occupancy, b.Slots)
	}
	return strings.Replace(s, " t=", " since t=", 1)
}

func (b *Blocked) held() string {
	if b.Unsigned {
		return strconv.FormatUint(uint64(b.Held), 10)
	}
	return strconv.FormatInt(b.Held, 10)
}

// Grid is a launch on a stream that cannot start all its programs. The resident ones wait, and a
// program that has started stays until it ends.
type Grid struct {
	Rank     int
	Stream   int
	Kernel   string
	Programs int
	Resident int // at most at the same time
	Ended    int
	Waiting  int // started and blocked
}

// NeverStarted returns the number of programs that have not started.
func (g *Grid) NeverStarted() int { return g.Programs - g.Ended - g.Waiting }

func (g *Grid) String() string {
	return fmt.Sprintf("grid of %s on stream %d of rank %d: %d programs, %d resident: %d ended, %d wait, %d never started",
		g.Kernel, g.Stream, g.Rank, g.Programs, g.Resident, g.Ended, g.Waiting, g.NeverStarted())
}

// Deadlock is a launch in which nothing can happen any more though kernels have not
// ended. The same type comes from every executor.
type Deadlock struct {
	Time     unit.Time
	Timed    bool
	World    int
	Blocks   int       // of all ranks; 0: each has one
	Blocked  []Blocked // by rank
	Finished []int     // ranks whose kernel had ended
	Cycle    []int     // the shortest cycle of ranks that wait for each other, if there is one
	Missing  string    // without a cycle: the operation that no rank will perform
	Advice   string    // what to try
	Rings    []RingEnd // the ends of all rings, by rank

	// Of a run of streams: how many there were, how many of them cannot continue, and their grids
	// that have programs to start. Streams is 0 for a launch.
	Streams, Stuck int
	Grids          []Grid

	// Queues lists the tasks that ranks gave to their communication engines, by rank. It is empty
	// where the interface keeps no list.
	Queues []TaskQueue
}

// NewDeadlock finds why no rank can continue. That is the shortest cycle of the wait-for graph, or
// the first rank that waits for a rank that has finished. rings are the ends of all rings.
func NewDeadlock(world int, blocked []Blocked, rings []RingEnd) *Deadlock {
	return analyse(world, func(rank int) int { return rank }, blocked, rings)
}

// NewDeadlockOfBlocks is NewDeadlock of ranks that have several blocks: block i is one of
// ranks[i]. The ranks and peers in blocked and rings are blocks; in the result they are ranks.
func NewDeadlockOfBlocks(world int, ranks []int, blocked []Blocked, rings []RingEnd) *Deadlock {
	d := analyse(len(ranks), func(block int) int { return ranks[block] }, blocked, rings)
	d.World, d.Blocks = world, len(ranks)
	rename := func(blocks []int) {
		for i, b := range blocks {
			blocks[i] = ranks[b]
		}
	}
	rename(d.Cycle)
	for i := range blocked {
		blocked[i].Rank = ranks[blocked[i].Rank]
		rename(blocked[i].Peers)
		slices.Sort(blocked[i].Peers)
		blocked[i].Peers = slices.Compact(blocked[i].Peers)
	}
	for i := range rings {
		rings[i].Rank, rings[i].Peer = ranks[rings[i].Rank], ranks[rings[i].Peer]
	}
	rename(d.Finished)
	d.Finished = slices.DeleteFunc(slices.Compact(d.Finished), func(rank int) bool {
		return slices.ContainsFunc(blocked, func(b Blocked) bool { return b.Rank == rank })
	})
	return d
}

// analyse makes a Deadlock. rankOf returns the rank of a block, for texts.
func analyse(world int, rankOf func(int) int, blocked []Blocked, rings []RingEnd) *Deadlock {
	d := &Deadlock{World: world, Blocked: blocked, Rings: rings}
	at := make(map[int]*Blocked, len(blocked))
	for i := range blocked {
		at[blocked[i].Rank] = &blocked[i]
	}
	for r := range world {
		if at[r] == nil {
			d.Finished = append(d.Finished, r)
		}
	}
	var lost *Blocked
	d.Missing, lost = missing(blocked, func(block int) bool { return at[block] != nil }, rankOf)
	if lost == nil {
		d.Cycle = shortestCycle(blocked, at)
	}
	d.Advice = advice(d, lost, at)
	return d
}

// NewStall finds out why streams cannot continue. It gets how many there were and how many are
// left. blocked lists, by rank, the blocked programs and the streams that wait for anything but
// their programs. Peers are ranks that still have something to do.
func NewStall(streams, stuck int, blocked []Blocked, grids []Grid) *Deadlock {
	d := &Deadlock{Streams: streams, Stuck: stuck, Blocked: blocked, Grids: grids}
	d.Missing, _ = missing(blocked, func(int) bool { return true }, func(rank int) int { return rank })
	switch {
	case len(grids) > 0:
		g := &grids[0]
		d.Advice = fmt.Sprintf("the programs of %s wait for some that cannot start before they end: launch at most %d programs, or let %d be resident (pe.programs is the most)",
			g.Kernel, g.Resident, g.Programs)
	case d.Missing == "" && lacksRecord(blocked):
		d.Advice = "record every event on a stream that does not wait for the one that awaits it"
	default:
		d.Advice = wordAdvice(blocked)
	}
	return d
}

func lacksRecord(blocked []Blocked) bool {
	return !slices.ContainsFunc(blocked, func(b Blocked) bool { return b.Word == "" || b.Want != "" })
}

// missing describes the first wait that no running rank can end, and returns it: every peer that it
// waits for has finished. rankOf returns the rank of a block.
func missing(blocked []Blocked, lives func(block int) bool, rankOf func(int) int) (string, *Blocked) {
	for i := range blocked {
		b := &blocked[i]
		if slices.ContainsFunc(b.Peers, lives) {
			continue
		}
		rank, peers := rankOf(b.Rank), make([]int, len(b.Peers))
		for k, p := range b.Peers {
			peers[k] = rankOf(p)
		}
		switch {
		case b.Word != "" && b.Want == "":
			continue
		case b.Word != "" && len(b.Peers) > 0:
			return fmt.Sprintf("missing %s: rank %s finished without the %[1]s that rank %[3]d waits for", b.Op,
				joinInts(peers), rank), b
		case b.Word != "":
			return fmt.Sprintf("missing notification: no agent is left that could change %s, which rank %d waits for in %s",
					b.Word, rank, b.Op),
				b
		case len(b.Peers) == 0:
			return fmt.Sprintf("rank %d waits in %s, but no ring leads to it", rank, b.Op), b
		}
		verb, noun := "finished without the send", "send"
		if b.Sending {
			verb, noun = "finished without the receive", "receive"
		}
		return fmt.Sprintf("missing %s: rank %s %s that rank %d waits for in %s", noun, joinInts(peers), verb, rank, b.Op), b
	}
	return "", nil
}

// Extent describes how much of the launch, or of the run of streams, cannot continue.
func (d *Deadlock) Extent() string {
	switch {
	case d.Streams > 0:
		return fmt.Sprintf("%d of %d streams cannot go on", d.Stuck, d.Streams)
	case d.Blocks > 0:
		return fmt.Sprintf("%d of %d blocks of %d ranks cannot go on", len(d.Blocked), d.Blocks, d.World)
	}
	return fmt.Sprintf("%d of %d ranks cannot go on", len(d.Blocked), d.World)
}

func (d *Deadlock) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock: %s", d.Extent())
	if d.Timed {
		fmt.Fprintf(&b, ", t=%v", d.Time)
	}
	if len(d.Cycle) > 0 {
		fmt.Fprintf(&b, "\n  cycle: %s (each waits for the next)", joinArrow(d.Cycle))
	}
	if d.Missing != "" {
		fmt.Fprintf(&b, "\n  %s", d.Missing)
	}
	if d.Advice != "" {
		fmt.Fprintf(&b, "\n  try: %s", d.Advice)
	}
	const most = 16
	for i := range d.Grids[:min(most, len(d.Grids))] {
		fmt.Fprintf(&b, "\n  %v", &d.Grids[i])
	}
	for i := range d.Blocked[:min(most, len(d.Blocked))] {
		fmt.Fprintf(&b, "\n  %v", &d.Blocked[i])
	}
	if n := len(d.Blocked) - most; n > 0 {
		fmt.Fprintf(&b, "\n  ... and %d more", n)
	}
	if n := len(d.Finished); n > 0 {
		fmt.Fprintf(&b, "\n  finished: rank %s", joinInts(d.Finished[:min(n, most)]))
		if n > most {
			fmt.Fprintf(&b, " and %d more", n-most)
		}
	}
	b.WriteString(queues(d.Queues))
	if d.showsRings() {
		const ranks = 32
		fmt.Fprintf(&b, "\n%s", Pointers(d.Rings, ranks))
	}
	return b.String()
}

// showsRings reports whether the ends of rings belong in the report: a rank waits for a ring, or
// rings were used.
func (d *Deadlock) showsRings() bool {
	return len(d.Rings) > 0 && (slices.ContainsFunc(d.Blocked, func(b Blocked) bool { return b.Word == "" }) ||
		slices.ContainsFunc(d.Rings, func(e RingEnd) bool { return e.Mine != 0 || e.Cached != 0 }))
}

func joinInts(v []int) string {
	if len(v) == 0 {
		return "none"
	}
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = fmt.Sprint(x)
	}
	return strings.Join(s, ", ")
}

func joinArrow(v []int) string {
	const most = 12
	s := make([]string, 0, most+2)
	for i, x := range v {
		if i == most && len(v) > most+1 {
			s = append(s, "...", fmt.Sprint(v[len(v)-1]))
			break
		}
		s = append(s, fmt.Sprint(x))
	}
	return strings.Join(append(s, fmt.Sprint(v[0])), " -> ")
}
