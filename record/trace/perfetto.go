package trace

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"

	"kernbench/tl"
	"kernbench/unit"
)

// Perfetto writes the Chrome trace-event format, which ui.perfetto.dev opens: a process
// for each PE, in it a track for each engine, and an arrow from each send to its receive.
//
// Work that overlaps in one engine, such as several loads in the DMA's queue, is spread
// over as many lanes as it takes, because the format wants spans of a track to nest.
type Perfetto struct {
	out
	events int
	lanes  map[track][]unit.Time // end of the last span of each lane
	seen   map[int32]bool        // PEs that have been named
	calls  map[link][]end        // sends and receives that wait for their counterpart
	arrows int
}

// NewPerfetto makes the view and writes the head of the file.
func NewPerfetto(w io.Writer, pe Names) *Perfetto { return newPerfetto(w, pe, nil) }

// newPerfetto makes the view of a file that says something about itself.
func newPerfetto(w io.Writer, pe Names, about map[string]string) *Perfetto {
	p := &Perfetto{out: newOut(w, pe), lanes: map[track][]unit.Time{}, seen: map[int32]bool{}, calls: map[link][]end{}}
	p.w.WriteString(`{"displayTimeUnit":"ns",`)
	if len(about) > 0 {
		text, _ := json.Marshal(about) // strings have a JSON form
		p.w.WriteString(`"otherData":` + string(text) + ",")
	}
	p.w.WriteString(`"traceEvents":[`)
	return p
}

// engine is a track's place and name within its PE.
type engine uint8

var engineNames = [...]string{"kernel", "calls", "dma", "math", "gemm", "messages", "credits", "copy engine"}

// perCore is the distance between the engines of two cores of a PE.
const perCore engine = 8

var engineOf = [...]engine{
	Kernel: 0, Send: 1, Recv: 1, Wait: 1, Load: 2, Store: 2, Math: 3, Gemm: 4, Message: 5, Credit: 6,
	Put: 2, Get: 2, Notify: 5, Signal: 1, Atomic: 1, Copy: 7,
}

type track struct {
	pe     int32
	engine engine
}

// trackOf is the track of an event.
func trackOf(e *Event) track { return track{e.PE, engineOf[e.Kind] + perCore*engine(e.Core)} }

// name is what a track is called.
func (t track) name() string {
	if t.engine >= perCore {
		return "communication engine: " + engineNames[t.engine-perCore]
	}
	return engineNames[t.engine]
}

// maxLanes is the distance between the track ids of two engines: ids order the tracks.
const maxLanes = 1 << 16

// link names one message, but for its ring: where two rings join the same two PEs, as E
// and W do between two ranks, the directions tell them apart.
type link struct {
	from, to int32
	seq      int64
}

// end is one end of an arrow.
type end struct {
	Event
	lane int
}

// Emit implements Sink.
func (p *Perfetto) Emit(e *Event) {
	lane := p.lane(e)
	p.open()
	b := append(p.line, `{"ph":"X","name":`...)
	b = strconv.AppendQuote(b, spanName(e))
	b = p.appendPlace(b, e, lane, e.Start)
	b = appendDecimal(append(b, `,"dur":`...), e.End-e.Start, unit.Microsecond)
	b = strconv.AppendInt(append(b, `,"args":{"rank":`...), int64(e.Rank), 10)
	if e.Peer >= 0 {
		b = strconv.AppendQuote(append(b, `,"peer":`...), p.name(e.Peer))
	}
	if e.Bytes != 0 {
		b = strconv.AppendInt(append(b, `,"bytes":`...), e.Bytes, 10)
	}
	switch e.Kind {
	case Send, Recv, Message, Credit:
		b = strconv.AppendInt(append(b, `,"seq":`...), e.Seq, 10)
	}
	if e.Stalled != 0 {
		b = appendDecimal(append(b, `,"stalled_ns":`...), e.Stalled, unit.Nanosecond)
	}
	p.line = append(b, "}}"...)
	p.flushLine()
	if (e.Kind == Send || e.Kind == Recv) && e.Peer >= 0 {
		p.join(end{*e, lane})
	}
}

// Close writes the foot of the file.
func (p *Perfetto) Close() error {
	p.rest()
	p.w.WriteString("\n]}\n")
	return p.w.Flush()
}

func spanName(e *Event) string {
	if e.Dir != 0 {
		return e.Kind.String() + " " + tl.Dir(e.Dir).String()
	}
	return e.Kind.String()
}

