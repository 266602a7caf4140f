package timing

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"sort"

	"kernbench/frontend/plan"
	"kernbench/machine"
	"kernbench/unit"
)

// MaxSlices is the largest number of slices of steps in a run.
const MaxSlices = 40_000_000

// Run finds the time of a plan whose rank r is PE r of the machine. The plan must end: see
// judge.Finishes.
func Run(p *plan.Plan, m *machine.Machine, model Model) (*Result, error) {
	return Explain(p, m, model, Detail{Rows: 5, Rank: plan.None})
}

// Explain is Run with more or less detail.
func Explain(p *plan.Plan, m *machine.Machine, model Model, d Detail) (*Result, error) {
	if d.Rank >= p.World() {
		return nil, fmt.Errorf("rank %d: the ranks are 0 to %d", d.Rank, p.World()-1)
	}
	if n, has := p.World(), m.NumPEs(); n > has {
		return nil, fmt.Errorf("the program has %d ranks, the machine has %d PEs", n, has)
	}
	if n := p.Steps() * len(p.Cell) * model.Slices; n > MaxSlices {
		return nil, fmt.Errorf("%d steps in %d rounds are more than %d slices: time a smaller call", p.Steps(), len(p.Cell), MaxSlices)
	}
	r := newRun(p, m, model)
	r.rank = d.Rank
	if err := r.checkSwitches(); err != nil {
		return nil, err
	}
	for b := range r.blocks {
		r.begin(int32(b))
	}
	windows := r.all()
	if r.done < len(r.blocks) {
		return nil, fmt.Errorf("%d of %d blocks do not end", len(r.blocks)-r.done, len(r.blocks))
	}
	return r.result(d, windows), nil
}

// run is the state of one timing.
type run struct {
	plan    *plan.Plan
	model   Model
	links   *links
	first   []int // number of each rank's first block
	blocks  []block
	chans   []channel
	counts  []counter
	packets [][]packets // of each memory of each rank, made when needed
	events  events
	acts    acts
	done    int
	rank    int // rank whose end is explained; None: the end of all
}

// explains reports whether a block may be the last of what is explained.
func (r *run) explains(b *block) bool { return r.rank == plan.None || int(b.rank) == r.rank }

// block is the state of a block: the round, step and slice that come next, and its clock.
type block struct {
	rank, index int32
	steps       []plan.Step
	engine      bool // a copy engine: its copies are as fast as links are
	round, step int
	slice       int
	clock       unit.Time
	landed      unit.Time // when all that it has written elsewhere has arrived
	last        int32     // number of the act
	act         act       // act in progress
	flags       []flag    // published, ascending by round and Index
	waiters     []int32
}

// flag is a publication.
type flag struct {
	round, index int
	at           unit.Time
	act          int32
}

// channel has the arrivals of slices that were not taken, and the credits of free slots.
type channel struct {
	arrived []stamp
	credits []stamp
	takers  []int32
	senders []int32
	route   *route
	back    unit.Time // latency of a credit
	free    int       // slots that were never used
	bound   bool      // it has a limit
}

type counter struct {
	units   []stamp
	waiters []int32
}

// stamp is a time and the act that caused it.
type stamp struct {
	at  unit.Time
	act int32
}

// none stands for the start of the run.
const none = -1

// event is the start of a block's next slice.
type event struct {
	at    unit.Time
	block int32
}

// events is a heap, by time and then by block.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at != e[j].at {
		return e[i].at < e[j].at
	}
	return e[i].block < e[j].block
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

func newRun(p *plan.Plan, m *machine.Machine, model Model) *run {
	r := &run{plan: p, model: model, links: newLinks(m, &model), chans: make([]channel, len(p.Channels)),
		counts: make([]counter, len(p.Counters))}
	for rank := range p.Ranks {
		r.first = append(r.first, len(r.blocks))
		for i := range p.Ranks[rank].Blocks {
			b := block{rank: int32(rank), index: int32(i), steps: p.Ranks[rank].Blocks[i].Steps,
				engine: p.Ranks[rank].Blocks[i].Engine, last: none}
			r.blocks = append(r.blocks, b)
		}
	}
	for i, c := range p.Channels {
		r.chans[i] = channel{route: r.links.route(c.From, c.To), back: r.links.route(c.To, c.From).head,
			free: c.Depth * model.Slices, bound: c.Depth > 0}
	}
	for i, c := range p.Counters {
		for range c.Start {
			r.counts[i].units = append(r.counts[i].units, stamp{0, none})
		}
	}
	return r
}

