package judge

import (
	"math"
	"slices"

	"kernbench/frontend/plan"
)

// run is the state of one execution.
type run struct {
	plan   *plan.Plan
	first  []int     // of each rank: number of its first block, counted through all ranks
	blocks []block   // of all ranks
	chans  []channel // as plan.Channels
	counts []counter // as plan.Counters
	ready  []int32   // blocks to try; the last first
	data   *data     // nil: only the order of steps is of interest
	order  *order    // nil: the order of steps is not recorded
	done   int       // blocks at their end

	packets [][]packets // of each memory of each rank; nil if the plan has none

	// greedy means that each block runs as far as it can before the next one runs. Otherwise all
	// blocks run step by step in turn. Both orders are possible.
	greedy bool

	// strict means that relaxed signals order only operations before the call.
	strict bool
	begun  []int32 // of each rank: the event with which its present call began
}

// packets are the flags of a memory's cells, and the blocks that wait for them.
type packets struct {
	flags   []flag
	waiters []int32
}

// flag is the call, plus 1, in which a cell was written as a packet, and the event that wrote it.
type flag struct{ launch, event int32 }

// block is the state of a block.
type block struct {
	rank, index int32 // where it is in the plan
	steps       []plan.Step
	at          int
	queued      bool
	published   int // greatest Index published; -1: none
	publisher   []publication
	waiters     []int32 // blocks that wait for it to publish
}

// publication is an event that published an Index.
type publication struct {
	index int
	event int32
}

type channel struct {
	queue            []message
	senders, takers  []int32 // blocks that wait for space, and for a message
	sent, taken, max int
}

type message struct {
	values []value
	event  int32 // event that sent it
}

type counter struct {
	units   []unit
	waiters []int32
}

// unit is one unit of a counter. It has the event that added it, and the event with which the call
// of that rank began. A relaxed wait is ordered after the latter only. Units at the start have
// neither.
type unit struct {
	event, begun int32
	relaxed      bool
}

// noEvent stands for the state before the run.
const noEvent = -1

func newRun(p *plan.Plan) *run {
	r := &run{plan: p, chans: make([]channel, len(p.Channels)), counts: make([]counter, len(p.Counters))}
	for rank := range p.Ranks {
		r.first = append(r.first, len(r.blocks))
		for i := range p.Ranks[rank].Blocks {
			r.blocks = append(r.blocks, block{rank: int32(rank), index: int32(i), steps: p.Ranks[rank].Blocks[i].Steps, published: -1})
		}
	}
	for i, c := range p.Counters {
		for range c.Start {
			r.counts[i].units = append(r.counts[i].units, unit{event: noEvent, begun: noEvent})
		}
	}
	r.begun = make([]int32, len(p.Ranks))
	for rank := range r.begun {
		r.begun[rank] = noEvent
	}
	if hasPackets(p) {
		r.packets = make([][]packets, len(p.Ranks))
		for rank := range p.Ranks {
			for _, cells := range p.Ranks[rank].Memories {
				r.packets[rank] = append(r.packets[rank], packets{flags: make([]flag, cells)})
			}
		}
	}
	return r
}

// all runs every block as far as possible.
func (r *run) all() {
	for b := len(r.blocks) - 1; b >= 0; b-- {
		r.wake(int32(b))
	}
	if !r.greedy {
		slices.Reverse(r.ready)
		for len(r.ready) > 0 {
			round := r.ready
			r.ready = nil
			for _, b := range round {
				r.blocks[b].queued = false
				if r.advance(b, 1) {
					r.wake(b)
				}
			}
		}
		return
	}
	for len(r.ready) > 0 {
		b := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		r.blocks[b].queued = false
		r.advance(b, math.MaxInt)
	}
}

func (r *run) wake(b int32) {
	if !r.blocks[b].queued {
		r.blocks[b].queued = true
		r.ready = append(r.ready, b)
	}
}

func (r *run) wakeAll(waiters *[]int32) {
	for _, b := range *waiters {
		r.wake(b)
	}
	*waiters = (*waiters)[:0]
}

// advance performs at most n steps of a block, until one has to wait. It reports whether the block
// may continue at once.
func (r *run) advance(b int32, n int) bool {
	bl := &r.blocks[b]
	for ; bl.at < len(bl.steps) && n > 0; n-- {
		s := &bl.steps[bl.at]
		if w := r.missing(b, s); w.why != nothing {
			r.waitFor(b, w)
			return false
		}
		r.perform(b, s)
		bl.at++
		if bl.at == len(bl.steps) {
			r.done++
		}
	}
	return bl.at < len(bl.steps)
}

