package tl

import "kernbench/tl/frames"

// lines keeps source lines, so that a fault, a hazard or a record can name the kernel's call.
type lines struct {
	now   *frames.Call           // nil: none of the innermost frames is a kernel's
	taken latest                 // receives, by ring
	sent  latest                 // sends, by ring
	ended map[taken]ending       // lifetimes that an undirected receive ended
	posts map[taken]*frames.Call // announced receives that have not been waited for
}

func newLines() *lines { return &lines{ended: map[taken]ending{}, posts: map[taken]*frames.Call{}} }

// forget clears all lines, for another rank.
func (l *lines) forget() {
	l.now = nil
	l.taken.forget()
	l.sent.forget()
	clear(l.ended)
	clear(l.posts)
}

type ending struct {
	op   string
	call *frames.Call
}

type taken struct {
	port int
	seq  uint32
}

// recent is the number of calls per ring that are kept. Earlier ones are named by number only.
const recent = 64

// latest are the latest calls of each ring.
type latest []ringCalls

type ringCalls struct {
	calls []*frames.Call // that with number n at n mod recent
	had   uint32
}

func (l *latest) forget() {
	for i := range *l {
		r := &(*l)[i]
		r.calls, r.had = r.calls[:0], 0
	}
}

// note adds a call.
func (l *latest) note(port int, c *frames.Call) {
	for len(*l) <= port {
		*l = append(*l, ringCalls{})
	}
	r := &(*l)[port]
	if r.had < recent {
		r.calls = append(r.calls, c)
	} else {
		r.calls[r.had%recent] = c
	}
	r.had++
}

// at returns the line of call number seq of a ring, or "".
func (l latest) at(port int, seq uint32) string {
	if port >= len(l) || seq >= l[port].had || l[port].had-seq > recent {
		return ""
	}
	return l[port].calls[seq%recent].Text()
}

// take notes a receive. Receives are noted in sequence.
func (l *lines) take(port int, seq uint32) {
	l.taken.note(port, l.now)
	delete(l.posts, taken{port, seq})
}

func (l *lines) end(port int, seq uint32, e ending) {
	l.ended[taken{port, seq}] = e
	delete(l.ended, taken{port, seq - recent})
}
