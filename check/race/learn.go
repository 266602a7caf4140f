package race

import (
	"cmp"
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
)

// question is a read of a word with its result. The answer is what holds in every choice of updates
// that explains the result.
type question struct {
	pool    *clockPool
	clk     *clock // of the reading agent, before it has learned anything
	asked   uint32 // the moment of the read: updates that know of it were later
	cmp     tl.Cmp
	value   int64
	typ     mem.WordType
	base    int64
	updates []*event
	later   []*event
	after   []*event // events later in the account that could have come earlier
}

// all are the updates that can have been there.
func (q *question) all(yield func(*event) bool) {
	for _, u := range q.updates {
		if !yield(u) {
			return
		}
	}
	for _, u := range q.later {
		if !q.pool.reaches(&u.clk, q.clk.agent, q.asked) && !yield(u) {
			return
		}
	}
	for _, u := range q.after {
		if !yield(u) {
			return
		}
	}
}

// knowledge holds what an agent learns when it reads a word.
type knowledge struct {
	one    *clock      // all that this clock knows, or nil
	times  []uint32    // and that of each agent at least up to here
	covers []linkCover // what has been sent on links has taken effect
	sure   []*event    // updates that have taken effect

	v     vecID // scratch of clock; 0: none so far
	known clock
}

type linkCover struct {
	link linkID
	upTo seqs
}

func (y *knowledge) reset() {
	y.one, y.times, y.covers, y.sure = nil, y.times[:0], y.covers[:0], y.sure[:0]
}

// at returns the time up to which an agent is known.
func (y *knowledge) at(p *clockPool, a history.Agent) uint32 {
	t := uint32(0)
	if int(a) < len(y.times) {
		t = y.times[a]
	}
	if y.one != nil {
		t = max(t, p.at(y.one, a))
	}
	return t
}

func (y *knowledge) width(p *clockPool) int {
	n := len(y.times)
	if y.one != nil {
		n = max(n, p.width(y.one))
	}
	return n
}

// whole sets y to all that a clock knows.
func (y *knowledge) whole(p *clockPool, c *clock) {
	n := max(y.width(p), p.width(c))
	for len(y.times) < n {
		y.times = append(y.times, 0)
	}
	for i := range y.times {
		y.times[i] = max(y.at(p, history.Agent(i)), p.at(c, history.Agent(i)))
	}
	y.one = nil
}

func (y *knowledge) cover(l linkID, upTo seqs) {
	if l == 0 || upTo == (seqs{}) {
		return
	}
	for i := range y.covers {
		if y.covers[i].link == l {
			y.covers[i].upTo.raise(upTo)
			return
		}
	}
	y.covers = append(y.covers, linkCover{l, upTo})
}

// clock returns a clock with this knowledge.
func (y *knowledge) clock(p *clockPool) *clock {
	if len(y.times) == 0 && y.one != nil {
		return y.one
	}
	if y.one != nil {
		y.whole(p, y.one)
	}
	if y.v == 0 {
		y.v = p.newVec()
	}
	p.setTimes(y.v, y.times)
	y.known = clock{v: y.v, agent: -1}
	return &y.known
}

// common reduces y to what also holds in o.
func (d *Detector) common(y, o *knowledge) {
	yc, oc := y.clock(&d.clockPool), o.clock(&d.clockPool)
	n := len(y.sure)
	for _, u := range o.sure {
		if !slices.Contains(y.sure[:n], u) && d.knows(yc, u) {
			y.sure = append(y.sure, u)
		}
	}
	y.sure = slices.DeleteFunc(y.sure, func(u *event) bool { return !slices.Contains(o.sure, u) && !d.knows(oc, u) })
	for _, x := range o.covers {
		y.cover(x.link, d.emptied(x.link, yc, x.upTo))
	}
	kept := y.covers[:0]
	for _, c := range y.covers {
		upTo := d.emptiedUpTo(o, c.link, oc, c.upTo)
		for k := range upTo {
			c.upTo[k] = min(c.upTo[k], upTo[k])
		}
		if c.upTo != (seqs{}) {
			kept = append(kept, c)
		}
	}
	y.covers = kept
	y.commonTimes(&d.clockPool, o)
}

// emptiedUpTo returns up to which number the messages of link l have taken effect, according to
// knowledge y with clock c. Numbers above most are of no interest.
func (d *Detector) emptiedUpTo(y *knowledge, l linkID, c *clock, most seqs) seqs {
	upTo := d.emptied(l, c, most)
	for i := range y.covers {
		if y.covers[i].link == l {
			upTo.raise(y.covers[i].upTo)
		}
	}
	return upTo
}

func (y *knowledge) commonTimes(p *clockPool, o *knowledge) {
	n := min(y.width(p), o.width(p))
	for len(y.times) < n {
		y.times = append(y.times, 0)
	}
	for i := range n {
		y.times[i] = min(y.at(p, history.Agent(i)), o.at(p, history.Agent(i)))
	}
	y.one, y.times = nil, y.times[:n]
}

