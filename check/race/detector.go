package race

import (
	"kernbench/mem"
	"kernbench/record/history"
)

// Options are the assumptions of the judge, and its names for things.
type Options struct {
	Order mem.Ordering // what the machine promises about remote effects

	PEName func(pe int) string // nil: "PE 3"
	// Region names memory: "window scratch.data of rank 3, byte 16". Hazards at the same lines
	// are different if the texts before " of " differ. May be nil.
	Region func(a mem.Addr) string

	Most int // largest number of hazards to describe; 0: 20

	// Repeats is true if the caller repeats the run as long as Report.Again is set. Then the
	// executor may leave source lines out until a hazard needs them.
	Repeats bool

	// Ignored is true if kernels ignore the values that atomics return: they use no value of a
	// fetch-add, and repeat a compare-and-swap until it succeeds. The caller has tested this with
	// answers.Answers.
	Ignored bool
}

// Detector judges one run. Give its Log to the executor, and ask for the Report afterwards.
type Detector struct {
	opts  Options
	log   *history.Log
	facts *facts

	agents    []agent
	alive     int  // agents that run
	records   int  // records that the detector has received
	resting   bool // no agent runs: rest is due before the next record
	words     words
	spots     placeNames
	rings     map[uint32]*ring
	marks     map[uint32]mark
	wordReads reads

	sided    bool // there was a one-sided operation
	again    bool // a repeated run must know the facts of this one
	plain    bool // no compressed state: tests compare it with the compressed one
	hazards  hazards
	depends  depends
	ordered  depends // accesses whose order a lock decides
	learning learning

	shadow // the last accesses of memory
	eventPool
	linkPool
	clockPool
	readerPool
	guarding
	ignoring
	tidying
	waiting
	joining
	packets
	deliveryPool
	receiptPool
}

// learned notes whether a record gave new facts, which a repeated run must know from its start.
func (d *Detector) learned(news bool) { d.again = d.again || news }

// agent is the state of one agent.
type agent struct {
	clk      clock
	alive    bool
	asked    bool // isStream is known
	isStream bool
	parent   history.Agent // the agent that started it last
	pending
	links    linksTo
	lastLink linkID
	lastPE   int32
	seen     seenLinks
	fences   uint32
	seq      uint32 // of its last effect at a PE
	fenced   uint32 // seq at its last fence
	put      *event // its last put: the next signal may belong to it
	grid     clock  // for a stream: joined clocks of the ended programs of its grid
	last     post   // for a queue of tasks: the last one posted

	atomics []history.Word // words that it has changed by atomics
	reading []wordRead     // reads of words since its last other operation
	held    *held          // the locked sections that it is in; nil: none
	doubts  *doubts
	jointly
	receiving

	releases *[8]release // its latest releases; nil: none
	released int
	waited   *[4]sighting // its last reads of words; nil: none
	waits    int
}

// release is an operation of an agent that orders its earlier operations before those of others.
type release struct {
	time       uint32
	to         int32 // PE whose word the operation changes, or -1
	call, line string
}

// New makes a judge for one run.
func New(o Options) *Detector { return newDetector(o, newFacts()) }

// Next returns a judge for another pass over the same program. It knows what this one has learned
// about later notifications. Use it if Report.Again is set.
func (d *Detector) Next() *Detector {
	f := d.facts
	if hides, rough := d.hidesHazards(), d.mayBeFalse(); hides || rough || d.void {
		f = newFacts()
		f.exact, f.flags, f.fine = hides || d.facts.exact, d.void || d.facts.flags, rough || d.facts.fine
	} else {
		f = f.next()
	}
	f.whole = f.whole || d.log.WasLeftOut()
	f.lines = f.lines || d.lacksLines()
	return newDetector(d.opts, f)
}

func newDetector(o Options, f *facts) *Detector {
	if o.Most == 0 {
		o.Most = 20
	}
	d := &Detector{
		opts: o, facts: f,
		shadow: shadow{pages: newTable(func(p *pages) { p[0][0].one = 0 })},
		words:  words{pages: newTable(func(p *wordPage) { p[0] = untouched })},
		spots:  placeNames{index: map[placeName]placeID{}}, rings: map[uint32]*ring{}, marks: map[uint32]mark{},
		clockPool:   clockPool{lists: make([][]uint32, 1), deferring: deferring{chainLimit: firstChainLimit}},
		receiptPool: receiptPool{limit: leastReceipts, least: leastReceipts},
		guarding:    guarding{compared: map[[2]history.Agent]bool{}},
	}
	d.log = history.New(d.judge)
	d.log.Brief = !f.whole
	d.log.Terse = o.Repeats && !f.lines
	d.agent(history.Host)
	return d
}

// Log returns where the executor writes.
func (d *Detector) Log() *history.Log { return d.log }

// Fresh declares that memory is new: it holds zeros, and earlier accesses to it do not count. A
// window that reuses memory needs it, because its control words begin at 0.
func (d *Detector) Fresh(a mem.Addr, bytes int64) {
	d.log.Flush()
	d.freshWords(a, bytes)
	d.freshFlags(a, bytes)
}

