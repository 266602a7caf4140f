package mscclpp

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/frontend/plan"
)

// builder makes the blocks of one rank: its thread blocks, and a proxy block for each port channel
// that only one thread block uses. Thread blocks that share a port channel have no proxy and make
// their copies themselves. The order in which a proxy would process them is unknown.
type builder struct {
	*lowering
	rank     int
	gpu      *GPU
	blocks   []plan.Block // thread blocks
	proxies  []plan.Block
	proxy    map[int]int    // index in proxies, by port channel
	acquired map[int]int    // units of each semaphore that one launch acquires
	users    map[int][]int  // thread blocks of each barrier
	owed     map[[2]int]int // copies of a thread block and a port channel without a wait for them
}

// blocks makes the blocks of a rank, for all launches.
func (l *lowering) blocks(rank int) {
	g := &l.GPUs[rank]
	b := &builder{lowering: l, rank: rank, gpu: g, blocks: make([]plan.Block, len(g.Blocks)), proxy: map[int]int{}, owed: map[[2]int]int{}}
	first := 0
	for r := range rank {
		first += len(l.GPUs[r].Blocks)
	}
	actions := l.actions[first : first+len(g.Blocks)]
	b.addProxies(actions)
	b.users = barrierUsers(actions)
	l.checkBarriers(rank, actions)
	b.acquired = map[int]int{}
	for _, list := range actions {
		for i := range list {
			if list[i].sync == syncAcquire {
				for _, id := range list[i].chans {
					b.acquired[id]++
				}
			}
		}
	}
	if len(g.Blocks) == 0 {
		b.blocks = []plan.Block{{Label: "(none)"}}
	}
	for launch := range l.launches {
		for tb := range b.blocks {
			b.blocks[tb].ID = tb
			if launch > 0 {
				b.begin(tb, launch)
			}
			if tb < len(actions) {
				for i := range actions[tb] {
					b.action(tb, &actions[tb][i], launch)
				}
			}
			b.end(tb, launch)
		}
	}
	l.plan.Ranks[rank].Blocks = append(b.blocks, b.proxies...)
}

// addProxies adds a proxy block for each port channel that only one thread block uses.
func (b *builder) addProxies(actions [][]action) {
	user := map[int]int{}
	for tb, list := range actions {
		for i := range list {
			if list[i].op.Type != PortChannel || list[i].sync == syncWait {
				continue
			}
			for _, c := range list[i].chans {
				if by, ok := user[c]; ok && by != tb {
					user[c] = -1
				} else if !ok {
					user[c] = tb
				}
			}
		}
	}
	for c := range b.gpu.Port {
		if tb, ok := user[c]; ok && tb >= 0 {
			b.proxy[c] = len(b.proxies)
			b.proxies = append(b.proxies, plan.Block{ID: tb, Label: fmt.Sprintf("proxy of port channel %d", c), Engine: true})
		}
	}
}

// counter returns the index of a counter in the plan, which the first call makes.
func (l *lowering) counter(rank int, name string, start int, spare bool) int {
	name = fmt.Sprintf("rank %d %s", rank, name)
	c, ok := l.counters[name]
	if !ok {
		c = len(l.plan.Counters)
		l.counters[name] = c
		l.plan.Counters = append(l.plan.Counters, plan.Counter{Rank: rank, Name: name, Start: start, Spare: spare})
	}
	return c
}

func one(counter int) plan.Count { return plan.Count{Counter: counter, N: 1} }

// end adds a step that signals that a thread block has finished a launch. The last launch has none.
func (b *builder) end(tb, launch int) {
	if launch == b.launches-1 {
		return
	}
	s := b.step(nil, launch)
	s.Op = "end of launch"
	for k, n := range b.owed {
		if k[0] == tb && n > 0 {
			s.Wait = append(s.Wait, plan.Count{Counter: b.done(k[1]), N: n})
			delete(b.owed, k)
		}
	}
	slices.SortFunc(s.Wait, func(x, y plan.Count) int { return x.Counter - y.Counter })
	s.Signal = []plan.Count{one(b.ended(launch))}
	b.blocks[tb].Steps = append(b.blocks[tb].Steps, s)
}

// ended counts the thread blocks that have finished a launch.
func (b *builder) ended(launch int) int {
	return b.counter(b.rank, fmt.Sprintf("ends of launch %d", launch+1), 0, false)
}

