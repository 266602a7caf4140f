package trace

import (
	"cmp"
	"container/heap"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kernbench/tl"
	"kernbench/unit"
)

// PFTrace writes the protobuf format of Perfetto, which ui.perfetto.dev and trace_processor open.
// It has a tree of tracks (SIP, cube, PE, engine), a slice for each span, and counters. It has a
// flow for each message, one-sided operation and task. It writes while events come, and holds only
// spans that have not ended and flows of which one end is known.
//
// The format counts in nanoseconds. Times are rounded down, so that slices nest as spans do;
// annotations have the exact picoseconds.
type PFTrace struct {
	out
	plain  bool // without annotations
	pairs  *pairs
	lanes  lanes
	tracks tracks
	names  interned // of events
	keys   interned // of annotations
	values interned // of annotations
	lines  interned
	rings  map[uint32]*occupancy
	counts counts // of the current nanosecond
	due    due
	posted int
	now    uint64 // in ns, of the packet written last
	packet []byte
	event  []byte
	sub    []byte
}

// Fields of TracePacket, and of the messages within it.
const (
	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetSnapshot   = 6
	packetDefaults   = 59
	packetClock      = 58
	packetTrack      = 60
	eventAnnotation  = 4
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventName        = 23
	eventCounter     = 30
	eventLine        = 34
	eventFlow        = 47
	eventFlowEnd     = 48
	internedNames    = 2
	internedKeys     = 3
	internedLines    = 4
	internedValues   = 29
	annotationKeyID  = 1
	annotationUint   = 3
	annotationString = 6
	annotationKey    = 10
	annotationValue  = 17
)

// Types of a TrackEvent.
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
)

// Sequences of packets. Packets of the first come in the order of time and have how much later each
// is than the one before. Those of the second have times of their own.
const (
	inOrder  = 1
	anyOrder = 2

	deltaClock   = 64 // a clock of the sequence
	traceClock   = 6  // BOOTTIME, the clock of traces
	stateCleared = 1
)

// NewPFTrace makes the view and writes the head of the file. Without annotations (plain) it is half
// as large.
func NewPFTrace(w io.Writer, pe Names, about map[string]string, plain bool) *PFTrace {
	p := &PFTrace{
		out: newOut(w, pe), plain: plain, lanes: lanes{}, tracks: newTracks(), rings: map[uint32]*occupancy{},
		counts: counts{known: map[uint64]*counted{}},
		names:  newInterned(internedNames), keys: newInterned(internedKeys), values: newInterned(internedValues),
		lines: newInterned(internedLines),
	}
	p.pairs = newPairs(p.write)
	p.head(about)
	return p
}

// head writes the clocks and the metadata of the file.
func (p *PFTrace) head(about map[string]string) {
	clock := func(id uint64, delta bool) []byte {
		m := appendUint(appendUint(nil, 1, id), 2, 0)
		if delta {
			m = appendUint(m, 3, 1)
		}
		return m
	}
	b := appendMessage(nil, 1, clock(traceClock, false))
	b = appendMessage(b, 1, clock(deltaClock, true))
	b = appendUint(b, 2, traceClock)
	m := appendMessage(nil, packetSnapshot, b)
	m = appendUint(m, packetSequence, inOrder)
	m = appendUint(m, packetFlags, stateCleared)
	m = appendMessage(m, packetDefaults, appendUint(nil, packetClock, deltaClock))
	p.put(m)

	b = appendUint(nil, eventType, typeInstant)
	b = appendUint(b, eventTrack, p.track("kernbench", 0, 0))
	b = appendText(b, eventName, "made by kernbench")
	for _, key := range slices.Sorted(maps.Keys(about)) {
		b = appendNote(b, key, about[key])
	}
	b = appendNote(b, "time", "timestamps are nanoseconds, rounded down; start_ps and dur_ps are exact")
	m = appendUint(nil, packetSequence, anyOrder)
	m = appendUint(m, packetFlags, stateCleared)
	m = appendUint(m, packetTimestamp, 0)
	p.put(appendMessage(m, packetEvent, b))
}

// Emit implements Sink.
func (p *PFTrace) Emit(e *Event) { p.pairs.add(e) }

// Close implements Writer.
func (p *PFTrace) Close() error {
	p.pairs.flush()
	p.advance(unit.MaxTime)
	p.writeCounts()
	return p.w.Flush()
}

// write writes an event, and the ends that are due before it.
func (p *PFTrace) write(e *Event, flow uint64) {
	if late := uint64(e.Start/unit.Nanosecond) < max(p.now, p.counts.at); late {
		p.writeLate(e, flow)
		return
	}
	p.advance(e.Start)
	if e.Kind == Scratch {
		p.count(p.counter(e.PE, "scratch", bytesUnit), e.Start, e.Bytes)
		return
	}
	track := p.trackOf(e)
	b := appendUint(p.event[:0], eventType, typeBegin)
	b = appendUint(b, eventTrack, track)
	b = appendUint(b, eventNameID, p.intern(&p.names, spanName(e)))
	p.event = p.appendFlow(b, e, flow)
	if !p.plain {
		p.annotate(e)
	}
	p.timed(e.Start)
	p.later(e.End, deadline{track: track})
	switch {
	case e.Ring == 0:
	case e.Kind == Message:
		o := p.occupancy(e)
		o.used++
		p.count(o.track, e.Start, o.used)
	case e.Kind == Credit && p.rings[e.Ring] != nil:
		p.later(e.End, deadline{ring: e.Ring})
	}
}

