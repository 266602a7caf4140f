package race

import (
	"fmt"
	"strings"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/unit"
)

// region names memory.
func (d *Detector) region(a mem.Addr) string {
	if d.opts.Region != nil {
		if s := d.opts.Region(a); s != "" {
			return s
		}
	}
	return a.String()
}

// buffer returns the part of a memory name that distinguishes hazards of the same lines.
func (d *Detector) buffer(where string) string {
	if name, _, ok := strings.Cut(where, " of "); ok {
		return name
	}
	return ""
}

func (d *Detector) peName(pe int) string {
	switch {
	case pe < 0:
		return ""
	case d.opts.PEName != nil:
		return d.opts.PEName(pe)
	}
	return fmt.Sprintf("PE %d", pe)
}

// side begins the description of one side of a hazard.
func (d *Detector) side(w history.AgentInfo, call, line string, t unit.Time) Access {
	s := Access{Info: w, Agent: w.String(), Rank: w.Rank, PE: d.peName(w.PE), Call: call, Line: line}
	if d.log.Timed {
		s.Time = t
	}
	return s
}

// agentOf returns the agent of an event, with its task.
func (d *Detector) agentOf(e *event) history.AgentInfo { return d.log.InfoIn(e.agent, d.taskOf(e)) }

// describe returns the side of an event.
func (d *Detector) describe(e *event) Access { return d.describeIn(e, d.taskOf(e)) }

// describeIn returns the side of an event of a task.
func (d *Detector) describeIn(e *event, task int32) Access {
	s := d.side(d.log.InfoIn(e.agent, task), d.call(e), d.line(e), e.time)
	s.Addr = uint64(e.addr)
	if !e.update {
		s.Bytes = e.bytes()
		if e.rows > 1 {
			s.Rows = e.rows
		}
	}
	switch {
	case e.update && e.set:
		s.Does = "set " + itoa(e.value())
	case e.update:
		s.Does = "add " + itoa(e.value())
	case e.atomic:
		s.Does = "combine"
	case e.write:
		s.Does = "write"
	default:
		s.Does = "read"
	}
	return s
}

// open begins a hazard. It counts a known hazard and returns nil. A void pass has no more hazards.
func (d *Detector) open(k Kind, a mem.Addr, f, e Access, fa, ea history.Agent) *Hazard {
	if d.void {
		return nil
	}
	key := hazardKey{kind: k, call1: f.Call, line1: f.Line, call2: e.Call, line2: e.Line}
	if f.Line == "" && e.Line == "" && !d.log.WithoutLines() {
		key.agent1, key.agent2 = fa, ea
	}
	where := d.region(a)
	key.buffer = d.buffer(where)
	h := d.hazards.find(key, d.opts.Most)
	if h != nil {
		h.First, h.Second, h.Where, h.Addr = f, e, where, uint64(a)
	}
	return h
}

// race reports two accesses of the same bytes.
func (d *Detector) race(f, e *event, a mem.Addr, n int64) {
	d.maybeLocked(f.agent, e.agent)
	h := d.open(Race, a, d.describe(f), d.describe(e), f.agent, e.agent)
	if h == nil {
		return
	}
	h.First.State = d.state(f, e)
	h.Missing = d.missingEdge(f, e)
}

// state describes the progress of f when e began, as the agent of e can know it.
func (d *Detector) state(f, e *event) string {
	switch {
	case d.doneAt(f) == 0:
		return "possibly still in flight"
	case f.agent != e.agent && d.reaches(&d.agents[e.agent].clk, f.agent, f.issued):
		return fmt.Sprintf("in this run it ended before the other access, but it was still in flight at the last release of %v", d.agentOf(f))
	}
	return fmt.Sprintf("in this run it ended before the other access, but nothing notifies %v of its end", d.agentOf(e))
}

// lost reports two updates of a word.
func (d *Detector) lost(f, e *event) {
	h := d.open(LostUpdate, e.addr, d.describe(f), d.describe(e), f.agent, e.agent)
	if h != nil {
		h.Missing = d.missingUpdate(f, e)
	}
}