// isStream reports whether an agent that has made a record is a stream.
func (d *Detector) isStream(a *agent) bool {
	if !a.asked {
		who := d.log.Info(a.clk.agent)
		a.asked, a.isStream = true, who.Stream >= 0 && who.Program < 0
	}
	return a.isStream
}

func (d *Detector) agent(a history.Agent) *agent {
	for int(a) >= len(d.agents) {
		n := history.Agent(len(d.agents))
		d.agents = append(d.agents, agent{clk: clock{agent: n, time: 1}})
	}
	return &d.agents[a]
}

// tick begins a new moment of an agent. Earlier releases do not cover what it does from now on.
func (a *agent) tick() {
	a.notified = false
	if a.clk.time++; a.clk.time >= lastTime {
		panic("race: an agent has too many moments")
	}
}

// lastTime bounds the time of an agent. The highest bit stays free: see lanes.go.
const lastTime = 1 << 31

// publish returns the clock of an agent, for the agents that this record orders after it. It begins
// the next moment of the agent.
func (d *Detector) publish(r *history.Record) clock {
	a := &d.agents[r.Agent]
	c := d.holdClock(a.clk)
	to := int32(-1)
	if r.Kind == history.Notify || r.Kind == history.RMW {
		to = r.Peer
	}
	if d.hinting() {
		if a.releases == nil {
			a.releases = new([8]release)
		}
		a.releases[a.released%len(a.releases)] = release{a.clk.time, to, r.Call, r.Line}
		a.released++
	}
	a.tick()
	return c
}

func (d *Detector) judge(rs []history.Record) {
	d.records += len(rs)
	for i := range rs {
		d.record(&rs[i])
	}
}

func (d *Detector) record(r *history.Record) {
	if d.resting {
		d.resting = false
		d.rest()
	}
	a := d.agent(r.Agent)
	if r.Kind == history.Start || r.Kind == history.Join {
		d.agent(r.Other)
		a = d.agent(r.Agent) // the first pointer may be stale
	}
	if d.made > d.limit {
		d.tidyReceipts()
	}
	if a.grid.v != 0 && r.Kind != history.Join {
		d.endGrid(r.Agent)
	}
	switch r.Kind {
	case history.Notify:
		if a.row++; r.Carry {
			a.signals++
		}
	case history.Put, history.Store, history.Complete:
	case history.Load:
		if a.row > 0 && !d.untouched(r) {
			a.endRow()
		}
	default:
		a.endRow()
	}
	if a.doubts != nil {
		d.resolve(r.Agent, r)
	}
	if len(a.reading) > 0 && r.Kind != history.Read {
		a.reading = a.reading[:0]
	}
	if d.holds != nil {
		d.whileHolding(r)
	}
	switch r.Kind {
	case history.Start:
		d.start(r)
	case history.Join:
		d.joinAgent(r)
	case history.Load, history.Store, history.Copy:
		d.plainAccess(r)
	case history.Put:
		d.putting(r)
	case history.Get:
		d.getting(r)
	case history.Complete:
		if len(a.loading) > 0 {
			d.completeLoad(a, r.Op)
		}
		if len(a.unfinished) > 0 {
			d.completeJoint(a, r.Op, r.Done)
		}
		if !d.completeOp(&a.plain, r.Op, r.Done) {
			d.completeOp(&a.sided, r.Op, r.Done)
		}
	case history.Drain:
		d.completeJoints(a, false)
		d.completeLoads(a)
		for a.plain.head != 0 {
			d.finish(d.event(a.plain.head))
		}
	case history.Fence:
		a.fences++
		a.fenced = a.seq
	case history.Quiet:
		d.completeEverything(a)
	case history.Notify:
		d.notify(r)
	case history.Wait:
		d.waited(r)
	case history.Poll:
		d.depend("test", "its result depends on the time of the call", r.Call, r.Line)
	case history.Read:
		settled := d.reading(r)
		d.read(r)
		if !settled || d.wordAt(r).guessed {
			d.depend("load_scalar", "the value that it reads depends on the time of the call", r.Call, r.Line)
		}
	case history.RMW:
		d.atomically(r)
	case history.Send, history.Recv, history.Use, history.Credit:
		d.ringRecord(r)
	case history.Any:
		d.depend("recv", "takes whichever message comes first", r.Call, r.Line)
	case history.Mark:
		d.mark(r)
	case history.Pass:
		d.pass(r)
	}
}

func (d *Detector) start(r *history.Record) {
	if d.log.Info(r.Agent).Program == 0 { // the grid before this one has ended
		d.endGrid(r.Other)
	}
	a := &d.agents[r.Agent]
	if !a.alive {
		a.alive = true
		d.alive++
	}
	a.tick()
	a.parent = r.Other
	from := d.agents[r.Other].clk
	d.join(&a.clk, &from)
	d.agents[r.Other].tick()
}

