package view

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"

	"kernbench/lab/explain"
	"kernbench/record/cause"
	"kernbench/unit"
)

// laner makes the time line of a run in two walks over its intervals. The first one measures, and
// the second one keeps the single spans that fit.
type laner struct {
	d      *explain.Detail
	events *events
	o      Options

	start  unit.Time
	length unit.Time
	width  unit.Time
	bins   int

	order []place     // all ranks
	seats []int32     // of an operation: its rank's number in order
	lanes []*laneBins // as order; nil: the rank gets no lane
	names *names

	waits   waitKeeper
	work    map[cause.Site]unit.Time // of an operation: its own time
	waiting map[cause.Site]unit.Time // of an operation: while it waits for others
	shares  [][]float64              // by reason and bin, of all ranks
}

// laneBins holds what a rank did in each bin.
type laneBins struct {
	end     unit.Time
	class   int
	reasons [][]float32 // by reason: time in each bin; nil: none
	own     []float32
	starts  []int32 // spans that start in a bin
	count   int
}

func newLaner(d *explain.Detail, e *events, o Options) *laner {
	l := &laner{
		d: d, events: e, o: o,
		work: map[cause.Site]unit.Time{}, waiting: map[cause.Site]unit.Time{},
	}
	start, end := d.Span()
	l.start, l.length = start, max(end-start, 1)
	l.width = (l.length + maxBins - 1) / maxBins
	l.bins = int((l.length + l.width - 1) / l.width)
	l.names = newNames(d)
	l.waits.begin(start, l.length)
	l.shares = make([][]float64, len(cause.Reasons()))
	l.classes()
	return l
}

// classes finds the ranks that do the same, and chooses those that get a lane: one of each class
// first, then the others by rank.
func (l *laner) classes() {
	lines := map[place]uint64{}
	var calls = map[string]uint64{}
	for i := range l.d.Operations() {
		o := l.d.Operation(cause.Site(i + 1))
		key := o.Call + " " + o.Line
		h, ok := calls[key]
		if !ok {
			f := fnv.New64a()
			f.Write([]byte(key))
			h = f.Sum64()
			calls[key] = h
		}
		lines[place{o.Rank, o.PE}] += mix(h, 1)
	}
	l.order = slices.SortedFunc(maps.Keys(lines), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.pe, b.pe))
	})
	seen, number := map[[2]uint64]int{}, map[place]int32{}
	class := make([]int, len(l.order))
	l.lanes = make([]*laneBins, len(l.order))
	shown := 0
	for i, p := range l.order {
		number[p] = int32(i)
		k := [2]uint64{lines[p], l.events.does[p]}
		n, ok := seen[k]
		if !ok {
			n = len(seen)
			seen[k] = n
			if shown < maxLanes {
				l.lanes[i] = l.newLane(n)
				shown++
			}
		}
		class[i] = n
	}
	for i := range l.order {
		if l.lanes[i] == nil && shown < maxLanes {
			l.lanes[i] = l.newLane(class[i])
			shown++
		}
	}
	l.seats = make([]int32, l.d.Operations()+1)
	for i := range l.d.Operations() {
		o := l.d.Operation(cause.Site(i + 1))
		l.seats[i+1] = number[place{o.Rank, o.PE}]
	}
}

func (l *laner) newLane(class int) *laneBins {
	return &laneBins{
		class: class, reasons: make([][]float32, len(l.shares)), own: make([]float32, l.bins), starts: make([]int32, l.bins),
	}
}

// isOwn reports whether the time of an interval is the rank's own work: of its own operation, or of
// another one of the same rank.
func (l *laner) isOwn(s *explain.Interval) bool { return l.seats[s.Own] == l.seats[s.Site] }