// missingUpdate returns what would order two updates of a word of which one hides the other.
func (d *Detector) missingUpdate(f, e *event) string {
	setter, other := f, e
	if !setter.set || setter.rmw {
		setter, other = e, f
	}
	who, whom := d.agentOf(setter), d.agentOf(other)
	if setter.agent == other.agent {
		return fmt.Sprintf("a fence or quiet of %v between %s and %s: nothing orders two notifications", who, d.spot(f), d.spot(e))
	}
	return fmt.Sprintf("%v must know that the update of %v has arrived before it sets the word, or %v that the set has: a barrier (with quiet) between %s and %s; or add a negative number instead of setting",
		who, whom, whom, d.spot(f), d.spot(e))
}

// missed reports a wait and an update that may overwrite the value it waits for.
func (d *Detector) missed(w *word, s *sighting, e *event) {
	who := d.log.InfoIn(s.agent, s.task)
	first := d.side(who, s.call, s.line, s.when)
	first.Addr, first.Does = uint64(w.addr), fmt.Sprintf("wait %v %d", s.cmp, s.value)
	h := d.open(MissedValue, w.addr, first, d.describe(e), s.agent, e.agent)
	if h == nil {
		return
	}
	h.Missing = fmt.Sprintf("%v may update the word before %v has looked: let it wait for an answer that %v sends after %s; or use a word that only grows, and wait with >=",
		d.agentOf(e), who, who, spot(s.call, s.line))
}

// slot reports the use of a slot that was given back.
func (d *Detector) slot(use, send place) {
	user, sender := d.log.Info(use.agent), d.log.Info(send.agent) // rings do not belong to tasks
	f, e := d.side(user, use.call, use.line, use.when), d.side(sender, send.call, send.line, send.when)
	f.Does, e.Does = "read", "write"
	h := d.open(Slot, 0, f, e, use.agent, send.agent)
	if h == nil {
		return
	}
	h.Where = fmt.Sprintf("a ring slot from %v to %v", sender, user)
	h.Missing = fmt.Sprintf("the tensor is used at %s after its slot was given back: use it before the next receive from there, or copy it first",
		spot(use.call, use.line))
}

// call and line are where an event is issued, and spot names that.
func (d *Detector) call(e *event) string { return d.spots.list[e.place].call }
func (d *Detector) line(e *event) string { return d.spots.list[e.place].line }
func (d *Detector) spot(e *event) string { return spot(d.call(e), d.line(e)) }

// spot names a place of a program.
func spot(call, line string) string {
	switch {
	case line == "":
		return call
	case call == "":
		return line
	}
	return call + " at " + line
}

// missingEdge returns what would order f before e.
func (d *Detector) missingEdge(f, e *event) string {
	who, whom := d.agentOf(f), d.agentOf(e)
	here, there := d.spot(f), d.spot(e)
	if f.agent == e.agent {
		return d.missingInOne(f, e, here, there)
	}
	if hint := d.sectionHint(f, e); hint != "" {
		return hint
	}
	if hint := d.missingLines(f, e); hint != "" {
		return hint
	}
	switch s, u := d.unsure(f, e); {
	case u != nil && u.order() > s.turn && !f.write: // memory that is used again: see below
	case u != nil && u.order() > s.turn: // this wait is for another one
		return fmt.Sprintf("%v must wait, before %s, for %s of %v too; or, if %s is of a later round, %v must first wait for a signal that %v sends after %s, or meet it in a barrier",
			whom, there, d.spot(u), who, here, who, whom, there)
	case u != nil && u.set:
		return fmt.Sprintf("%s of %v ends with %v %d, and another set can satisfy it without %s of %v: let %v set the word again only when %v has answered",
			spot(s.call, s.line), whom, s.cmp, s.value, d.spot(u), who, who, whom)
	case u != nil:
		return fmt.Sprintf("%s of %v ends with %v %d, and other updates can satisfy it without %s of %v: wait for all that is added, or give each sender a word of its own",
			spot(s.call, s.line), whom, s.cmp, s.value, d.spot(u), who)
	}
	finish := d.finishing(f, int32(whom.PE))
	if n := d.releasedAfter(f, e.agent); n != nil {
		finish = d.finishing(f, n.to) // a fence orders nothing across destinations
		return fmt.Sprintf("%s of %v between %s and %s, which notifies %v", finish, who, here, spot(n.call, n.line), whom)
	}
	if d.doneAt(f) != 0 {
		finish = "" // it is complete, but no agent is notified
	}
	if !f.write {
		return fmt.Sprintf("%v must not write before %v has read: %s between %s and %s; or a signal that %v sends%s, and a wait for it in %v before %s",
			whom, who, meeting(who, whom), here, there, who, after(finish, here), whom, there)
	}
	return fmt.Sprintf("%v must wait, before %s, for a signal that %v sends%s; or %s between them", whom, there, who,
		after(finish, here), meeting(who, whom))
}

