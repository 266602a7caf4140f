package race

import (
	"cmp"
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// This file keeps stretches without events of their own. An agent has waited for the put that wrote
// such a stretch, or has loaded the stretch, or both. There may be as many as messages. Those of an
// agent share one event. Each has the number of a receipt, which has the times of its agent.
// Invariant: an agent that knows the moment of a receipt knows that the put is complete. An agent
// that knows its time done knows that the load is complete. Others may know this by other means.
// Then there is a hazard, and another pass decides, which has all events: see joint.go.
// A stretch gets events of its own when an access needs them.

// received is the class of the shared events. They have no link, and so need no class of their own.
const received = stamped + 1

// receipt is of the puts that an agent knows from a moment on, or of what a load reads.
type receipt struct {
	time uint32 // the moment; of a load, that of the put that it reads
	done uint32 // time of the agent at which it knows that the load is complete; 0: not yet, or none
}

// loading is a load that is not complete.
type loading struct {
	op uint64
	at uint32 // number of its receipt
}

// receiving is the state of an agent for such stretches.
type receiving struct {
	received *event // nil: there are none since it began
	present  uint32 // number of the last receipt of puts
	moment   uint32 // its moment
	latest   lastRead
	loading  []loading // with ascending ops
	loaded   int       // the first ones of loading that are complete
	late     []lateLoad
	own      struct { // the last events in place of received
		at        uint32
		put, load *event // nil: none
	}
}

// lastRead is the last receipt of a load or source.
type lastRead struct {
	at     uint32
	of     readersID // as of the stretch before
	moment uint32
	op     uint64 // 0: a source
}

// lateLoad is a load that got an event of its own before it was complete.
type lateLoad struct {
	e  *event
	at uint32 // number of its receipt
}

// The readers of such a stretch are the number of a receipt, and what was done.
const (
	ofPut     readersID = 1 << 0 // the put is known to be complete
	ofLoad    readersID = 1 << 1 // the agent has loaded the bytes
	ofReceipt           = 2      // bits before the number
)

// putReceipt returns the number of the receipt for puts that an agent knows from now on.
func (d *Detector) putReceipt(a *agent) uint32 {
	if now := a.now(); a.moment != now {
		a.present, a.moment = d.newReceipt(now), now
	}
	return a.present
}

// readReceipt returns the number of the receipt for a stretch that an agent reads now, by a load
// or, with op 0, as a source. Reads of an agent are in order, so an earlier read does not matter.
func (d *Detector) readReceipt(a *agent, s *seg, op uint64) uint32 {
	x := lastRead{a.latest.at, s.readers &^ ofLoad, a.now(), op}
	if s.readers&ofPut == 0 {
		x.of = 0
	}
	if a.latest != x {
		time := x.moment
		if x.of != 0 {
			time = d.receiptAt(s.receipt()).time
		}
		x.at = d.newReceipt(time)
		a.latest = x
	}
	return a.latest.at
}

// reset drops all.
func (r *receiving) reset() { *r = receiving{loading: r.loading[:0]} }

// receipt returns the number of the receipt of a stretch.
func (s *seg) receipt() uint32 { return uint32(s.readers >> ofReceipt) }

// renumber gives a stretch another number of a receipt.
func (s *seg) renumber(receipt uint32) {
	s.readers = readersID(receipt)<<ofReceipt | s.readers&(ofPut|ofLoad)
}

// receivedOf returns the shared event of an agent.
func (d *Detector) receivedOf(a *agent, r *history.Record) *event {
	if a.received == nil {
		d.joints++
		e := d.newEvent(r)
		e.joint, e.write, e.op, e.class = true, true, 0, received
		a.received = e
	}
	return a.received
}

// stretches returns the stretches of the page of an address if they are [lo, hi) without gaps, and
// the page has no sheets. If there is nothing, it returns an empty stretch in its place.
func (d *Detector) stretches(a mem.Addr, lo, hi uint16) []seg {
	small := d.smallAt(a)
	p := d.fullOf(small)
	if p == nil {
		switch {
		case small[0].one == 0:
			small[0].lo, small[0].hi = lo, hi
			return small[:1]
		case small[1].one == 0 && small[0].hi <= lo:
			small[1].lo, small[1].hi = lo, hi
			return small[1:]
		case small[1].one == 0 && small[0].lo >= hi:
			small[0], small[1] = seg{lo: lo, hi: hi}, small[0]
			return small[:1]
		}
		return gapless(small.segs(), lo, hi)
	}
	if p.sheets != nil && *p.sheets != (pageSheets{}) {
		return nil
	}
	i := firstAfter(p.segs, lo)
	if i == len(p.segs) || p.segs[i].lo >= hi {
		p.segs = slices.Insert(p.segs, i, seg{lo: lo, hi: hi})
		return p.segs[i : i+1]
	}
	return gapless(p.segs[i:], lo, hi)
}

// gapless returns those of stretches that are [lo, hi) without gaps, if there are any.
func gapless(segs []seg, lo, hi uint16) []seg {
	i := 0
	for i < len(segs) && segs[i].hi <= lo {
		i++
	}
	for j := i; j < len(segs) && segs[j].lo == lo; j++ {
		if lo = segs[j].hi; lo == hi {
			return segs[i : j+1]
		}
	}
	return nil
}

// inPage returns the part of its page that [a, end) begins with.
func inPage(a, end mem.Addr) (lo, hi uint16) {
	base := a &^ (pageSize - 1)
	return uint16(a - base), uint16(min(end, base+pageSize) - base)
}

// receive notes that an agent has waited, by record r, for a put that it did not know of.
func (d *Detector) receive(r *history.Record, put *event) {
	d.receiveAt(r, put, put.addr, put.bytes())
}

// receiveAt is receive for n bytes of a put.
func (d *Detector) receiveAt(r *history.Record, put *event, at mem.Addr, n int64) {
	a := &d.agents[r.Agent]
	if !d.sharing(a) {
		return
	}
	e, readers := d.receivedOf(a, r), readersID(d.putReceipt(a))<<ofReceipt|ofPut
	for end := at + mem.Addr(n); at < end; {
		lo, hi := inPage(at, end)
		if s := d.stretchOf(put, at, lo, hi); s != nil {
			e.hold()
			s.one, s.readers = e.id, readers
			d.release(put)
		}
		at += mem.Addr(hi - lo)
	}
}

// stretchOf returns the stretch [lo, hi) of the page of an address if a put is its only access. It
// separates the stretch from others of the put.
func (d *Detector) stretchOf(put *event, a mem.Addr, lo, hi uint16) *seg {
	small := d.smallAt(a)
	segs, i := small[:], 0
	if p := d.fullOf(small); p != nil {
		segs, i = p.segs, firstAfter(p.segs, lo)
	} else if small[0].hi <= lo {
		i = 1
	}
	if i == len(segs) || segs[i].one != put.id || segs[i].rest != 0 || segs[i].lo > lo || segs[i].hi < hi {
		return nil
	}
	s := segs[i]
	if s.lo == lo && s.hi == hi {
		return &segs[i]
	}
	p, parts := d.pageAt(a), d.out[:0]
	for _, at := range [...][2]uint16{{s.lo, lo}, {lo, hi}, {hi, s.hi}} {
		if at[0] < at[1] {
			parts = append(parts, seg{lo: at[0], hi: at[1], one: put.id})
			put.hold()
		}
	}
	d.out = parts
	p.segs = slices.Replace(p.segs, i, i+1, parts...)
	d.release(put) // the stretch that is gone
	if p.segs[i].lo != lo {
		i++
	}
	return &p.segs[i]
}

// loadReceived enters a load into memory as far as it needs no event of its own. It returns the
// number of its first bytes that are entered.
func (d *Detector) loadReceived(r *history.Record) int64 {
	a := &d.agents[r.Agent]
	if r.Kind != history.Load || r.Range.Rows > 1 || !d.sharing(a) {
		return 0
	}
	if n := len(a.loading); n > 0 && a.loading[n-1].op > r.Op {
		return 0
	}
	at, end := r.Range.Addr, r.Range.Addr+mem.Addr(r.Range.Bytes)
	for at < end {
		lo, hi := inPage(at, end)
		segs := d.stretches(at, lo, hi)
		if len(segs) == 0 || !a.hasReceived(segs) {
			break
		}
		for i := range segs {
			d.loads(&segs[i], a, r)
		}
		at += mem.Addr(hi - lo)
	}
	return int64(at - r.Range.Addr)
}

// hasReceived reports whether stretches are empty, or such ones of the agent.
func (a *agent) hasReceived(segs []seg) bool {
	for i := range segs {
		if one := segs[i].one; one != 0 && (a.received == nil || one != a.received.id || segs[i].rest != 0) {
			return false
		}
	}
	return true
}

// untouched reports whether a load is of the agent's own memory, where nothing is.
func (d *Detector) untouched(r *history.Record) bool {
	if r.Range.Rows > 1 || pe(r.Range.Addr) != int32(d.log.Info(r.Agent).PE) {
		return false
	}
	for at, end := r.Range.Addr, r.Range.Addr+mem.Addr(r.Range.Bytes); at < end; {
		lo, hi := inPage(at, end)
		small := d.smallAt(at)
		segs := small.segs()
		if p := d.fullOf(small); p != nil {
			segs = p.segs
		}
		if i := firstAfter(segs, lo); i < len(segs) && segs[i].lo < hi {
			return false
		}
		at += mem.Addr(hi - lo)
	}
	return true
}

// loads enters a load into a stretch that can hold it.
func (d *Detector) loads(s *seg, a *agent, r *history.Record) {
	if s.one == 0 {
		e := d.receivedOf(a, r)
		e.hold()
		s.one = e.id
	}
	at := d.readReceipt(a, s, r.Op)
	s.readers = readersID(at)<<ofReceipt | s.readers&ofPut | ofLoad
	if n := len(a.loading); n == 0 || a.loading[n-1] != (loading{r.Op, at}) {
		a.loading = append(a.loading, loading{r.Op, at})
	}
}

// find returns the first entry of a load that is not complete, after loaded ones.
func (r *receiving) find(op uint64) (i int, found bool) {
	return slices.BinarySearchFunc(r.loading[r.loaded:], op, func(l loading, op uint64) int { return cmp.Compare(l.op, op) })
}

// isLoading reports whether an operation has a load that is not complete.
func (r *receiving) isLoading(op uint64) bool {
	_, found := r.find(op)
	return found
}

// opOf returns the operation of a load that is not complete, by its receipt.
func (r *receiving) opOf(at uint32) uint64 {
	for _, l := range r.loading[r.loaded:] {
		if l.at == at {
			return l.op
		}
	}
	return 0
}

// completeLoad completes a load of an agent.
func (d *Detector) completeLoad(a *agent, op uint64) {
	i, found := a.find(op)
	if !found {
		return
	}
	open := a.loading[a.loaded:]
	j := i
	for ; j < len(open) && open[j].op == op; j++ {
		d.loadDone(a, open[j].at)
	}
	switch {
	case i > 0:
		a.loading = slices.Delete(a.loading, a.loaded+i, a.loaded+j)
	case j < len(open):
		if a.loaded += j; a.loaded > len(a.loading)/2 {
			a.loading, a.loaded = append(a.loading[:0], a.loading[a.loaded:]...), 0
		}
	default:
		a.loading, a.loaded = a.loading[:0], 0
	}
}

// loadDone notes that the load of a receipt is complete.
func (d *Detector) loadDone(a *agent, at uint32) {
	d.receiptAt(at).done = a.now()
	if len(a.late) == 0 {
		return
	}
	a.late = slices.DeleteFunc(a.late, func(l lateLoad) bool {
		if l.at != at {
			return false
		}
		l.e.done = a.now()
		d.release(l.e)
		return true
	})
}

// completeLoads completes all loads of an agent.
func (d *Detector) completeLoads(a *agent) {
	for _, l := range a.loading[a.loaded:] {
		d.loadDone(a, l.at)
	}
	a.loading, a.loaded = a.loading[:0], 0
}

// overReceived enters an access e into a stretch whose only access is the shared event f. If the
// stretch cannot hold e, it gives the stretch events of its own and returns false.
func (d *Detector) overReceived(s *seg, e, f *event) bool {
	own := e.agent == f.agent
	switch of := &d.agents[f.agent]; {
	case e.class == stamped && own && s.readers&ofPut == 0: // the source waits for the loads
	case e.class == stamped && own:
		at := d.readReceipt(of, s, 0)
		s.readers = readersID(at)<<ofReceipt | ofPut | ofLoad
		d.receiptAt(at).done = of.now()
		return true
	case e.write && d.replacesReceived(s, e, of):
		if !d.shared && !own && e.agent != history.Host {
			at := d.receiptAt(s.receipt())
			d.shared = !d.reaches(&d.agents[history.Host].clk, f.agent, max(at.time, at.done))
		}
	default:
		d.expand(s, f, of)
		return false
	}
	s.one, s.readers = e.id, e.stamp()
	e.hold()
	d.release(f)
	return true
}

// replacesReceived reports whether a write comes after all that a stretch of an agent is of. Its
// own stores and the data that it gets come after its loads, except pieces of one operation. Locks
// are known in passes that have all events, so sections do not matter here.
func (d *Detector) replacesReceived(s *seg, e *event, of *agent) bool {
	if e.atomic {
		return false
	}
	at, by, c := d.receiptAt(s.receipt()), of.clk.agent, &d.agents[e.agent].clk
	own := e.agent == by && (e.plain() || e.local) && (at.done != 0 || !of.isLoading(e.op))
	read := own || s.readers&ofLoad == 0 || at.done != 0 && d.reaches(c, by, at.done)
	return read && (s.readers&ofPut == 0 || d.reaches(c, by, at.time))
}

// expand gives a stretch events of its own in place of the shared event f of an agent. Stretches of
// one receipt share them.
func (d *Detector) expand(s *seg, f *event, of *agent) {
	what, number := s.readers, s.receipt()
	at, own := d.receiptAt(number), &of.own
	if own.at != number || own.put == nil && own.load == nil {
		d.dropOwn(of)
		own.at = number
	}
	s.one, s.readers = 0, 0
	if what&ofPut != 0 {
		if own.put == nil {
			own.put = d.ownReceived(f, history.Put, at.time)
		}
		own.put.hold()
		s.one = own.put.id
	}
	if what&ofLoad != 0 {
		if own.load == nil {
			own.load = d.ownReceived(f, history.Load, at.done)
			if at.done == 0 {
				own.load.op = of.opOf(number)
				own.load.hold()
				of.late = append(of.late, lateLoad{own.load, number})
			}
		}
		own.load.hold()
		if s.one == 0 {
			s.one = own.load.id
		} else {
			s.rest = d.newNode(own.load)
		}
	}
	d.release(f)
}

// dropOwn gives back the events that stretches of a receipt have got last.
func (d *Detector) dropOwn(a *agent) {
	for _, e := range []*event{a.own.put, a.own.load} {
		if e != nil {
			d.release(e)
		}
	}
	a.own.put, a.own.load = nil, nil
}

// ownReceived returns an event in place of the shared event f: a put, or a load. It is complete at
// a time of its agent; 0: not yet.
func (d *Detector) ownReceived(f *event, k history.Kind, done uint32) *event {
	x := d.event(d.freeEvent())
	d.liveEvents++
	id := x.id
	*x = *f
	x.id, x.refs, x.more, x.class, x.kind, x.write, x.done = id, 1, 0, collective, k, k == history.Put, done
	return x
}