// weaker reports whether y adds less than o to what an agent with clock c knows.
func (y *knowledge) weaker(p *clockPool, o *knowledge, c *clock) bool {
	for i := range o.width(p) {
		a := history.Agent(i)
		if t := o.at(p, a); t > p.at(c, a) && y.at(p, a) < t {
			return true
		}
	}
	for _, x := range o.covers {
		i := slices.IndexFunc(y.covers, func(c linkCover) bool { return c.link == x.link })
		if i < 0 {
			return true
		}
		for k := range x.upTo {
			if y.covers[i].upTo[k] < x.upTo[k] {
				return true
			}
		}
	}
	return slices.ContainsFunc(o.sure, func(u *event) bool { return !slices.Contains(y.sure, u) })
}

// learning is scratch memory.
type learning struct {
	answer, other, again, choice knowledge
	opt                          []*event
	weight                       []int64
	order                        []weightedTime
	counting
}

// learn answers a question. It returns false if no choice of updates explains the result.
func (d *Detector) learn(q *question, y *knowledge) bool {
	y.reset()
	sets := false
	for u := range q.all {
		sets = sets || u.set
	}
	if !sets {
		return d.last(q, nil, y)
	}
	found := false
	try := func(c *event) {
		if !found {
			found = d.last(q, c, y)
		} else if d.last(q, c, &d.learning.other) {
			d.common(y, &d.learning.other)
		}
	}
	overwritten := false
	for u := range q.all {
		overwritten = overwritten || u.set && d.knows(q.clk, u)
	}
	if !overwritten {
		try(nil)
	}
	for u := range q.all {
		if u.set && !d.masked(q, u) {
			try(u)
		}
	}
	return found
}

// masked reports whether a set is hidden by another one that had taken effect.
func (d *Detector) masked(q *question, u *event) bool {
	for o := range q.all {
		if o != u && o.set && d.knows(q.clk, o) && d.before(u, o, &o.clk) {
			return true
		}
	}
	return false
}

// last answers a question under the assumption that c was the last set; nil is the word's initial
// value. It returns false if the word cannot have got the value that was read.
func (d *Detector) last(q *question, c *event, y *knowledge) bool {
	y.reset()
	v := q.base
	if c != nil {
		v = c.value()
	}
	opt := d.learning.opt[:0]
	for u := range q.all {
		switch {
		case u.set || c != nil && d.before(u, c, &c.clk):
		case d.knows(q.clk, u) && (c == nil || d.before(c, u, &u.clk)):
			v += u.value()
		default:
			opt = append(opt, u)
		}
	}
	d.learning.opt = opt
	need, sign := missing(q, q.typ.Wrap(v))
	switch {
	case need == 0:
	case q.cmp == tl.EQ && !divides(opt, need):
		return false
	case q.cmp == tl.EQ && differ(opt):
		if !d.choose(opt, need*sign, y) {
			return false
		}
	case !d.weigh(q, opt, need, sign, y):
		return false
	}
	if c != nil {
		if y.width(&d.clockPool) > 0 {
			y.whole(&d.clockPool, &c.clk)
		} else {
			y.one = &c.clk
		}
		y.sure = append(y.sure, c)
		y.cover(c.link, c.before)
	}
	return true
}

// divides reports whether need is a multiple of the greatest common divisor of all additions.
// Otherwise no choice of updates adds up to it.
func divides(opt []*event, need int64) bool {
	g := int64(0)
	for _, u := range opt {
		for a, b := g, u.value(); ; a, b = b, a%b {
			if b == 0 {
				g = a
				break
			}
		}
	}
	return g != 0 && need%g == 0
}

// missing returns how much must have been added to v (sign 1), or taken away (-1), or that it must
// have changed (0).
func missing(q *question, v int64) (need int64, sign int64) {
	if q.cmp.Holds(q.typ, v, q.value) {
		return 0, 0
	}
	switch q.cmp {
	case tl.GE:
		return q.value - v, 1
	case tl.GT:
		return q.value - v + 1, 1
	case tl.LE:
		return v - q.value, -1
	case tl.LT:
		return v - q.value + 1, -1
	case tl.EQ:
		if q.typ.Less(v, q.value) {
			return q.value - v, 1
		}
		return v - q.value, -1
	}
	return 1, 0
}