// reason is why a step cannot continue.
type reason uint8

const (
	nothing   reason = iota
	noData           // its channel has no message
	noSlot           // its channel is full
	dependent        // another block has not published
	noUnits          // a counter has too few units
	noPacket         // a cell was not written as a packet
)

// wait is a reason with its channel, block or counter.
type wait struct {
	why      reason
	of       int // channel, block of all, counter
	dep      plan.Dep
	has, out int       // units
	cell     plan.Span // of noPacket: one cell, and whose it is
}

// missing returns the first reason for which a step has to wait.
func (r *run) missing(b int32, s *plan.Step) wait {
	base := r.first[r.blocks[b].rank]
	for _, d := range s.After {
		if r.blocks[base+d.Block].published < d.Index {
			return wait{why: dependent, of: base + d.Block, dep: d}
		}
	}
	for _, c := range s.Wait {
		if has := len(r.counts[c.Counter].units); has < c.N {
			return wait{why: noUnits, of: c.Counter, has: has, out: c.N}
		}
	}
	if r.packets != nil {
		for _, span := range s.Src {
			if span.Packet {
				if cell, ok := r.unwritten(b, s, span); ok {
					return wait{why: noPacket, cell: cell}
				}
			}
		}
	}
	if s.Take != plan.None && len(r.chans[s.Take].queue) == 0 {
		return wait{why: noData, of: s.Take}
	}
	if s.Send != plan.None {
		if depth := r.plan.Channels[s.Send].Depth; depth > 0 && len(r.chans[s.Send].queue) >= depth {
			return wait{why: noSlot, of: s.Send}
		}
	}
	return wait{}
}

func (r *run) waitFor(b int32, w wait) {
	var list *[]int32
	switch w.why {
	case noData:
		list = &r.chans[w.of].takers
	case noSlot:
		list = &r.chans[w.of].senders
	case dependent:
		list = &r.blocks[w.of].waiters
	case noUnits:
		list = &r.counts[w.of].waiters
	case noPacket:
		list = &r.packetsOf(w.cell.Rank, w.cell).waiters
	}
	*list = append(*list, b)
}

// perform performs a step that need not wait.
func (r *run) perform(b int32, s *plan.Step) {
	bl := &r.blocks[b]
	var event int32 = noEvent
	if r.order != nil {
		event = r.order.step(b)
		base := r.first[bl.rank]
		for _, d := range s.After {
			r.order.after(r.blocks[base+d.Block].publishedBy(d.Index))
		}
	}
	for _, c := range s.Wait {
		units := r.counts[c.Counter].units
		if r.order != nil {
			for _, u := range units[:c.N] {
				if r.strict && (u.relaxed || s.Relaxed) {
					r.order.after(u.begun)
				} else {
					r.order.after(u.event)
				}
			}
		}
		r.counts[c.Counter].units = units[c.N:]
	}
	var taken message
	if s.Take != plan.None {
		c := &r.chans[s.Take]
		taken = c.queue[0]
		c.queue[0] = message{}
		c.queue = c.queue[1:]
		c.taken++
		if r.order != nil {
			r.order.after(taken.event)
		}
		r.wakeAll(&c.senders)
	}
	if r.packets != nil {
		r.flag(b, s, event)
	}
	if s.Begin {
		r.begun[bl.rank] = event
	}
	var made []value
	if r.data != nil {
		made = r.data.step(b, s, taken.values, event)
	}
	if s.Send != plan.None {
		c := &r.chans[s.Send]
		c.queue = append(c.queue, message{values: made, event: event})
		c.sent++
		c.max = max(c.max, len(c.queue))
		r.wakeAll(&c.takers)
	}
	if s.Publish && s.Index > bl.published {
		bl.published = s.Index
		if r.order != nil {
			bl.publisher = append(bl.publisher, publication{s.Index, event})
		}
		r.wakeAll(&bl.waiters)
	}
	for _, c := range s.Signal {
		for range c.N {
			r.counts[c.Counter].units = append(r.counts[c.Counter].units, unit{event, r.begun[bl.rank], s.Relaxed})
		}
		r.wakeAll(&r.counts[c.Counter].waiters)
	}
}

// publishedBy returns the event that made the block's progress reach index. Flags only grow, so it
// is the first that published this Index or a later one, whenever the waiter looked.
func (b *block) publishedBy(index int) int32 {
	lo, hi := 0, len(b.publisher)
	for lo < hi {
		if mid := (lo + hi) / 2; b.publisher[mid].index < index {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(b.publisher) {
		return noEvent
	}
	return b.publisher[lo].event
}
