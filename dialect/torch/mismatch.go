package torch

import (
	"fmt"
	"strings"
)

// Called is the call of one worker, and its place.
type Called struct {
	Rank int
	What string // AllReduce(sum, 1 × 32 f16)
	Line string // file:line of the program
}

func (c Called) String() string {
	return fmt.Sprintf("rank %d called %s at %s", c.Rank, c.What, c.Line)
}

// Mismatch is a collective that workers called differently: another one, another
// operation, type or shape.
type Mismatch struct{ Calls []Called }

func (e *Mismatch) Error() string {
	return "workers called different collectives: " + listCalls(e.Calls)
}

// Missing is a collective that some workers wait in while others have ended.
type Missing struct {
	Waiting  []Called
	Finished []int
}

func (e *Missing) Error() string {
	ranks := strings.Trim(fmt.Sprint(e.Finished), "[]")
	return fmt.Sprintf("workers wait for ranks that have returned (%s): %s", ranks, listCalls(e.Waiting))
}

// listCalls prints calls; of many similar ones only the first is listed.
func listCalls(calls []Called) string {
	var parts []string
	count := map[string]int{}
	for _, c := range calls {
		key := c.What + c.Line
		if count[key]++; count[key] == 1 {
			parts = append(parts, c.String())
		}
	}
	if more := len(calls) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more that called one of these", more))
	}
	return strings.Join(parts, "; ")
}

// agree reports whether all workers wait for the same collective.
func (s *scheduler) agree() error {
	var waiting []Called
	var finished []int
	same := true
	for rank, w := range s.workers {
		if w.done {
			finished = append(finished, rank)
			continue
		}
		waiting = append(waiting, w.pending.call)
		same = same && w.pending.call.What == waiting[0].What
	}
	switch {
	case len(finished) > 0:
		return &Missing{Waiting: waiting, Finished: finished}
	case !same:
		return &Mismatch{Calls: waiting}
	}
	return nil
}
