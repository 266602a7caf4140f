package judge

import (
	"fmt"
	"strings"

	"kernbench/frontend/plan"
)

// Waiter is a block of a deadlock: its step, what it waits for, and the block that must act.
type Waiter struct {
	Rank    int    `json:"rank"`
	Block   int    `json:"tb"`
	Step    int    `json:"step"`
	Op      string `json:"op"`
	Line    int    `json:"line,omitempty"`
	Reason  string `json:"reason"`
	Channel string `json:"channel,omitempty"`
	Text    string `json:"text"`

	Index int `json:"-"` // of the block in its rank
	To    int `json:"-"` // rank of the block that must move first, or None
}

// Reasons of a Waiter.
const (
	NoData     = "no data"
	NoSlot     = "no slot"
	Dependency = "dependency never published"
	NoSignal   = "no signal"
)

// Stuck is a deadlock: a chain of blocks, each of which waits for the next. The last waits for the
// first if Cycle is set, else for a block that has ended.
type Stuck struct {
	Blocked int      `json:"blocked"` // blocks that did not end
	Cycle   bool     `json:"cycle"`
	Chain   []Waiter `json:"chain"`
}

func (s *Stuck) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d blocks wait for ever: ", s.Blocked)
	for i, w := range s.Chain {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(w.Text)
	}
	if s.Cycle {
		b.WriteString("; which closes the cycle")
	}
	return b.String()
}

// stuck returns the deadlock of a run in which no block can move, or nil.
func (r *run) stuck() *Stuck {
	if r.done == r.finishable() {
		return nil
	}
	st := &Stuck{}
	start := int32(-1)
	for b := range r.blocks {
		if r.blocks[b].at < len(r.blocks[b].steps) {
			st.Blocked++
			if start < 0 {
				start = int32(b)
			}
		}
	}
	// Each blocked block waits for one other, so the path ends in a cycle or at a block that is
	// done.
	seen := map[int32]int{}
	var path []int32
	b := start
	for {
		if at, twice := seen[b]; twice {
			path, st.Cycle = path[at:], true
			break
		}
		seen[b] = len(path)
		path = append(path, b)
		next := r.waitsFor(b)
		if next < 0 || r.blocks[next].at >= len(r.blocks[next].steps) {
			break
		}
		b = next
	}
	for _, b := range path {
		st.Chain = append(st.Chain, r.waiter(b))
	}
	return st
}

// Blocked carries out the steps of a plan without data, and returns all blocks that do not end.
func Blocked(p *plan.Plan) (out []Waiter) {
	r := newRun(p)
	r.all()
	for b := range r.blocks {
		if r.blocks[b].at < len(r.blocks[b].steps) {
			out = append(out, r.waiter(int32(b)))
		}
	}
	return out
}

// finishable returns the number of blocks that have steps.
func (r *run) finishable() (n int) {
	for b := range r.blocks {
		if len(r.blocks[b].steps) > 0 {
			n++
		}
	}
	return n
}

// waitsFor returns the block that must move before b can, or -1.
func (r *run) waitsFor(b int32) int32 {
	bl := &r.blocks[b]
	w := r.missing(b, &bl.steps[bl.at])
	switch w.why {
	case dependent:
		return int32(w.of)
	case noData:
		return r.user(func(_ int32, s *plan.Step) bool { return s.Send == w.of }, r.plan.Channels[w.of].From)
	case noSlot:
		return r.user(func(_ int32, s *plan.Step) bool { return s.Take == w.of }, r.plan.Channels[w.of].To)
	case noUnits:
		return r.user(func(_ int32, s *plan.Step) bool { return signals(s, w.of) }, plan.None)
	case noPacket:
		launch := bl.steps[bl.at].Launch
		return r.user(func(b int32, s *plan.Step) bool { return r.writes(s, int(r.blocks[b].rank), w.cell, launch) }, plan.None)
	}
	return -1
}

func signals(s *plan.Step, counter int) bool {
	for _, c := range s.Signal {
		if c.Counter == counter {
			return true
		}
	}
	return false
}

// user returns a block with a pending step of some kind, else one with a completed step; -1 if
// there is none. It searches the blocks of one rank, or of all ranks.
func (r *run) user(is func(int32, *plan.Step) bool, rank int) int32 {
	had := int32(-1)
	for b := range r.blocks {
		bl := &r.blocks[b]
		if rank != plan.None && int(bl.rank) != rank {
			continue
		}
		for i := range bl.steps {
			if is(int32(b), &bl.steps[i]) {
				if i >= bl.at {
					return int32(b)
				}
				had = int32(b)
			}
		}
	}
	return had
}

// waiter describes a blocked block.
func (r *run) waiter(b int32) Waiter {
	bl := &r.blocks[b]
	s := &bl.steps[bl.at]
	out := Waiter{Rank: int(bl.rank), Block: r.plan.Ranks[bl.rank].Blocks[bl.index].ID, Step: s.Index, Op: s.Op,
		Line: s.Line, Index: int(bl.index), To: plan.None}
	w := r.missing(b, s)
	hint := ""
	if to := r.waitsFor(b); to >= 0 {
		out.To = int(r.blocks[to].rank)
		hint = r.state(to) + " would "
	} else {
		hint = "no block would "
	}
	switch w.why {
	case dependent:
		out.Reason = Dependency
		at := &r.blocks[w.of]
		out.Text = fmt.Sprintf("waits for step %d of tb %d: %s has not published it", w.dep.Index,
			r.plan.Ranks[at.rank].Blocks[at.index].ID, r.state(int32(w.of)))
	case noData:
		out.Reason, out.Channel = NoData, r.plan.ChannelName(w.of)
		out.Text = fmt.Sprintf("no data on channel %s, which %ssend", out.Channel, hint)
	case noSlot:
		out.Reason, out.Channel = NoSlot, r.plan.ChannelName(w.of)
		out.Text = fmt.Sprintf("no slot on channel %s: all %d are full, and %sempty one", out.Channel, r.plan.Channels[w.of].Depth, hint)
	case noUnits:
		out.Reason, out.Channel = NoSignal, r.plan.Counters[w.of].Name
		out.Text = fmt.Sprintf("%s has %d of %d signals, which %sgive", out.Channel, w.has, w.out, hint)
	case noPacket:
		out.Reason, out.Channel = "no packet", r.plan.SpanName(plan.None, w.cell)
		out.Text = fmt.Sprintf("packet %s is not written, which %swrite", out.Channel, hint)
	}
	out.Text = r.where(b) + ": " + out.Text
	return out
}

// state describes the position of a block.
func (r *run) state(b int32) string {
	bl := &r.blocks[b]
	pb := &r.plan.Ranks[bl.rank].Blocks[bl.index]
	if bl.at >= len(bl.steps) {
		return fmt.Sprintf("rank %d %s (at its end)", bl.rank, pb.Name())
	}
	return fmt.Sprintf("rank %d %s (at step %d)", bl.rank, pb.Name(), bl.steps[bl.at].Index)
}