// next returns the step that a block carries out next; nil at its end.
func (r *run) next(b *block) *plan.Step {
	for b.step == len(b.steps) {
		b.round++
		r.forget(int(b.rank))
		if b.round >= len(r.plan.Cell) || len(b.steps) == 0 {
			return nil
		}
		b.step = 0
	}
	return &b.steps[b.step]
}

// forget drops flags of rounds that all blocks of a rank have left.
func (r *run) forget(rank int) {
	blocks := r.blocks[r.first[rank]:][:len(r.plan.Ranks[rank].Blocks)]
	round := math.MaxInt
	for i := range blocks {
		if len(blocks[i].steps) > 0 {
			round = min(round, blocks[i].round)
		}
	}
	for i := range blocks {
		f := blocks[i].flags
		if n := sort.Search(len(f), func(k int) bool { return f[k].round >= round }); n > 0 {
			blocks[i].flags = append(f[:0], f[n:]...)
		}
	}
}

// begin finds when a block's next slice starts, and makes that an event; or it enters the block
// where it has to wait.
func (r *run) begin(n int32) {
	b := &r.blocks[n]
	s := r.next(b)
	if s == nil {
		r.done++
		return
	}
	at := stamp{b.clock, b.last}
	why := ownTurn
	later := func(t stamp, w cause) {
		if t.at > at.at {
			at, why = t, w
		}
	}
	if b.slice == 0 {
		for _, d := range s.After {
			of := &r.blocks[r.first[b.rank]+d.Block]
			f := of.published(b.round, d.Index)
			if f == nil {
				of.waiters = append(of.waiters, n)
				return
			}
			later(stamp{f.at + r.model.Flag, f.act}, dependency)
		}
		for _, c := range s.Wait {
			units := r.counts[c.Counter].units
			if len(units) < c.N {
				r.counts[c.Counter].waiters = append(r.counts[c.Counter].waiters, n)
				return
			}
			for _, u := range units[:c.N] {
				later(u, signal)
			}
		}
		if arrived, ok := r.awaited(n, s); !ok {
			return
		} else {
			later(arrived, message)
		}
	}
	if s.Take != plan.None {
		c := &r.chans[s.Take]
		if len(c.arrived) == 0 {
			c.takers = append(c.takers, n)
			return
		}
		later(c.arrived[0], message)
	}
	if s.Send != plan.None {
		if c := &r.chans[s.Send]; c.bound && c.free == 0 {
			if len(c.credits) == 0 {
				c.senders = append(c.senders, n)
				return
			}
			later(c.credits[0], credit)
		}
	}
	if b.slice == 0 {
		for _, c := range s.Wait { // no other block may count on these units
			r.counts[c.Counter].units = r.counts[c.Counter].units[c.N:]
		}
	}
	b.act = act{block: n, step: int32(b.step), start: at.at, before: at.act, why: why}
	b.last = r.acts.made
	r.acts.made++
	heap.Push(&r.events, event{at.at, n})
}

