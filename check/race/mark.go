package race

import "kernbench/record/history"

// mark is an event of a stream. An agent that continues after it knows what the clock knows.
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
	d.marks[r.Ring] = mark{d.publish(r), r.Call, r.Line}
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

// nextTask judges the order of the tasks of a queue. Their effects are in that order, and so are
// those of agents that wait for them. The schedule decides which task comes first, unless the agent
// that posted the later one knew of the earlier post.
func (d *Detector) nextTask(queue history.Agent, m *mark) {
	last := &d.agents[queue].last
	next := post{witness: witness{m.clk.agent, m.clk.time}, call: m.call, line: m.line}
	if !d.reaches(&m.clk, last.agent, last.time) {
		if !last.rivals {
			d.rivals(last)
		}
		d.rivals(&next)
	}
	*last = next
}

func (d *Detector) rivals(p *post) {
	p.rivals = true
	d.depend("post", "which of two tasks comes first in their queue depends on the order of the posts", p.call, p.line)
}
