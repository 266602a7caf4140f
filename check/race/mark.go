package race

import "kernbench/record/history"

// mark is an event that an agent has come to: an agent that goes on after it knows what the clock
// knows.
type mark struct {
	clk        clock
	call, line string
}

// post is where the last task of a queue was posted.
type post struct {
	witness
	call, line string
	rivals     bool // it is known to depend on the schedule
}

func (d *Detector) mark(r *history.Record) {
	old := d.marks[r.Ring]
	d.drop(&old.clk)
	d.marks[r.Ring] = mark{d.tell(r), r.Call, r.Line}
}

func (d *Detector) pass(r *history.Record) {
	m, ok := d.marks[r.Ring]
	if !ok {
		return
	}
	if w := d.log.Info(r.Agent); w.Queue > 0 && w.Task == 0 {
		d.nextTask(r.Agent, &m)
	}
	d.join(&d.agents[r.Agent].clk, &m.clk)
}

// nextTask judges the order of the tasks of a queue. What they do goes in that order, and so
// does what others do after them; but whose task came first is for the schedule to decide,
// unless who posted the later one knew of the post of the one before.
func (d *Detector) nextTask(queue history.Agent, m *mark) {
	last := &d.agents[queue].last
	next := post{witness: witness{m.clk.agent, m.clk.time}, call: m.call, line: m.line}
	if m.clk.at(last.agent) < last.time {
		if !last.rivals {
			d.rivals(last)
		}
		d.rivals(&next)
	}
	*last = next
}

func (d *Detector) rivals(p *post) {
	p.rivals = true
	d.depend("post", "which of two tasks comes first in their queue depends on who posts first", p.call, p.line)
}
