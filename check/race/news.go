package race

import "kernbench/record/history"

// This file finds the agents of which a wait proves nothing new. Of these, few updates of the word
// know more than the agent that waits. A word may count signals of all ranks one by one. Then these
// are most agents, and each wait would sort the clocks of all updates once for each of them.
// Invariant: if an update comes after the completion of another one, it knows that one's time.
// Let the updates with news of an agent be so few that all may be missing. Then the wait proves
// nothing new of that agent, and no update of it that is news.

// counting is the result of countNews.
type counting struct {
	known []uint32 // by agent: the time that the agent that waits knows
	news  []int64  // by agent: the weight of the updates that know a later time
}

// countNews weighs for each agent the updates that know more of it than a clock does.
func (d *Detector) countNews(c *clock, opt []*event, w []int64) {
	if d.plain {
		return
	}
	s := &d.learning
	width := 0
	for _, u := range opt {
		width = max(width, d.width(&u.clk))
	}
	known, news := s.known[:0], s.news[:0]
	for a := range history.Agent(width) {
		known, news = append(known, d.at(c, a)), append(news, 0)
	}
	for i, u := range opt {
		own, t := int(u.clk.agent), d.times(&u.clk)
		for a := firstLater(known, t); a < len(t); a += 1 + firstLater(known[a+1:], t[a+1:]) {
			news[a] += w[i]
		}
		if (own >= len(t) || t[own] <= known[own]) && u.clk.time > known[own] {
			news[own] += w[i]
		}
	}
	s.known, s.news = known, news
}

// noNews reports whether no update with news of an agent needs to be there, if updates of a weight
// may be missing. It returns the time that is known.
func (d *Detector) noNews(a history.Agent, slack int64) (uint32, bool) {
	s := &d.learning
	if int(a) >= len(s.news) || s.news[a] > slack {
		return 0, false
	}
	return s.known[a], true
}

// unproven reports whether an update, and what comes before it, need not be there.
func (d *Detector) unproven(u *event, slack int64) bool {
	known, ok := d.noNews(u.clk.agent, slack)
	return ok && u.clk.time > known
}
