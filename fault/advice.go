package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// advice returns what to try. lost is the wait that no rank can end, or nil.
func advice(d *Deadlock, lost *Blocked, at map[int]*Blocked) string {
	switch {
	case lost != nil && lost.Word != "" && len(lost.Peers) > 0:
		return "let every member of a team come to each of its syncs and barriers, on every rank and in every branch"
	case lost != nil && lost.Word == "":
		return "give every receive its send and every send its receive, on every rank and in every branch"
	case len(d.Cycle) == 0:
		return wordAdvice(d.Blocked)
	}
	sending, slots, waiting, notified := 0, 0, 0, false
	for _, r := range d.Cycle {
		if at[r].Sending {
			sending++
			slots = at[r].Slots
		}
		if at[r].Word != "" {
			waiting++
			notified = notified || at[r].Held != 0
		}
	}
	switch {
	case waiting == len(d.Cycle) && !notified:
		return "every rank of the cycle waits before it notifies: let one of them notify first"
	case waiting > 0:
		return wordAdvice(d.Blocked)
	case sending == 0 && d.cycleHasSent(at):
		return "every rank of the cycle has one receive more than messages sent to it: give every receive its send"
	case sending == 0 && d.cycleSendsElsewhere():
		return "the ranks of the cycle have sent, but in other directions than the receives wait for: " +
			"on a ring, what is sent to E is received from W"
	case sending == 0:
		return "every rank of the cycle receives before it sends: let one of them send first, or drop the receives without a matching send"
	case slots == 1:
		return "set n_slots: 2; with one slot, each rank of the cycle waits to send while its own slot is occupied"
	default:
		return fmt.Sprintf("the ranks of the cycle wait for free slots: receive earlier, or give the rings more than %d slots (n_slots)", slots)
	}
}

// cycleHasSent reports whether each rank of the cycle has sent to the one that waits for it, by the
// ring that it waits for.
func (d *Deadlock) cycleHasSent(at map[int]*Blocked) bool {
	for i, r := range d.Cycle {
		from := d.Cycle[(i+1)%len(d.Cycle)]
		sent := slices.ContainsFunc(d.Rings, func(e RingEnd) bool { return e.Sending && e.Rank == from && e.Peer == r && e.Mine > 0 })
		other := slices.ContainsFunc(d.Rings, func(e RingEnd) bool {
			return !e.Sending && e.Rank == r && e.Peer == from && e.Dir == at[r].Dir && e.Cached == 0
		})
		if !sent || other {
			return false
		}
	}
	return true
}

// cycleSendsElsewhere reports whether each rank of the cycle has sent something.
func (d *Deadlock) cycleSendsElsewhere() bool {
	for _, r := range d.Cycle {
		if !slices.ContainsFunc(d.Rings, func(e RingEnd) bool { return e.Sending && e.Rank == r && e.Mine > 0 }) {
			return false
		}
	}
	return true
}

// wordAdvice returns what to try when words are waited for, or empty.
func wordAdvice(blocked []Blocked) string {
	any := false
	for i := range blocked {
		b := &blocked[i]
		if b.Word == "" || b.Want == "" {
			continue
		}
		any = true
		if want, ok := strings.CutPrefix(b.Want, "== "); ok && b.passed(want) {
			return fmt.Sprintf("%s may have passed %s before the wait read it: wait with >=, or notify again only when the wait is over",
				b.Word, want)
		}
	}
	if !any {
		return ""
	}
	return "give every wait the notifications that satisfy it: the right member, word and value, on every rank and in every branch"
}

// passed reports whether the word holds more than what it should equal.
func (b *Blocked) passed(want string) bool {
	if b.Unsigned {
		v, err := strconv.ParseUint(want, 10, 64)
		return err == nil && uint64(b.Held) > v
	}
	v, err := strconv.ParseInt(want, 10, 64)
	return err == nil && b.Held > v
}