// begin adds the step that begins a thread block's next launch. Thread block 0 waits until all
// thread blocks of the rank have ended the previous launch, as a stream does, and starts the
// others.
func (b *builder) begin(tb, launch int) {
	s := b.step(nil, launch)
	s.Op = "begin of launch"
	start := func(tb int) plan.Count { return one(b.counter(b.rank, fmt.Sprintf("begin of tb %d", tb), 0, false)) }
	if tb == 0 {
		s.Begin = true
		s.Wait = []plan.Count{{Counter: b.ended(launch - 1), N: len(b.blocks)}}
		for other := 1; other < len(b.blocks); other++ {
			s.Signal = append(s.Signal, start(other))
		}
	} else {
		s.Wait = []plan.Count{start(tb)}
	}
	b.blocks[tb].Steps = append(b.blocks[tb].Steps, s)
}

// step returns a step of an action without data, waits and signals. a may be nil.
func (b *builder) step(a *action, launch int) plan.Step {
	s := plan.Step{Take: plan.None, Send: plan.None, Launch: launch}
	if a != nil {
		s.Op, s.Index, s.Part, s.Line = a.op.Name, a.index, a.part, a.op.Line
		s.Relaxed = strings.HasPrefix(a.op.Name, "rlx")
		s.Switch = a.op.Type == SwitchType
	}
	return s
}

// action appends the steps of an action.
func (b *builder) action(tb int, a *action, launch int) {
	steps := &b.blocks[tb].Steps
	s := b.step(a, launch)
	switch a.sync {
	case syncBarrier:
		b.barrier(tb, a, launch)
		return
	case syncSignal:
		if a.op.Type == PortChannel {
			for _, c := range a.chans {
				b.command(tb, a, c, launch, nil, nil, true, false)
			}
			return
		}
		for _, c := range a.chans {
			s.Signal = append(s.Signal, one(b.peer(MemoryChannel, c)))
		}
	case syncWait:
		for _, c := range a.chans {
			s.Wait = append(s.Wait, one(b.own(a.op.Type, c)))
		}
	case syncFlush:
		for _, c := range a.chans {
			if n := b.owed[[2]int{tb, c}]; n > 0 {
				s.Wait = append(s.Wait, plan.Count{Counter: b.done(c), N: n})
				delete(b.owed, [2]int{tb, c})
			}
		}
	case syncAcquire:
		for _, id := range a.chans {
			s.Wait = append(s.Wait, one(b.semaphore(id)))
		}
	case syncRelease:
		for _, id := range a.chans {
			s.Signal = append(s.Signal, one(b.semaphore(id)))
		}
	default:
		src, dst := b.spans(a.src, a.size, launch), b.spans(a.dst, a.size, launch)
		if a.op.Type == PortChannel && len(a.chans) > 0 {
			b.port(tb, a, launch, src, dst)
			return
		}
		s.Src, s.Dst = src, dst
	}
	s.Wait = merged(s.Wait)
	*steps = append(*steps, s)
}

// merged adds up waits for the same counter.
func merged(list []plan.Count) []plan.Count {
	var out []plan.Count
	for _, c := range list {
		if i := slices.IndexFunc(out, func(o plan.Count) bool { return o.Counter == c.Counter }); i >= 0 {
			out[i].N += c.N
		} else {
			out = append(out, c)
		}
	}
	return out
}

func (b *builder) spans(list []byteRange, size int64, launch int) []plan.Span {
	var out []plan.Span
	for _, s := range list {
		out = append(out, b.span(b.rank, s, size, launch))
	}
	return out
}

// semaphore counts the units of a semaphore. More units at the start than are ever acquired make no
// difference.
func (b *builder) semaphore(id int) int {
	return b.counter(b.rank, fmt.Sprintf("semaphore %d", id), min(b.gpu.Semaphores[id], b.acquired[id]*b.launches), true)
}

// done counts copies that a port channel's proxy has finished.
func (b *builder) done(c int) int {
	return b.counter(b.rank, fmt.Sprintf("copies of port channel %d", c), 0, true)
}

// port hands copies to the proxies of port channels: one for each destination.
func (b *builder) port(tb int, a *action, launch int, src, dst []plan.Span) {
	if a.op.Name == "rppkt" { // the thread block waits for the packets, the proxy copies them as they are
		s := b.step(a, launch)
		s.Src = slices.Clone(src)
		b.blocks[tb].Steps = append(b.blocks[tb].Steps, s)
		src = slices.Clone(src)
		src[0].Packet = false
	}
	signal := a.op.Name == "pws" || a.op.Name == "pwsf"
	for i, c := range a.chans {
		b.command(tb, a, c, launch, src[:1], dst[i:i+1], signal, a.op.Name == "pwsf")
	}
}