// measure walks over all intervals, and adds them up.
func (l *laner) measure() {
	l.d.Each(nil, func(s *explain.Interval) {
		own := l.isOwn(s)
		if own {
			l.work[s.Own] += s.End - s.Start
		} else {
			l.waiting[s.Own] += s.End - s.Start
		}
		lane := l.lanes[l.seats[s.Own]]
		if lane == nil {
			return
		}
		lane.end = max(lane.end, s.End)
		lane.count++
		lane.starts[l.bin(s.Start)]++
		if lane.reasons[s.Why] == nil {
			lane.reasons[s.Why] = make([]float32, l.bins)
		}
		if l.shares[s.Why] == nil {
			l.shares[s.Why] = make([]float64, l.bins)
		}
		l.each(s.Start, s.End, func(bin int, d unit.Time) {
			lane.reasons[s.Why][bin] += float32(d)
			l.shares[s.Why][bin] += float64(d)
			if own {
				lane.own[bin] += float32(d)
			}
		})
	}, l.waits.add)
}

// bin returns the bin of a time.
func (l *laner) bin(t unit.Time) int { return min(l.bins-1, max(0, int((t-l.start)/l.width))) }

// each calls a function with each bin that an interval has a part of.
func (l *laner) each(start, end unit.Time, f func(bin int, d unit.Time)) {
	for start < end {
		bin := l.bin(start)
		next := end
		if bin < l.bins-1 {
			next = min(end, l.start+unit.Time(bin+1)*l.width)
		}
		f(bin, next-start)
		start = next
	}
}

// timeline makes the time line.
func (l *laner) timeline() *Timeline {
	t := &Timeline{
		Start: l.start, Length: l.length, Width: l.width, Ranks: len(l.order), Lanes: []*Lane{}, Classes: []Class{},
	}
	for _, r := range cause.Reasons() {
		t.Reasons = append(t.Reasons, r.String())
	}
	full := make([]float64, l.bins) // of a bin: the time of all ranks, or more where units of a PE overlap
	for bin := range l.bins {
		for _, s := range l.shares {
			if s != nil {
				full[bin] += s[bin]
			}
		}
	}
	shown := 0
	for _, lane := range l.lanes {
		if lane != nil {
			shown++
		}
	}
	for bin := range full {
		width := min(l.width, l.length-unit.Time(bin)*l.width)
		full[bin] = max(full[bin], float64(width)*float64(shown))
	}
	for _, s := range l.shares {
		row := make([]byte, 0, l.bins)
		for bin, d := range s {
			row = append(row, byte(255*d/full[bin]+0.5))
		}
		t.Shares = append(t.Shares, row)
	}
	position := map[int]int{} // of a class that is shown
	for i, p := range l.order {
		lane := l.lanes[i]
		if lane == nil {
			continue
		}
		n, ok := position[lane.class]
		if !ok {
			n = len(t.Classes)
			position[lane.class] = n
			t.Classes = append(t.Classes, Class{Rank: len(t.Lanes)})
		}
		c := &t.Classes[n]
		c.Ranks = append(c.Ranks, len(t.Lanes))
		t.Lanes = append(t.Lanes, &Lane{
			Rank: int(p.rank), PE: l.d.PE(int(p.pe)), Class: n, End: lane.end - l.start, Bins: lane.bytes(),
		})
		if lane.end-l.start > t.Lanes[c.Rank].End {
			c.Rank = len(t.Lanes) - 1
		}
	}
	l.rings(t)
	l.spans(t)
	l.path(t)
	return t
}

// bytes returns the bins of a lane.
func (b *laneBins) bytes() []byte {
	out := make([]byte, len(b.own))
	for i := range out {
		best, sum := 0, float32(0)
		for why, times := range b.reasons {
			if times == nil {
				continue
			}
			sum += times[i]
			if times[i] > 0 && (best == 0 || times[i] > b.reasons[best-1][i]) {
				best = why + 1
			}
		}
		if best > 0 {
			out[i] = byte(best) | byte(15*b.own[i]/sum+0.5)<<4
		}
	}
	return out
}