// published returns the first flag that meets a dependency of a round; nil if there is none yet.
func (b *block) published(round, index int) *flag {
	lo, hi := 0, len(b.flags)
	for lo < hi {
		mid := (lo + hi) / 2
		if f := &b.flags[mid]; f.round < round || f.round == round && f.index < index {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(b.flags) {
		return nil
	}
	return &b.flags[lo]
}

// bytes returns the payload of a step's slice in a round.
func (r *run) bytes(s *plan.Step, b *block) int64 {
	all := int64(0)
	for i, span := range slices.Concat(s.Src, s.Dst) {
		n := r.stored(b, span)
		if span.Packet {
			n /= 2
		}
		if i == 0 || n < all {
			all = n
		}
	}
	slices := int64(r.slices(s))
	part := (all + slices - 1) / slices
	return max(min(part, all-part*int64(b.slice)), 0)
}

// slices returns how many slices a step has: one if it has no message.
func (r *run) slices(s *plan.Step) int {
	if s.Take == plan.None && s.Send == plan.None {
		return 1
	}
	return r.model.Slices
}

// slice carries out the slice of a block that starts now.
func (r *run) slice(n int32, now unit.Time) {
	b := &r.blocks[n]
	s := &b.steps[b.step]
	payload := r.bytes(s, b)
	moved := payload
	if s.Take != plan.None || s.Send != plan.None {
		moved = r.model.block(payload)
	}
	begun := now
	if b.slice == 0 {
		begun += r.model.Issue
	}
	begun += r.model.Slice
	for _, span := range slices.Concat(s.Src, s.Dst) {
		if span.Packet {
			moved = max(moved, r.stored(b, span))
		}
	}
	end := begun
	if !b.engine {
		end += r.model.Copy.Time(moved)
	}
	if operands := len(s.Src) + used(s.Take); operands > 1 && !s.Switch {
		end += r.model.Reduce.Time(payload * int64(operands-1))
	}
	if s.Duration > 0 || s.Free {
		end = now + unit.Time(s.Duration)
	}
	b.act.busy = end - now
	if s.Send != plan.None {
		end = r.push(s.Send, b.last, payload, begun, end)
	}
	src, dst := s.Src, s.Dst
	if s.Switch {
		end = max(end, r.through(int(b.rank), s, moved, begun))
		b.landed = max(b.landed, end)
		for _, span := range s.Dst {
			r.arrive(b, s, span, stamp{end + r.model.Latency, b.last})
		}
		src, dst = nil, nil
	}
	for _, span := range src {
		if from := span.Rank; from != plan.None && from != int(b.rank) { // a read: the request, and the data
			back := r.links.route(from, int(b.rank))
			end = max(end, r.links.send(back, r.onWire(b, span, payload), begun+r.links.route(int(b.rank), from).head))
		}
	}
	for _, span := range dst {
		arrived := end + r.model.Flag
		if to := span.Rank; to != plan.None && to != int(b.rank) {
			route := r.links.route(int(b.rank), to)
			tail := max(r.links.send(route, r.onWire(b, span, payload), begun), end+route.head)
			b.landed = max(b.landed, tail)
			end = max(end, tail-route.head)
			arrived = tail + route.late
		}
		r.arrive(b, s, span, stamp{arrived, b.last})
	}
	if s.Take != plan.None {
		c := &r.chans[s.Take]
		c.arrived = c.arrived[1:]
		if c.bound {
			c.credits = append(c.credits, stamp{end + c.back, b.last})
		}
		r.wake(&c.senders)
	}
	b.act.end = end
	r.ended(b)
	b.clock = end
	if b.slice++; b.slice == r.slices(s) {
		r.finish(b, s, end)
	}
	r.begin(n)
}

// onWire returns the bytes of a remote span on links. Packets include their flags. Other data have
// none, whatever the protocol of the channel.
func (r *run) onWire(b *block, s plan.Span, payload int64) int64 {
	if s.Packet {
		return r.stored(b, s)
	}
	if r.plan.Protocol != plan.Simple {
		return payload
	}
	return r.model.wire(payload)
}

func used(channel int) int {
	if channel == plan.None {
		return 0
	}
	return 1
}

// push sends a slice whose block has finished it at end, and returns when the block is done. Links
// that are slower than the block delay it.
func (r *run) push(channel int, by int32, payload int64, begun, end unit.Time) unit.Time {
	c := &r.chans[channel]
	if c.bound {
		if c.free > 0 {
			c.free--
		} else {
			c.credits = c.credits[1:]
		}
	}
	tail := max(r.links.send(c.route, r.model.wire(payload), begun), end+c.route.head)
	c.arrived = append(c.arrived, stamp{tail + c.route.late, by})
	r.wake(&c.takers)
	return max(end, tail-c.route.head)
}

// finish ends a step: it publishes and signals.
func (r *run) finish(b *block, s *plan.Step, end unit.Time) {
	if s.Publish {
		b.flags = append(b.flags, flag{b.round, s.Index, end, b.last})
		r.wake(&b.waiters)
	}
	for _, c := range s.Signal {
		at := end + r.model.Flag
		if s.Free {
			at = end
		} else if to := r.plan.Counters[c.Counter].Rank; to != int(b.rank) {
			route := r.links.route(int(b.rank), to)
			at = max(end, b.landed) + route.head + route.late
		}
		for range c.N {
			r.counts[c.Counter].units = append(r.counts[c.Counter].units, stamp{at, b.last})
		}
		r.wake(&r.counts[c.Counter].waiters)
	}
	b.slice = 0
	b.step++
}

func (r *run) wake(waiters *[]int32) {
	list := *waiters
	*waiters = nil
	for _, n := range list {
		r.begin(n)
	}
}
