package sim

import (
	"kernbench/des"
	"kernbench/fault"
	"kernbench/hw/ipcq"
	"kernbench/hw/noc"
	"kernbench/internal/slab"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// words is the state of a run for control words.
type words struct {
	watchers []int32 // by PE: 1 + the first rank that waits for words of it, or 0
	spinning []int32 // ranks parked after polls without success
	changes  uint64  // of words so far
	granted  int     // polls since then with no other event left
	effects  slab.Table[effect]
	notices  slab.Table[notice]
}

// notice is a notification in flight. There may be one for each pair of PEs at a time.
type notice struct {
	wordUpdate
	rank int32
	seen bool // its arrival has been seen, or a time is set
}

// noticeBit marks the number of a notice for the fabric, to which transfers have numbers too.
const noticeBit = 1 << 27

// watch is the words that a rank waits for. Ranks that are parked on words of one PE form a
// list by id.
type watch struct {
	*tl.OneSided
	at     int  // the first of the words that does not satisfy
	posted bool // they were satisfied before the rank's clock; it reads them again at its clock
	over   bool // satisfied
	next   int32
}

// waitWord waits until all of some words satisfy a comparison. Their values at the kernel's clock
// are known when global time has reached it.
func (r *rank) waitWord(in *tl.Instr) {
	from := r.Clock
	w := &r.watch
	*w = watch{OneSided: in.Side}
	for settled := false; ; settled = true {
		w.at = w.Failing(0)
		if w.at < 0 && settled {
			r.Spend(r.readCost(in.Side))
			r.attribute(cause.Memory, cause.Word)
			break
		}
		if w.at < 0 {
			r.sync()
			continue
		}
		w.posted = false
		r.run.addWatcher(r)
		r.park(forWord)
		r.run.removeWatcher(r)
		if w.over {
			break
		}
	}
	r.book.Seen(in.Side)
	r.signalSpan(from, w.over)
}

// signalSpan emits the span of a read of words or of a wait for them.
func (r *rank) signalSpan(from unit.Time, waited bool) {
	if r.run.e.opts.Trace == nil {
		return
	}
	stalled := unit.Time(0)
	if waited {
		stalled = r.Clock - from
	}
	s := r.instr.Side
	bytes := int64(max(1, len(s.Words))) * int64(s.WordType.Size())
	r.emit(trace.Event{Kind: trace.Signal, Peer: -1, Start: from, End: r.Clock, Bytes: bytes, Stalled: stalled,
		Line: tl.DriverOf(r.ctx).Line()})
}

// readCost returns the time to read words: the latency from their memory. Words of another PE,
// which only streams read, need a request first.
func (r *rank) readCost(s *tl.OneSided) unit.Time {
	net, pe := r.run.e.net, s.Win.Team.PEs[s.Peer]
	path := r.fromHBM
	cost := unit.Time(0)
	if pe != r.seat {
		cost, path = r.ack(r.peer(pe)), r.run.e.route(r.run.e.m.HBM(int(pe)), r.run.e.m.PE(int(r.seat)))
	}
	head, slowest := net.Latency(path)
	return cost + head + slowest.Time(int64(max(1, len(s.Words)))*int64(s.WordType.Size()))
}

// notify sends an update of a word.
func (r *rank) notify(in *tl.Instr) {
	s := in.Side
	call := r.Clock
	i := r.peer(s.Win.Team.PEs[s.Peer])
	r.order(i, byControl, false)
	r.book.Sided(in)
	p := r.peers.at(i)
	p.out++
	x, route := r.run, r.controlTo(i)
	n := notice{rank: r.id, wordUpdate: wordUpdate{
		win: s.Win, member: s.Peer, peer: i, word: s.Word, typ: s.WordType, op: effectOp(s.Op), value: s.Value, info: r.newCallInfo(call),
	}}
	if n.info != nil {
		n.info.line = r.currentCall()
	}
	at := r.startTime(i, byWord, r.Clock)
	r.sidedInFlight++
	m := noc.Transfer{Route: route, Class: noc.Control, Bytes: int64(x.e.topo.Fabric().RequestBytes), Source: r.source,
		User: noticeBit | x.notices.Put(&n)}
	if r.causes != nil {
		m.Cause = r.origins(at)
	}
	x.e.net.Send(at, m, r.nextKey(des.Arrive, seqProgram))
	r.awaitSequential(i)
}

// noticeArrived: a notification has arrived.
func (x *run) noticeArrived(user uint32, now unit.Time) {
	n := x.notices.At(user &^ noticeBit)
	if x.causes != nil && !n.seen {
		x.setCurrent(x.e.net.SinkCause())
	}
	r, f := &x.ranks[n.rank], n.wordUpdate
	if x.delayVisibility(r, user, &n.seen, now, r.late(f.peer, tl.NoLine)) {
		return
	}
	r.sidedInFlight--
	if f.info != nil {
		r.oneSidedSpan(trace.Notify, &f, now, int64(f.typ.Size()), f.info.line)
		r.arriveSpan(&f, now, int64(f.typ.Size()))
	}
	x.notices.Drop(user &^ noticeBit)
	r.opsAckedAt = max(r.opsAckedAt, r.acknowledge(f.peer, now))
	r.oneSidedEnded(f.peer)
	x.update(&f, now)
	r.progress(user, now)
}

// atomic sends an update of a word and waits for its former value.
func (r *rank) atomic(in *tl.Instr) {
	s := in.Side
	call := r.Clock
	pe := s.Win.Team.PEs[s.Peer]
	if pe != r.pe && !r.run.e.topo.Fabric().Atomics {
		tl.DriverOf(r.ctx).Fail(&fault.Unsupported{Place: tl.DriverOf(r.ctx).Place(in.Call()), What: "fabric.p2p_native_atomics"})
	}
	i := r.peer(pe)
	f := effect{expect: s.Expect, wordUpdate: wordUpdate{win: s.Win, member: s.Peer, peer: i, word: s.Word, typ: s.WordType,
		op: addWord, value: s.Value, info: r.newCallInfo(call)}}
	if in.Op == tl.OpCompareSwap {
		f.op = swapWord
	}
	r.order(i, byControl, false)
	at := r.startTime(i, byWord, r.Clock)
	user := r.newSided(&transfer{kind: transferAtomic, rank: r.id, cell: tl.None, slot: -1, at: r.Clock, line: r.currentCall()}, &f)
	r.begin(at, r.controlTo(i), noc.Control, int64(r.run.e.topo.Fabric().RequestBytes), user, r.nextKey(des.Arrive, seqProgram))
	r.parkOn(forReply, int32(user))
	s.Got = r.reply
	s.Hit = in.Op == tl.OpFetchAdd || s.Got == s.Expect
	if f.changes(s.Got) {
		r.spin.polls = 0
	} else if r.spins(in) {
		r.parkSpinning()
	}
	if r.run.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: trace.Atomic, Peer: pe, Start: call, End: r.Clock, Bytes: int64(s.WordType.Size()),
			Stalled: r.Clock - call, Flow: f.info.flow, Line: tl.DriverOf(r.ctx).Line()})
	}
}