func after(finish, here string) string {
	if finish == "" {
		return " after " + here
	}
	return " after " + here + " and " + finish
}

// finishing returns the operation after which an agent of a PE knows that an access is complete.
func (d *Detector) finishing(f *event, pe int32) string {
	switch {
	case f.kind == history.Copy:
		return "the end of the copy"
	case f.plain() && !f.write:
		return "a use of the loaded tensor (or a pipe_barrier)"
	case f.plain():
		return "a pipe_barrier"
	case f.link == 0 || d.linkAt(f.link).to != pe: // a get, or the source of a put, too
		return "a quiet"
	}
	return "a fence (or quiet)"
}

// missingInOne is missingEdge for two accesses of the same agent.
func (d *Detector) missingInOne(f, e *event, here, there string) string {
	switch {
	case f.plain() && !f.write:
		return fmt.Sprintf("a use of the tensor loaded by %s, or a pipe_barrier, before %s", here, there)
	case f.plain():
		return fmt.Sprintf("a pipe_barrier between %s and %s", here, there)
	case f.link != 0 && f.link == e.link:
		return fmt.Sprintf("a fence between %s and %s", here, there)
	case f.kind == history.Put && !f.local && e.kind != history.Put:
		return fmt.Sprintf("a quiet between %s and %s: a put returns before it has arrived", here, there)
	}
	return fmt.Sprintf("a quiet between %s and %s: until then the memory belongs to the DMA", here, there)
}

// releasedAfter returns the last known release of the agent of f after f that has reached agent x.
// Earlier ones, such as a signal that f itself carries, need not have reached it.
func (d *Detector) releasedAfter(f *event, x history.Agent) *release {
	a := &d.agents[f.agent]
	known := d.at(&d.agents[x].clk, f.agent)
	if known < f.issued {
		return nil
	}
	for i := a.released - 1; i >= max(0, a.released-len(a.releases)); i-- {
		r := &a.releases[i%len(a.releases)]
		if r.time >= f.issued && r.time <= known && r.call != "" {
			return r
		}
	}
	return nil
}

// unsure finds a wait of the agent of e that may have ended without the update that would have
// ordered f before it. Usually the n-th wait for a word is for the n-th update by an agent, so such
// an update is preferred.
func (d *Detector) unsure(f, e *event) (wait *sighting, update *event) {
	a := &d.agents[e.agent]
	for i := a.waits - 1; i >= max(0, a.waits-len(a.waited)); i-- {
		s := &a.waited[i%len(a.waited)]
		updates, later := d.updatesOf(s.word)
		for _, us := range [...][]*event{updates, later} {
			for _, u := range us {
				if u.agent != f.agent || !u.future && d.knows(&a.clk, u) || !d.knownOver(f, u) {
					continue
				}
				if u.order() <= s.turn {
					return s, u
				}
				if update == nil {
					wait, update = s, u
				}
			}
		}
	}
	return wait, update
}

// knownOver reports whether an agent that knows update u, by the agent of f, also knows that f is
// over.
func (d *Detector) knownOver(f, u *event) bool {
	for ; f != nil; f = d.carrierOf(f) {
		if f == u || d.doneAt(f) != 0 && u.clk.time >= f.done || f.link != 0 && f.link == u.link && u.before[f.class] >= f.seq {
			return true
		}
	}
	return false
}
