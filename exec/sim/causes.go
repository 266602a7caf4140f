package sim

import (
	"kernbench/hw/pe"
	"kernbench/record/cause"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// This file writes causes to a log, if there is one: cause.Log. A rank keeps the point up to which
// each picosecond of its clock has a cause. When its clock moves, spent notes the reason. When
// another event has moved it, waited continues the chain at that event.

// causing is the state of a run for a log of causes.
type causing struct {
	causes  *cause.Log             // nil: causes are not recorded
	current cause.Point            // of the event that is being handled
	actor   *rank                  // rank whose kernel runs, or nil
	delayed map[uint32]cause.Point // of transfers that are seen later, by number
	busy    map[*pe.PE]*busy
	sites   map[siteKey]cause.Site
	last    cause.Point // point whose chain ends the run
}

// setCurrent notes the point of the event that is being handled.
func (c *causing) setCurrent(p cause.Point) { c.current = p }

type siteKey struct {
	rank int32
	op   tl.Op
	line string
}

// rankCauses is the state of a rank for a log of causes.
type rankCauses struct {
	at      cause.Point // of its clock
	own     cause.Owner // operation in progress
	pending cause.Point // of the next wake-up
	cells   []cause.Point
	acks    map[int32]cause.Point // by number of a peer: see peer.acked

	last, acked, stored, computed cause.Point // see the fields of the rank with these names
}

// startCauses begins the log of a run.
func (x *run) startCauses() {
	if x.causes = x.e.opts.Causes; x.causes == nil {
		return
	}
	x.delayed, x.busy, x.sites = map[uint32]cause.Point{}, map[*pe.PE]*busy{}, map[siteKey]cause.Site{}
}

// beginCauses begins the chain of a rank: at its clock, or behind another point.
func (r *rank) beginCauses(after cause.Point) {
	x := r.run
	if x.causes == nil {
		return
	}
	r.causes = &rankCauses{at: after, acks: map[int32]cause.Point{}}
	r.causes.own.Site = x.site(r, siteKey{rank: r.id, op: noOp}, "start")
	if after == 0 {
		r.causes.at = x.causes.Start(r.Clock, r.causes.own.Site)
	}
}

const noOp tl.Op = 255

// point returns the point of a rank's clock, or 0.
func (r *rank) point() cause.Point {
	if r.causes == nil {
		return 0
	}
	return r.causes.at
}

// site returns the number of an operation of a rank.
func (x *run) site(r *rank, k siteKey, call string) cause.Site {
	s, ok := x.sites[k]
	if !ok {
		s = x.causes.AddSite(cause.Operation{Rank: r.index, PE: r.pe, Call: call, Line: k.line})
		x.sites[k] = s
	}
	return s
}

// noteStep notes that the current operation is at a message of a ring, by its number.
func (r *rank) noteStep(number uint32) {
	if r.causes != nil {
		r.causes.own.Step = cause.StepOf(number)
	}
}

// performs notes the current operation of a rank.
func (r *rank) performs(in *tl.Instr) {
	if r.causes == nil || r.stream != nil { // which has named its own operation
		return
	}
	k := siteKey{r.id, in.Op, tl.DriverOf(r.ctx).Line()}
	if s, ok := r.run.sites[k]; ok {
		r.causes.own.Site = s
		return
	}
	r.causes.own.Site = r.run.site(r, k, in.Call())
}

// attribute notes reason the rank's clock has moved, and in which kind of unit.
func (r *rank) attribute(reason cause.Reason, k cause.Kind) {
	if r.causes != nil {
		r.attributeTo(reason, cause.At(k, int(r.seat)))
	}
}

// attributeTo is attribute for a resource.
func (r *rank) attributeTo(reason cause.Reason, at cause.Resource) {
	b := r.causes
	b.at = r.run.causes.AddAt(r.Clock, b.at, b.own, reason, at)
}

// waited continues the chain of a rank at the event that has moved its clock: the latest of some
// points that is not after it.
func (r *rank) waited(reason cause.Reason, at cause.Resource, until ...cause.Point) {
	b, log := r.causes, r.run.causes
	if b == nil {
		return
	}
	since := log.Time(b.at)
	var best cause.Point
	latest := since
	for _, p := range until {
		if p == 0 {
			continue
		}
		if t := log.Time(p); t > latest && t <= r.Clock {
			best, latest = p, t
		}
	}
	if best != 0 {
		b.at = log.Wait(since, best, b.own, reason, at)
	}
}

// resumed continues the chain when a parked kernel resumes.
func (r *rank) resumed(w waiting) {
	x, b := r.run, r.causes
	if r.Clock == r.since {
		return
	}
	at, reason, until := cause.Resource(0), cause.Unknown, x.current
	switch w {
	case forToken:
		at = r.rx[r.target].causes.ring
	case forCredit, forStream:
		at, reason = r.tx[r.target].causes.ring, cause.Credit
	case forDMA:
		at, reason = cause.At(cause.DMA, int(r.seat)), cause.Queueing
		until = x.busyOf(r.engines).leftAt(x.causes, int(r.target), r.Clock)
	case forWord, forChange:
		at = cause.At(cause.Word, int(r.watchedPE()))
	case forPeer:
		at = cause.At(cause.Peer, int(r.peers.at(r.target).pe))
	case forDrain:
		r.waited(reason, at, until, b.last)
		return
	case forOthers:
		at = cause.At(cause.Event, 0)
	}
	r.waited(reason, at, until)
	if w == forToken || w == forAny || w == forCredit || w == forStream || w == forWord || w == forChange {
		r.attribute(cause.Wake, cause.IPCQ)
	}
}

// watchedPE returns the PE whose words a rank waits for.
func (r *rank) watchedPE() int32 {
	if s := r.instr.Side; s != nil {
		return s.Win.Team.PEs[s.Peer]
	}
	return r.pe
}

// later returns the later of two points.
func (x *run) later(keep *cause.Point, p cause.Point) {
	if p != 0 && (*keep == 0 || x.causes.Time(p) > x.causes.Time(*keep)) {
		*keep = p
	}
}

// filledAt notes when a cell can be read.
func (b *rankCauses) filledAt(cell int32, p cause.Point) {
	for int(cell) >= len(b.cells) {
		b.cells = append(b.cells, 0)
	}
	b.cells[cell] = p
}

// filledBy returns when a cell can be read.
func (b *rankCauses) filledBy(cell int32) cause.Point {
	if int(cell) < len(b.cells) {
		return b.cells[cell]
	}
	return 0
}

// origins returns the point that a transfer starts from, at a time. It is the rank's clock if its
// kernel runs, else the event that is being handled.
func (r *rank) origins(at unit.Time) cause.Point {
	x := r.run
	p := x.current
	if x.actor == r {
		p = r.causes.at
	}
	return x.causes.Add(at, p, cause.Issue, cause.At(cause.DMA, int(r.seat)))
}

// acknowledged notes when a rank knows that all has taken effect at a peer.
func (r *rank) acknowledged(i int32, ack unit.Time) {
	x := r.run
	p := r.ackOf(i)
	x.later(&p, x.causes.Add(x.e.q.Now()+ack, x.current, cause.Protocol, cause.At(cause.Peer, int(r.peers.at(i).pe))))
	r.causes.acks[i] = p
}

// ackOf returns when the latest acknowledgement of a peer was back.
func (r *rank) ackOf(i int32) cause.Point {
	if r.causes == nil {
		return 0
	}
	return r.causes.acks[i]
}

// seenAt notes the future time at which an arrival is seen.
func (x *run) seenAt(user uint32, at unit.Time, reason cause.Reason) {
	if x.causes != nil {
		x.delayed[user] = x.causes.Add(at, x.current, reason, 0)
	}
}

// takeDelayed makes a delayed arrival the event that is being handled.
func (x *run) takeDelayed(user uint32) {
	if x.causes != nil {
		x.current = x.delayed[user]
		delete(x.delayed, user)
	}
}

// ended notes the end of a rank, at its clock.
func (r *rank) ended() {
	if r.causes == nil {
		return
	}
	r.waited(cause.Unknown, 0, r.causes.last, r.causes.acked)
	r.attribute(cause.Unknown, cause.None)
	r.run.later(&r.run.last, r.causes.at)
}

// endCauses adds the run to the log.
func (x *run) endCauses() {
	if x.causes == nil {
		return
	}
	v := cause.Run{Start: x.result.Start, End: x.result.End, Last: x.last}
	ranks := x.ranks
	if x.batch != nil {
		ranks = ranks[:len(x.batch.Streams)]
	}
	for i := range ranks {
		v.Ends, v.Ranks = append(v.Ends, ranks[i].point()), append(v.Ranks, ranks[i].index)
	}
	x.causes.AddRun(v)
}

// transferEnded notes that the event being handled completes a transfer of the rank's own.
func (r *rank) transferEnded() {
	if r.causes != nil {
		r.run.later(&r.causes.last, r.run.current)
	}
}

// oneSidedEnded notes that an operation of one-sided communication is complete: when the latest
// acknowledgement of a peer is back, or now where there is none.
func (r *rank) oneSidedEnded(peer int32) {
	switch {
	case r.causes == nil:
	case peer >= 0:
		r.run.later(&r.causes.acked, r.causes.acks[peer])
	default:
		r.run.later(&r.causes.acked, r.run.current)
	}
}

// waitedFor continues the chain at a point that may have moved the clock.
func (r *rank) waitedFor(k cause.Kind, number int, until cause.Point) {
	if r.causes != nil {
		r.waited(cause.Unknown, cause.At(k, number), until)
		r.attribute(cause.Unknown, cause.None)
	}
}

// waitedForOwn continues the chain at an operation that the rank has started itself.
func (r *rank) waitedForOwn() {
	if b := r.causes; b != nil {
		r.waited(cause.Unknown, 0, b.acked, b.stored, b.computed)
		r.attribute(cause.Unknown, cause.None)
	}
}

// wokenBy notes the cause of the next wake-up of a rank.
func (r *rank) wokenBy(p cause.Point) {
	if r.causes != nil {
		r.causes.pending = p
	}
}

// endsBy notes that a stream may continue after the end of a program or task.
func (r *rank) endsBy(p *rank) {
	if r.causes != nil {
		r.run.later(&r.causes.pending, p.causes.at)
	}
}

// performsOp notes the current operation of a stream.
func (r *rank) performsOp(op *launch.StreamOp) {
	if r.causes != nil {
		r.causes.own.Site = r.run.site(r, siteKey{rank: r.id, op: noOp - 1 - tl.Op(op.Kind), line: op.Line}, op.Kind.String())
	}
}