// atomicArrived changes the word, and sends its former value back.
func (x *run) atomicArrived(r *rank, user uint32, now unit.Time) {
	t := x.xfers.At(user)
	f := x.effects.At(t.ref)
	t.becomes(transferReply)
	former := f.win.Words(int(f.member))[f.word]
	r.arriveSpan(&f.wordUpdate, now, int64(f.typ.Size()))
	r.begin(now, r.backFrom(f.peer), noc.Control, int64(x.e.topo.Fabric().RequestBytes), user, r.nextKey(des.Arrive, seqReply))
	if x.history != nil {
		r.recordAt(history.RMW, now).SetAtomic(r.instr.Op, r.instr.Side, former)
	}
	done := *f // the table may grow
	f.value = former
	if done.changes(former) {
		x.update(&done.wordUpdate, now)
	}
}

// changes reports whether an atomic has an effect on a word that held a value.
func (f *effect) changes(held int64) bool {
	if f.op == swapWord {
		return held == f.expect
	}
	return f.value != 0
}

// poll reads words at the kernel's clock.
func (r *rank) poll(in *tl.Instr) {
	from, s := r.Clock, in.Side
	r.sync()
	for {
		if in.Op == tl.OpTestWord {
			r.watch = watch{OneSided: s}
			r.watch.at = r.watch.Failing(0)
			s.Hit = r.watch.at < 0
		} else {
			s.Got = s.Win.Words(int(s.Peer))[s.Word]
		}
		if !r.spins(in) {
			break
		}
		r.parkSpinning()
	}
	r.Spend(r.readCost(s))
	r.attribute(cause.Memory, cause.Word)
	r.book.Looked(in, r.watch.at)
	r.signalSpan(from, false)
}

// update applies an arrived update to a word, and resumes the ranks whose wait it satisfies.
func (x *run) update(f *wordUpdate, now unit.Time) {
	word := &f.win.Words(int(f.member))[f.word]
	v := f.value
	if f.op == addWord {
		v = f.typ.Wrap(*word + v)
	}
	if v == *word {
		return
	}
	*word = v
	x.changes++
	x.granted = 0
	if len(x.spinning) > 0 {
		x.resumeSpinning(now)
	}
	if x.watchers != nil {
		x.look(f.win, f.member, f.word, now)
	}
}

// look resumes the ranks whose wait a word satisfies now. A rank whose clock is ahead reads the
// word again at its clock.
func (x *run) look(win *mem.Window, member, word int32, now unit.Time) {
	for id := x.watchers[win.Team.PEs[member]]; id != 0; {
		r := &x.ranks[id-1]
		w := &r.watch
		id = w.next
		if w.posted || w.Win != win || w.Peer != member || w.Words[w.at] != word {
			continue
		}
		if at := w.Failing(w.at); at >= 0 {
			w.at = at
			continue
		}
		if now <= r.Clock {
			w.posted = true
			r.wake(r.Clock)
			continue
		}
		w.over = true
		r.Clock = ipcq.Wake(x.ring, r.since, now)
		x.resume(r)
	}
}

// addWatcher adds a rank to the list of waits for words of a PE.
func (x *run) addWatcher(r *rank) {
	if x.watchers == nil {
		x.watchers = make([]int32, x.e.m.NumPEs())
	}
	at := &x.watchers[r.watch.Win.Team.PEs[r.watch.Peer]]
	for *at != 0 && *at <= r.id {
		at = &x.ranks[*at-1].watch.next
	}
	r.watch.next = *at
	*at = r.id + 1
}

// removeWatcher removes a rank from the list.
func (x *run) removeWatcher(r *rank) {
	at := &x.watchers[r.watch.Win.Team.PEs[r.watch.Peer]]
	for *at != r.id+1 {
		at = &x.ranks[*at-1].watch.next
	}
	*at = r.watch.next
}
