package race

import "slices"

// An agent that waits for each notification of another one sees the effects on their link one by
// one. This file notes these effects as seen, in place of a cover of the link for each wait.
// Invariant: the agent knows of the completion of each effect on a link up to seenLink.upTo that is
// not gone. The effect names the agent, or the link has a cover. So another cover up to there adds
// nothing. If a clock knows less than by the cover, there is a hazard. Then another pass decides,
// which has all covers: see signals.go.

// seenLink is a link and the number up to which an agent has seen its effects one by one.
type seenLink struct {
	on   linkID
	upTo uint32
}

// seenLinks are the links on which an agent has seen effects last.
type seenLinks struct {
	links [2]seenLink
	old   uint8 // index of the one that is replaced next
}

// of returns the entry of a link, a new one if there is none.
func (s *seenLinks) of(on linkID) *seenLink {
	for i := range s.links {
		if s.links[i].on == on {
			return &s.links[i]
		}
	}
	l := &s.links[s.old]
	s.old = 1 - s.old
	*l = seenLink{on: on}
	return l
}

// covered notes that the agent gets a cover of the link.
func (s *seenLink) covered(upTo seqs) { s.upTo = max(s.upTo, slices.Min(upTo[:])) }

// mostUnseen bounds the effects that are noted at a wait.
const mostUnseen = 4

// oneByOne notes that an agent sees a notification e on a link, and the put before it if it is the
// signal of one. upTo is what the wait for e proves. oneByOne adds the earlier effects on the link
// that the agent has not seen to those that it is sure of. It returns false, and adds none, if they
// are too many or not proven.
func (d *Detector) oneByOne(seen *seenLinks, on linkID, e, put *event, upTo seqs, y *knowledge) bool {
	from := &d.agents[e.agent]
	if e.joint || len(d.facts.later) > 0 || !d.sharing(from) {
		return false
	}
	first := e
	if put != nil {
		first = put
	}
	s := seen.of(on)
	if n := len(from.linked); n > 0 && from.linked[n-1].seq > s.upTo { // it may have accesses on the link
		s.covered(upTo)
		return false
	}
	sure := len(y.sure)
	for i := d.placeIn(first.id).lprev; i != 0; i = d.placeIn(i).lprev {
		x := d.event(i)
		if x.seq <= s.upTo {
			break
		}
		if x.seq > upTo[x.class] || len(y.sure)-sure == mostUnseen {
			y.sure = y.sure[:sure]
			s.covered(upTo)
			return false
		}
		y.sure = append(y.sure, x)
	}
	s.upTo = e.seq
	return true
}
