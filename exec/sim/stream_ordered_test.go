package sim_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"kernbench/mem"
)

// An orderer makes programs of streams whose results do not depend on timing. Before an operation
// it queues the events and waits that put all conflicting operations before it.
type orderer struct {
	*queueing
	d      *rand.Rand
	queued []int          // operations so far, by stream
	knows  [][]int        // by stream: how many operations of each stream are over before what it does next
	known  []map[use]bool // by stream: single uses that are over besides
	wrote  map[block]use
	reads  map[block][]use
	words  map[[2]int]*counter // by device and word
	met    []use               // in the last group launch
	events int
}

// use holds what an operation of a stream did.
type use struct{ stream, op int }

// counter is a word that only grows.
type counter struct {
	total int64
	tales []tale
	waits []use // no agent adds to it before these are over
}

// tale holds what the additions of an operation tell.
type tale struct {
	use
	knows []int // that go before
	put   *block
}

// orderedQueue makes such a program.
func orderedQueue(d *rand.Rand) *queueing {
	o := &orderer{
		queueing: &queueing{devices: 1 + d.IntN(4), queue: []int{1, 2, 3, 64}[d.IntN(4)], poll: d.IntN(2) == 0,
			order: mem.Ordering(d.IntN(4)), engine: []string{"", "pe", "sip"}[d.IntN(3)]},
		d: d, wrote: map[block]use{}, reads: map[block][]use{}, words: map[[2]int]*counter{}, events: eventCount,
	}
	n := max(o.devices, 1+d.IntN(5))
	for i := range n {
		o.streams = append(o.streams, i%o.devices)
		o.queued = append(o.queued, 0)
		o.knows = append(o.knows, make([]int, n))
		o.known = append(o.known, map[use]bool{})
	}
	for range 3 + d.IntN(20) {
		o.add()
	}
	return o.queueing
}

// push queues an operation and returns what it is.
func (o *orderer) push(a queued) use {
	o.acts = append(o.acts, a)
	o.mend()
	o.queued[a.stream]++
	o.knows[a.stream][a.stream] = o.queued[a.stream]
	return use{a.stream, o.queued[a.stream]}
}

// after lets what a stream does next come after some uses.
func (o *orderer) after(stream int, uses ...use) {
	for _, u := range uses {
		if u.op == 0 || o.knows[stream][u.stream] >= u.op || o.known[stream][u] {
			continue
		}
		o.push(queued{stream: u.stream, do: actRecord, word: o.events})
		o.push(queued{stream: stream, do: actAwait, word: o.events})
		o.events++
		o.learn(stream, o.knows[u.stream])
	}
}

func (o *orderer) learn(stream int, knows []int) {
	for i, n := range knows {
		o.knows[stream][i] = max(o.knows[stream][i], n)
	}
}

// reading and writing put what is there before a use of a block.
func (o *orderer) reading(stream int, b block) { o.after(stream, o.wrote[b]) }

func (o *orderer) writing(stream int, b block) {
	o.after(stream, o.wrote[b])
	o.after(stream, o.reads[b]...)
}

func (o *orderer) read(u use, b block) { o.reads[b] = append(o.reads[b], u) }

func (o *orderer) write(u use, b block) { o.wrote[b], o.reads[b] = u, nil }

func (o *orderer) counter(dev, word int) *counter {
	k := [2]int{dev, word}
	if o.words[k] == nil {
		o.words[k] = &counter{}
	}
	return o.words[k]
}

// waited lets a stream know what every agent that has added to a word has announced, after it has
// waited for all of that.
func (o *orderer) waited(u use, c *counter) {
	for _, t := range c.tales {
		o.learn(u.stream, t.knows)
		if t.put != nil && o.wrote[*t.put] == t.use {
			o.known[u.stream][t.use] = true
		}
	}
	c.waits = append(c.waits, u)
}