// lane finds the first lane of the event's track that is free at its start, opening one
// when none is.
func (p *Perfetto) lane(e *Event) int {
	if !p.seen[e.PE] {
		p.seen[e.PE] = true
		p.meta("process_name", e.PE, 0, p.name(e.PE))
	}
	t := trackOf(e)
	ends := p.lanes[t]
	for i, last := range ends {
		if last <= e.Start {
			ends[i] = e.End
			return i
		}
	}
	p.lanes[t] = append(ends, e.End)
	name := t.name()
	if len(ends) > 0 {
		name += " " + strconv.Itoa(len(ends)+1)
	}
	p.meta("thread_name", e.PE, int(t.engine)*maxLanes+len(ends), name)
	return len(ends)
}

// join draws the arrow when both ends of a message are known, in whatever order they
// came: a receive may have been called before the send.
func (p *Perfetto) join(e end) {
	k := link{e.PE, e.Peer, e.Seq}
	if e.Kind == Recv {
		k.from, k.to = e.Peer, e.PE
	}
	waiting := p.calls[k]
	i := slices.IndexFunc(waiting, func(w end) bool { return w.Kind != e.Kind && faces(w.Dir, e.Dir) })
	if i < 0 {
		p.calls[k] = append(waiting, e)
		return
	}
	p.connect(waiting[i], e)
	if waiting = slices.Delete(waiting, i, i+1); len(waiting) == 0 {
		delete(p.calls, k)
	} else {
		p.calls[k] = waiting
	}
}

// faces reports whether a message sent along one direction is received from the other.
func faces(a, b uint8) bool {
	o, ok := tl.Dir(a).Opposite()
	if ok && o == tl.Dir(b) {
		return true
	}
	o, ok = tl.Dir(b).Opposite()
	return ok && o == tl.Dir(a)
}

// rest pairs what no directions told apart, in the order of the calls: the rings of a
// topology whose directions do not face each other.
func (p *Perfetto) rest() {
	keys := slices.SortedFunc(maps.Keys(p.calls), func(a, b link) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	for _, k := range keys {
		var sends, recvs []end
		for _, e := range p.calls[k] {
			if e.Kind == Send {
				sends = append(sends, e)
			} else {
				recvs = append(recvs, e)
			}
		}
		for i := range min(len(sends), len(recvs)) {
			p.connect(sends[i], recvs[i])
		}
	}
}

// connect draws the arrow between the two ends of a message.
func (p *Perfetto) connect(send, recv end) {
	if send.Kind == Recv {
		send, recv = recv, send
	}
	p.arrows++
	p.arrow(`"s"`, &send.Event, send.lane, send.Start)
	// An arrow ends in the span that contains its time, so just before the span's end.
	p.arrow(`"f","bp":"e"`, &recv.Event, recv.lane, max(recv.Start, recv.End-1))
}

func (p *Perfetto) arrow(phase string, e *Event, lane int, at unit.Time) {
	p.open()
	b := append(append(p.line, `{"ph":`...), phase...)
	b = append(b, `,"cat":"message","name":"message"`...)
	b = strconv.AppendInt(append(b, `,"id":`...), int64(p.arrows), 10)
	p.line = append(p.appendPlace(b, e, lane, at), '}')
	p.flushLine()
}

// appendPlace appends process, track and time; the format counts in microseconds.
func (p *Perfetto) appendPlace(b []byte, e *Event, lane int, at unit.Time) []byte {
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(e.PE), 10)
	b = strconv.AppendInt(append(b, `,"tid":`...), int64(int(trackOf(e).engine)*maxLanes+lane), 10)
	return appendDecimal(append(b, `,"ts":`...), at, unit.Microsecond)
}

func (p *Perfetto) meta(kind string, pe int32, tid int, name string) {
	p.open()
	b := strconv.AppendQuote(append(p.line, `{"ph":"M","name":`...), kind)
	b = strconv.AppendInt(append(b, `,"pid":`...), int64(pe), 10)
	b = strconv.AppendInt(append(b, `,"tid":`...), int64(tid), 10)
	b = strconv.AppendQuote(append(b, `,"args":{"name":`...), name)
	p.line = append(b, "}}"...)
	p.flushLine()
}

// open separates an event from the one before it.
func (p *Perfetto) open() {
	if p.events > 0 {
		p.w.WriteByte(',')
	}
	p.w.WriteByte('\n')
	p.events++
}