// command gives the proxy of a port channel a copy, a signal after it, or both. With flush the
// thread block waits until the copies are done.
func (b *builder) command(tb int, a *action, c, launch int, src, dst []plan.Span, signal, flush bool) {
	work := b.step(a, launch)
	work.Src, work.Dst = src, dst
	if signal {
		work.Signal = []plan.Count{one(b.peer(PortChannel, c))}
	}
	p, ok := b.proxy[c]
	if !ok {
		b.blocks[tb].Steps = append(b.blocks[tb].Steps, work)
		return
	}
	commands := one(b.counter(b.rank, fmt.Sprintf("commands of port channel %d", c), 0, false))
	post := b.step(a, launch)
	post.Signal = []plan.Count{commands}
	b.blocks[tb].Steps = append(b.blocks[tb].Steps, post)
	work.Wait = []plan.Count{commands}
	if len(dst) > 0 {
		work.Signal = append(work.Signal, one(b.done(c)))
		b.owed[[2]int{tb, c}]++
	}
	b.proxies[p].Steps = append(b.proxies[p].Steps, work)
	if flush {
		wait := b.step(a, launch)
		wait.Part++
		wait.Wait = []plan.Count{{Counter: b.done(c), N: b.owed[[2]int{tb, c}]}}
		delete(b.owed, [2]int{tb, c})
		b.blocks[tb].Steps = append(b.blocks[tb].Steps, wait)
	}
}

// own counts the signals of a channel of this rank.
func (b *builder) own(t ChannelType, c int) int {
	return b.counter(b.rank, fmt.Sprintf("%v channel %d from rank %d", t, c, channelsOf(b.gpu, t)[c]), 0, false)
}

func channelsOf(g *GPU, t ChannelType) []int {
	if t == PortChannel {
		return g.Port
	}
	return g.Memory
}

// peer counts the signals that a channel of this rank sends. The k-th channel to a peer is joined
// to the k-th channel of that peer to this rank.
func (b *builder) peer(t ChannelType, c int) int {
	own := channelsOf(b.gpu, t)
	to := own[c]
	place := 0
	for _, p := range own[:c] {
		if p == to {
			place++
		}
	}
	for k, p := range channelsOf(&b.GPUs[to], t) {
		if p != b.rank {
			continue
		}
		if place == 0 {
			return b.counter(to, fmt.Sprintf("%v channel %d from rank %d", t, k, b.rank), 0, false)
		}
		place--
	}
	return b.counter(to, fmt.Sprintf("%v channel from rank %d, of which rank %d has no end", t, b.rank, to), 0, false)
}

// checkBarriers reports a barrier that more thread blocks use than it declares.
func (l *lowering) checkBarriers(rank int, actions [][]action) {
	users := barrierUsers(actions)
	for _, list := range actions {
		for i := range list {
			a := &list[i]
			if n := len(users[a.op.Barrier]); a.sync == syncBarrier && n > a.op.Blocks && len(l.findings) == 0 {
				l.ill(a.op.Line, "rank %d: barrier %d is for %d thread blocks, and %d use it", rank, a.op.Barrier, a.op.Blocks, n)
			}
		}
	}
}

// barrierUsers lists the thread blocks that use each barrier.
func barrierUsers(actions [][]action) map[int][]int {
	users := map[int][]int{}
	for tb, list := range actions {
		for i := range list {
			if list[i].sync == syncBarrier && !slices.Contains(users[list[i].op.Barrier], tb) {
				users[list[i].op.Barrier] = append(users[list[i].op.Barrier], tb)
			}
		}
	}
	return users
}

// barrier lets a thread block notify all others of a barrier of its arrival, and wait for them.
func (b *builder) barrier(tb int, a *action, launch int) {
	id := func(tb int) int {
		return b.counter(b.rank, fmt.Sprintf("barrier %d at tb %d", a.op.Barrier, tb), 0, false)
	}
	come, wait := b.step(a, launch), b.step(a, launch)
	for _, other := range b.users[a.op.Barrier] {
		if other != tb {
			come.Signal = append(come.Signal, one(id(other)))
		}
	}
	wait.Part++
	if a.op.Blocks > 1 {
		wait.Wait = []plan.Count{{Counter: id(tb), N: a.op.Blocks - 1}}
	}
	b.blocks[tb].Steps = append(b.blocks[tb].Steps, come, wait)
}
