package fault

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/unit"
)

// Blocked is one rank that cannot go on.
type Blocked struct {
	Place          // the operation it is in, and since when (Time)
	Sending   bool // waits for a free slot; otherwise for a message
	Dir       string
	Peers     []int // whom it waits for: one rank, or several when any direction would do
	Occupancy int   // messages in the ring it waits on
	Slots     int

	// Of a wait for a control word, or an event of a stream: what it is called, what it holds
	// and what it should. Peers are those who could still change it.
	Word string
	Held int64
	Want string // ">= 3"
}

func (b *Blocked) String() string {
	if b.Word != "" {
		s := fmt.Sprintf("%v: waits for %s %s, which is %d", b.Place, b.Word, b.Want, b.Held)
		return strings.Replace(s, " t=", " since t=", 1)
	}
	what := "a message from"
	if b.Sending {
		what = "a free slot at"
	}
	s := fmt.Sprintf("%v: waits for %s rank %s, ring %s %d/%d", b.Place, what, joinInts(b.Peers), b.Dir, b.Occupancy, b.Slots)
	return strings.Replace(s, " t=", " since t=", 1)
}

// Deadlock is a launch in which nothing can happen any more though kernels have not
// ended. The same type comes from every executor.
type Deadlock struct {
	Time     unit.Time
	Timed    bool
	World    int
	Blocked  []Blocked // by rank
	Finished []int     // ranks whose kernel had ended
	Cycle    []int     // the shortest cycle of ranks that wait for each other, if there is one
	Missing  string    // without a cycle: the operation that nobody will perform
	Advice   string    // what to try
	Rings    []RingEnd // the ends of all rings, by rank
}

// NewDeadlock works out why nobody can go on: the shortest cycle of the wait-for graph,
// or the first rank that waits for one that has finished.
func NewDeadlock(world int, blocked []Blocked) *Deadlock {
	d := &Deadlock{World: world, Blocked: blocked}
	at := make(map[int]*Blocked, len(blocked))
	for i := range blocked {
		at[blocked[i].Rank] = &blocked[i]
	}
	for r := range world {
		if at[r] == nil {
			d.Finished = append(d.Finished, r)
		}
	}
	d.Missing = missing(blocked, at)
	if d.Missing == "" {
		d.Cycle = shortestCycle(blocked, at)
	}
	d.Advice = advice(d, at)
	return d
}

// missing names the first wait that no living rank can end: every peer it waits for has
// finished.
func missing(blocked []Blocked, at map[int]*Blocked) string {
	for i := range blocked {
		b := &blocked[i]
		if slices.ContainsFunc(b.Peers, func(p int) bool { return at[p] != nil }) {
			continue
		}
		if len(b.Peers) == 0 {
			return fmt.Sprintf("rank %d waits in %s, but no ring leads to it", b.Rank, b.Op)
		}
		verb, noun := "finished without the send", "send"
		if b.Sending {
			verb, noun = "finished without the receive", "receive"
		}
		return fmt.Sprintf("missing %s: rank %s %s that rank %d waits for in %s", noun, joinInts(b.Peers), verb, b.Rank, b.Op)
	}
	return ""
}

// shortestCycle is a breadth-first search from each blocked rank; ties go to the lowest
// first rank. Waits that any of several peers could end count as edges to each.
func shortestCycle(blocked []Blocked, at map[int]*Blocked) []int {
	if best, ok := disjointCycles(blocked, at); ok {
		return best
	}
	var best []int
	from := make(map[int]int, len(blocked))
	for i := range blocked {
		start := blocked[i].Rank
		clear(from)
		queue, depth := []int{start}, map[int]int{start: 1}
		for len(queue) > 0 {
			r := queue[0]
			queue = queue[1:]
			if best != nil && depth[r] >= len(best) {
				break
			}
			for _, p := range at[r].Peers {
				if p == start {
					best = path(from, start, r)
					queue = nil
					break
				}
				if _, seen := depth[p]; !seen && at[p] != nil {
					depth[p], from[p] = depth[r]+1, r
					queue = append(queue, p)
				}
			}
		}
		if len(best) == 1 {
			break // cannot get shorter
		}
	}
	return best
}

// disjointCycles handles waits for exactly one peer each, as on a hung ring, in one walk:
// there no two cycles share a rank. ok is false for other graphs.
func disjointCycles(blocked []Blocked, at map[int]*Blocked) (best []int, ok bool) {
	for i := range blocked {
		if len(blocked[i].Peers) != 1 {
			return nil, false
		}
	}
	walk := make(map[int]int, len(blocked)) // the walk in which a rank was met
	for i := range blocked {
		var trail []int
		r := blocked[i].Rank
		for at[r] != nil && walk[r] == 0 {
			walk[r] = i + 1
			trail = append(trail, r)
			r = at[r].Peers[0]
		}
		if at[r] == nil || walk[r] != i+1 {
			continue
		}
		cycle := lowestFirst(trail[slices.Index(trail, r):])
		if best == nil || len(cycle) < len(best) || len(cycle) == len(best) && cycle[0] < best[0] {
			best = cycle
		}
	}
	return best, true
}

// lowestFirst turns a cycle so that it begins with its lowest rank.
func lowestFirst(c []int) []int {
	k := slices.Index(c, slices.Min(c))
	return append(slices.Clone(c[k:]), c[:k]...)
}

func path(from map[int]int, start, end int) []int {
	p := []int{end}
	for r := end; r != start; r = from[r] {
		p = append(p, from[r])
	}
	slices.Reverse(p)
	return p
}

func advice(d *Deadlock, at map[int]*Blocked) string {
	if d.Missing != "" {
		return "give every receive its send and every send its receive, on every rank and in every branch"
	}
	if len(d.Cycle) == 0 {
		return ""
	}
	sending, slots := 0, 0
	for _, r := range d.Cycle {
		if at[r].Sending {
			sending++
			slots = at[r].Slots
		}
	}
	switch {
	case sending == 0:
		return "every rank of the cycle receives before it sends: let one of them send first"
	case slots == 1:
		return "with n_slots: 1 a rank that forwards a received slot can never send it on: try n_slots: 2"
	default:
		return fmt.Sprintf("the ranks of the cycle wait for free slots: receive earlier, or try n_slots: %d", slots*2)
	}
}

func (d *Deadlock) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock: %d of %d ranks cannot go on", len(d.Blocked), d.World)
	if d.Timed {
		fmt.Fprintf(&b, ", t=%v", d.Time)
	}
	if len(d.Cycle) > 0 {
		fmt.Fprintf(&b, "\n  cycle: %s waits for itself", joinArrow(d.Cycle))
	}
	if d.Missing != "" {
		fmt.Fprintf(&b, "\n  %s", d.Missing)
	}
	if d.Advice != "" {
		fmt.Fprintf(&b, "\n  try: %s", d.Advice)
	}
	const most = 16
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
	if len(d.Rings) > 0 {
		const ranks = 32
		fmt.Fprintf(&b, "\n%s", Pointers(d.Rings, ranks))
	}
	return b.String()
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