// add queues an operation on some stream, or a group launch.
func (o *orderer) add() {
	d := o.d
	s := d.IntN(len(o.streams))
	own := o.streams[s]
	any := func() block { return block{d.IntN(o.devices), d.IntN(blocks)} }
	shared := func() block { return block{d.IntN(o.devices), plainBlocks + d.IntN(blocks-plainBlocks)} }
	a := queued{stream: s, from: any(), to: any(), word: d.IntN(wordCount), dev: d.IntN(o.devices),
		grid: 1 + d.IntN(6), hold: 1 + d.IntN(4)}
	a.do = []streamAct{
		actCopy, actRows, actWait, actLoadStore, actLoadStore, actPut, actPutNBI, actPutTensor, actPutSignal,
		actPutSignal, actCombine, actGet,
		actNotify, actWaitIn, actCompute, actMeet, actClaim, actSpin, actGroup,
	}[d.IntN(19)]
	switch a.do {
	case actPut, actPutNBI, actPutTensor, actPutSignal, actCombine:
		a.to = shared()
	case actGet:
		a.from = shared()
	case actWaitIn, actMeet, actClaim, actSpin:
		a.dev = own
	case actNotify:
		a.dev = a.to.dev
	case actGroup:
		o.group(shared().i)
		return
	}
	if a.do == actPutSignal {
		a.dev = a.to.dev
	}
	if o.engine != "" && a.do != actMeet && a.do != actWaitIn {
		a.post = d.IntN(5) // a task that waits would stop the later ones
	}
	if a.from == a.to && a.do != actLoadStore {
		return
	}
	c := o.counter(a.dev, a.word)
	reads, writes := false, false
	switch a.do {
	case actWait, actWaitIn:
		a.count = c.total
		o.waited(o.push(a), c)
		return
	case actSpin:
		o.push(a)
		return
	case actNotify:
	case actCompute:
		writes = true
	default:
		reads, writes = true, true
	}
	if writes {
		o.writing(s, a.to)
	}
	if reads {
		o.reading(s, a.from)
	}
	adds := int64(0)
	switch a.do {
	case actNotify, actPutSignal:
		o.after(s, c.waits...)
		adds = int64(a.grid)
	case actMeet:
		o.after(s, c.waits...)
		a.hold, adds = a.grid, int64(a.grid)
		a.count = c.total + adds
	case actClaim:
		for _, t := range c.tales {
			o.after(s, t.use)
		}
		o.after(s, c.waits...)
		a.count, adds = c.total, 2*int64(a.grid)
	}
	before := append([]int(nil), o.knows[s]...)
	u := o.push(a)
	if reads {
		o.read(u, a.from)
	}
	if writes {
		o.write(u, a.to)
	}
	if adds == 0 {
		return
	}
	c.total += adds
	t := tale{use: u, knows: before}
	if a.do == actPutSignal {
		t.put = &a.to
	}
	c.tales = append(c.tales, t)
	if a.do == actMeet || a.do == actClaim {
		o.waited(u, c)
	}
}

// group queues a group launch, on a stream of each device.
func (o *orderer) group(i int) {
	var as []queued
	for dev := range o.devices {
		var own []int
		for s, on := range o.streams {
			if on == dev {
				own = append(own, s)
			}
		}
		from := block{o.d.IntN(o.devices), o.d.IntN(blocks)}
		if from.i == i {
			from.i = 0
		}
		as = append(as, queued{
			stream: own[o.d.IntN(len(own))], do: actGroup, from: from, to: block{dev, i}, word: o.events,
			grid: 1 + o.d.IntN(3), hold: 1 + o.d.IntN(2),
		})
	}
	o.events++
	for _, a := range as {
		o.after(a.stream, o.met...)
		o.reading(a.stream, a.from)
		for dev := range o.devices {
			o.writing(a.stream, block{dev, i})
		}
	}
	o.met = nil
	for _, a := range as {
		u := o.push(a)
		o.met = append(o.met, u)
		o.read(u, a.from)
		o.write(u, a.to)
	}
}

// TestOrderedStreams: programs of streams that do not depend on timing have the same results on
// both executors, in all fidelities and under any schedule. The judge of races finds nothing.
func TestOrderedStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := orderedQueue(dice(t))
		want, err := q.onMock(0)
		if err != nil || want.err != nil {
			t.Fatalf("mock: %v, %v\n%+v", err, want.err, q)
		}
		if want.report.Total > 0 || want.report.Unsettled {
			t.Fatalf("%v\n%+v", want.report, q)
		}
		judgeQueue(t, q)
		sure(t, q, want)
	})
}