// joinAgent handles the end of an agent and of all operations that it started. A stream continues
// when all programs of its grid have ended. Until then the ended programs are not ordered before a
// program of the grid that starts late.
func (d *Detector) joinAgent(r *history.Record) {
	d.endGrid(r.Other)
	a, o := &d.agents[r.Agent], &d.agents[r.Other]
	if o.notified {
		o.tick()
	}
	d.resolve(r.Other, nil)
	d.completeEverything(o)
	d.endMoments(o)
	d.leaveAll(r.Other)
	if from := o.clk; d.log.Info(r.Other).Program >= 0 {
		a.grid.agent = r.Agent
		d.join(&a.grid, &from)
	} else {
		d.endGrid(r.Agent)
		d.join(&a.clk, &from)
	}
	o.tick()
	if o.alive {
		o.alive = false
		d.alive--
	}
	time := o.clk.time
	d.drop(&o.clk) // if started again, it knows only what its starter knows
	o.clk = clock{agent: r.Other, time: time}
	d.keepPut(r.Other, nil)
	d.resting = d.alive == 0
}

// endGrid orders the programs of a grid before all later operations of their stream.
func (d *Detector) endGrid(s history.Agent) {
	if a := &d.agents[s]; a.grid.v != 0 {
		d.joinTimes(&a.clk, d.times(&a.grid))
		d.drop(&a.grid)
	}
}

// rest drops the state of the agents that have ended. No agent runs, so all later operations are
// ordered after the earlier ones.
func (d *Detector) rest() {
	for _, ps := range d.pages.all {
		for i := range ps {
			if d.fullOf(&ps[i]) == nil {
				d.releaseSegs(ps[i].segs())
			}
		}
	}
	for _, p := range d.full {
		d.releaseSegs(p.segs)
	}
	clear(d.full)
	d.full = d.full[:0]
	d.clearSheets()
	d.pages.clear()
	d.restReceived()
	d.restGuards()
	for i, q := range d.rings {
		q.forget(d)
		delete(d.rings, i)
	}
	for i, m := range d.marks {
		d.drop(&m.clk)
		delete(d.marks, i)
	}
	d.restWords()
}

// plainAccess is a load, a store or a copy by a stream.
func (d *Detector) plainAccess(r *history.Record) {
	if r.Kind == history.Copy {
		d.sided = true // no agent at the other end receives it
		e := d.newEvent(r)
		e.done = e.issued
		d.access(e, &r.Source)
		d.release(e)
	}
	if n := d.loadReceived(r); n > 0 {
		if n == r.Range.Bytes {
			return
		}
		rest := *r
		rest.Range.Addr, rest.Range.Bytes = r.Range.Addr+mem.Addr(n), r.Range.Bytes-n
		r = &rest
	}
	if d.plainJointly(r) {
		return
	}
	e := d.newEvent(r)
	e.write = r.Kind != history.Load
	switch {
	case r.Kind == history.Copy:
		e.done = e.issued
	case r.Kind == history.Store:
		d.enlist(e, pe(r.Range.Addr), compute)
		if d.opts.Order == mem.Sequential {
			e.done = e.issued
		}
	}
	if e.done == 0 {
		d.pend(e)
	}
	d.access(e, &r.Range)
	d.release(e)
}

func (d *Detector) putting(r *history.Record) {
	d.sided = true
	if d.putJointly(r) {
		return
	}
	at := d.opts.Order == mem.Sequential
	e := d.newEvent(r)
	if e.write, e.atomic = true, r.Atomic; r.Float {
		e.x = 1
	}
	d.enlist(e, r.Peer, collective)
	d.started(e, at)
	if r.Source.Bytes > 0 && !d.shareSource(r) {
		s := d.readSource(r)
		if s != nil {
			s.hold()
		} else {
			s = d.newEvent(r)
			s.local = true
			s.carrier = e.id // its source was read before it arrived
			e.hold()
			d.started(s, at)
		}
		d.access(s, &r.Source)
		d.passVia(e, s)
		d.release(s)
	}
	if r.Range.Bytes > 0 {
		d.access(e, &r.Range)
	}
	d.keepPut(r.Agent, e)
}

// keepPut remembers the last put of an agent for the signal that may follow, in place of the
// one before. It takes the caller's reference.
func (d *Detector) keepPut(agent history.Agent, e *event) {
	a := &d.agents[agent]
	old := a.put
	a.put = e
	if old != nil {
		d.release(old)
	}
}

func (d *Detector) started(e *event, complete bool) {
	if complete {
		e.done = e.issued
	} else {
		d.pend(e)
	}
}

func (d *Detector) getting(r *history.Record) {
	d.sided = true
	e := d.newEvent(r)
	d.pend(e)
	d.access(e, &r.Range)
	d.release(e)
	l := d.newEvent(r)
	l.write, l.local = true, true
	d.pend(l)
	d.access(l, &r.Source)
	d.release(l)
}

// depend notes an operation that makes the outcome depend on the schedule.
func (d *Detector) depend(op, why, call, line string) { d.depends.add(op, why, call, line) }