// writeLate writes a span that began before what has been written.
func (p *PFTrace) writeLate(e *Event, flow uint64) {
	track := p.trackOf(e)
	for _, end := range [...]bool{false, true} {
		at := e.Start
		var b []byte
		if end {
			at = e.End
			b = appendUint(b, eventType, typeEnd)
		} else {
			b = appendUint(b, eventType, typeBegin)
			b = p.appendFlow(appendText(b, eventName, spanName(e)), e, flow)
		}
		p.anyTime(track, at, b)
	}
}

// appendFlow appends the flow of an event, if the event is an end of one.
func (p *PFTrace) appendFlow(b []byte, e *Event, flow uint64) []byte {
	switch {
	case flow == 0:
		return b
	case e.ends():
		return appendFixed64(b, eventFlowEnd, flow)
	}
	return appendFixed64(b, eventFlow, flow)
}

// annotate adds the arguments of an event.
func (p *PFTrace) annotate(e *Event) {
	if file, line, ok := strings.Cut(e.Line, ":"); ok {
		if n, err := strconv.ParseUint(line, 10, 32); err == nil {
			id, fresh := p.lines.number(e.Line)
			if fresh {
				m := appendText(appendUint(nil, 1, id), 2, file)
				p.putInterned(internedLines, appendUint(m, 4, n))
			}
			p.event = appendUint(p.event, eventLine, id)
		}
	}
	p.number("start_ps", int64(e.Start))
	p.number("dur_ps", int64(e.End-e.Start))
	if e.Bytes != 0 {
		p.number("bytes", e.Bytes)
	}
	if e.Peer >= 0 {
		p.annotation("peer", annotationValue, p.intern(&p.values, p.name(e.Peer)))
	}
	switch e.Kind {
	case Send, Recv, Message, Credit:
		p.number("step", e.Seq)
	case Kernel:
		p.number("rank", int64(e.Rank))
	}
	if e.Stalled != 0 && e.Kind != Wait {
		p.number("stalled_ps", int64(e.Stalled))
	}
}

func (p *PFTrace) number(key string, v int64) { p.annotation(key, annotationUint, uint64(v)) }

func (p *PFTrace) annotation(key string, field, v uint64) {
	p.sub = appendUint(appendUint(p.sub[:0], annotationKeyID, p.intern(&p.keys, key)), field, v)
	p.event = appendMessage(p.event, eventAnnotation, p.sub)
}

// timed writes the current event as the next packet in the order of time.
func (p *PFTrace) timed(at unit.Time) {
	ns := uint64(at / unit.Nanosecond)
	if ns > p.counts.at {
		p.writeCounts()
	}
	p.putTimed(ns, p.event)
}

func (p *PFTrace) putTimed(ns uint64, event []byte) {
	b := appendUint(p.packet[:0], packetTimestamp, ns-p.now)
	b = appendUint(b, packetSequence, inOrder)
	p.packet = appendMessage(b, packetEvent, event)
	p.now = ns
	p.put(p.packet)
}

// put writes a packet of the trace.
func (p *PFTrace) put(packet []byte) {
	p.line = appendMessage(p.line[:0], 1, packet)
	p.flushLine()
}

// deadline is the end of a span: its slice ends, or a slot of a ring becomes free.
type deadline struct {
	at    unit.Time
	order int // in which they were posted
	track uint64
	ring  uint32
}

func (p *PFTrace) later(at unit.Time, d deadline) {
	p.posted++
	d.at, d.order = at, p.posted
	heap.Push(&p.due, d)
}

// advance writes all ends up to a time.
func (p *PFTrace) advance(to unit.Time) {
	for len(p.due) > 0 && p.due[0].at <= to {
		d := heap.Pop(&p.due).(deadline)
		if d.ring != 0 {
			o := p.rings[d.ring]
			o.used--
			p.count(o.track, d.at, o.used)
			continue
		}
		p.event = appendUint(appendUint(p.event[:0], eventType, typeEnd), eventTrack, d.track)
		p.timed(d.at)
	}
}

// due is a heap by time.
type due []deadline

func (h due) Len() int      { return len(h) }
func (h due) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h due) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].at, h[j].at), cmp.Compare(h[i].order, h[j].order)) < 0
}
func (h *due) Push(x any) { *h = append(*h, x.(deadline)) }
func (h *due) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// occupancy is the number of slots of a ring in use. A slot is in use from the start of a message
// until its credit is back.
type occupancy struct {
	pe    int32
	dir   uint8
	track uint64
	used  int64
}

// occupancy returns the occupancy of a message's ring. Each launch numbers its rings from the
// start.
func (p *PFTrace) occupancy(e *Event) *occupancy {
	o := p.rings[e.Ring]
	if o == nil || o.pe != e.PE || o.dir != e.Dir {
		o = &occupancy{pe: e.PE, dir: e.Dir, track: p.counter(e.PE, "ring "+tl.Dir(e.Dir).String()+" slots", slotsUnit)}
		p.rings[e.Ring] = o
	}
	return o
}