// window returns the part of the time that gets single spans: as much of the chosen one as fits.
// whole reports whether all lanes have them there, and not only one of each class.
func (l *laner) window(t *Timeline) (from, until unit.Time, whole bool) {
	from, until = l.o.From, l.o.Until
	if until == 0 || until > l.start+l.length {
		until = l.start + l.length
	}
	from = min(max(from, l.start), until)
	all, some := make([]int, l.bins), make([]int, l.bins)
	i := 0
	for _, lane := range l.lanes {
		if lane == nil {
			continue
		}
		for bin, n := range lane.starts {
			all[bin] += int(n)
			if t.Classes[t.Lanes[i].Class].Rank == i {
				some[bin] += int(n)
			}
		}
		i++
	}
	for _, count := range [][]int{all, some} {
		sum, first, last := 0, l.bin(from), l.bin(until-1)
		for bin := first; bin <= last; bin++ {
			if sum += count[bin]; sum > maxSpans {
				last = bin - 1
			}
		}
		if sum <= maxSpans {
			return from, until, len(count) > 0 && &count[0] == &all[0]
		}
		if &count[0] == &some[0] {
			return from, max(from, min(until, l.start+unit.Time(max(first, last+1))*l.width)), false
		}
	}
	return from, from, false
}

// spans fills in the single spans.
func (l *laner) spans(t *Timeline) {
	from, until, whole := l.window(t)
	t.From, t.Until, t.Whole = from-l.start, until-l.start, whole
	builders := make([]*spanBuilder, len(l.order))
	i := 0
	for seat, lane := range l.lanes {
		if lane == nil {
			continue
		}
		if whole || t.Classes[t.Lanes[i].Class].Rank == i {
			builders[seat] = &spanBuilder{names: l.names, lane: i}
		}
		i++
	}
	left := maxSpans + maxSpans/2 // those that begin before the window are not in its count
	l.d.Each(func(own cause.Site, since, end unit.Time) bool {
		return builders[l.seats[own]] != nil && end > from && since < until && left > 0
	}, func(s *explain.Interval) {
		if s.End > from && s.Start < until && builders[l.seats[s.Own]].add(s) {
			left--
		}
	}, func(*explain.Queued) {})
	for _, b := range builders {
		if b != nil {
			slices.SortStableFunc(b.all, func(x, y span) int { return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end)) })
			t.Lanes[b.lane].Spans = b.columns(l.start)
		}
	}
}

// path fills in the critical path.
func (l *laner) path(t *Timeline) {
	lane := l.newLane(0)
	b := &spanBuilder{names: l.names}
	l.d.Path(func(s explain.Interval) {
		b.add(&s)
		if lane.reasons[s.Why] == nil {
			lane.reasons[s.Why] = make([]float32, l.bins)
		}
		l.each(s.Start, s.End, func(bin int, d unit.Time) {
			lane.reasons[s.Why][bin] += float32(d)
			lane.own[bin] += float32(d)
		})
	})
	left := 0
	if len(b.all) > maxPath { // those of the window first, then from its end on
		keep := make([]span, 0, maxPath)
		for _, s := range b.all {
			if s.end > l.start+t.From && len(keep) < maxPath {
				keep = append(keep, s)
			}
		}
		left = len(b.all) - len(keep)
		b.all = keep
	}
	t.Path, t.PathBins = b.columns(l.start), lane.bytes()
	t.Path.LeftOut = left
}

// lineTimes adds the time up by lines.
func (l *laner) lineTimes(r *explain.Report) []LineTime {
	type key struct{ line, call string }
	at := map[key]*LineTime{}
	of := func(line, call string) *LineTime {
		k := key{line, call}
		if at[k] == nil {
			at[k] = &LineTime{Line: line, Call: call}
		}
		return at[k]
	}
	for s, d := range l.work {
		o := l.d.Operation(s)
		of(o.Line, o.Call).Work += d
	}
	for s, d := range l.waiting {
		o := l.d.Operation(s)
		of(o.Line, o.Call).Waits += d
	}
	for i := range r.Blames {
		b := &r.Blames[i]
		of(b.Line, b.Call).Path += b.Time
	}
	all := make([]LineTime, 0, len(at))
	for _, v := range at {
		all = append(all, *v)
	}
	slices.SortFunc(all, func(a, b LineTime) int {
		return cmp.Or(cmp.Compare(b.Path, a.Path), cmp.Compare(b.Work+b.Waits, a.Work+a.Waits),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Call, b.Call))
	})
	return all[:min(len(all), maxRows)]
}