// weigh finds what holds in every choice of updates whose weights add up to need. It returns false
// if there is no choice. A choice with an update also has all updates that certainly came before
// it.
func (d *Detector) weigh(q *question, opt []*event, need, sign int64, y *knowledge) bool {
	s := &d.learning
	w := s.weight[:0]
	n := 0
	sum, least := int64(0), int64(0)
	for _, u := range opt {
		x := u.value() * sign
		if sign == 0 && u.value() != 0 {
			x = 1
		}
		if x <= 0 {
			continue
		}
		if sum == 0 || x < least {
			least = x
		}
		sum += x
		opt[n] = u
		w = append(w, x)
		n++
	}
	opt = opt[:n]
	s.weight = w
	if sum < need {
		return false
	}
	single := true
	for _, u := range opt[1:] {
		single = single && u.agent == opt[0].agent
	}
	switch {
	case single: // its later clocks know more
		for i, have := 0, int64(0); ; i++ {
			if have += w[i]; have >= need {
				y.one = &opt[i].clk
				break
			}
		}
	case sum-need < least: // none may be missing
		for _, u := range opt {
			y.whole(&d.clockPool, &u.clk)
		}
	default:
		d.countNews(q.clk, opt, w)
		d.leastTimes(opt, w, need, sum-need, y)
	}
	d.weighLinks(opt, w, sum-need, single, y)
	s.known, s.news = s.known[:0], s.news[:0]
	return true
}

// leastTimes finds for each agent the least time up to which it must be known. It is the time at
// which the updates that know no more of it reach the weight needed. slack is the rest of the
// weight.
func (d *Detector) leastTimes(opt []*event, w []int64, need, slack int64, y *knowledge) {
	s := &d.learning
	width := 0
	for _, u := range opt {
		width = max(width, d.width(&u.clk))
	}
	for len(y.times) < width {
		y.times = append(y.times, 0)
	}
	for a := range history.Agent(width) {
		if t, ok := d.noNews(a, slack); ok {
			y.times[a] = t
			continue
		}
		order := s.order[:0]
		for i, u := range opt {
			order = append(order, weightedTime{d.at(&u.clk, a), w[i]})
		}
		s.order = order
		slices.SortFunc(order, func(x, y weightedTime) int { return cmp.Compare(x.time, y.time) })
		have := int64(0)
		for _, x := range order {
			if have += x.weight; have >= need {
				y.times[a] = x.time
				break
			}
		}
	}
}

// weightedTime is the time up to which an update's agent knows some agent, and the update's weight.
type weightedTime struct {
	time   uint32
	weight int64
}

// weighLinks finds which updates must have taken effect, and the numbers up to which their links
// have been emptied. slack is the weight that may be missing.
func (d *Detector) weighLinks(opt []*event, w []int64, slack int64, single bool, y *knowledge) {
	for i, u := range opt {
		if len(opt) > mostChoices && d.unproven(u, slack) {
			continue
		}
		first := true // of its agent
		if !single {
			for _, o := range opt[:i] {
				first = first && o.agent != u.agent
			}
		} else {
			first = i == 0
		}
		if first {
			var upTo seqs
			for c := range upTo {
				upTo[c] = emptied(opt[i:], w[i:], slack, c)
			}
			if !single && slack > 0 && len(opt) <= mostChoices {
				upTo.raise(d.emptiedByAny(u.link, opt, w, slack))
			}
			y.cover(u.link, upTo)
		}
		gone := w[i] // without u, and without what comes after it
		for k := 0; k < len(opt) && gone <= slack; k++ {
			if o := opt[k]; k != i && d.before(u, o, &o.clk) {
				gone += w[k]
			}
		}
		if gone > slack {
			y.sure = append(y.sure, u)
		}
	}
}

// emptiedByAny is emptied with the updates of other agents that know of effects on the link.
func (d *Detector) emptiedByAny(l linkID, opt []*event, w []int64, slack int64) (upTo seqs) {
	var most seqs
	for _, u := range opt {
		if u.link == l {
			most.raise(u.before)
		}
	}
	if most == (seqs{}) {
		return upTo
	}
	var emptied [mostChoices]seqs
	for i, u := range opt {
		if emptied[i] = d.emptied(l, &u.clk, most); u.link == l {
			emptied[i].raise(u.before)
		}
		for _, o := range opt {
			if u.future && o.link == l && d.foreseenBefore(o, u) {
				emptied[i].raise(o.before)
			}
		}
	}
	for c := range upTo {
		for i := range opt { // up to a number that enough updates know of
			gone := int64(0)
			for k := range opt {
				if emptied[k][c] >= emptied[i][c] {
					gone += w[k]
				}
			}
			if gone > slack {
				upTo[c] = max(upTo[c], emptied[i][c])
			}
		}
	}
	return upTo
}

// emptied returns the highest number up to which the first update's link has been emptied. Without
// the updates that come after it there, too much weight is missing. Later updates of an agent never
// come after less than earlier ones.
func emptied(opt []*event, w []int64, slack int64, c int) uint32 {
	gone := int64(0)
	for k := len(opt) - 1; k >= 0; k-- {
		if o := opt[k]; o.agent == opt[0].agent {
			if gone += w[k]; gone > slack {
				return o.before[c]
			}
		}
	}
	return 0
}
