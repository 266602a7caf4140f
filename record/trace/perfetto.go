package trace

import (
	"encoding/json"
	"io"
	"strconv"

	"kernbench/tl"
	"kernbench/unit"
)

// Perfetto writes the Chrome trace-event format, which ui.perfetto.dev opens. It has a process for
// each PE, in it a track for each engine, and an arrow from each send to its receive.
//
// Work that overlaps in one engine, such as several loads in the DMA's queue, is spread over as
// many lanes as it needs. The format requires the spans of a track to nest.
type Perfetto struct {
	out
	events int
	lanes  lanes
	seen   map[int32]bool  // PEs that have been named
	calls  map[flowKey]end // ends of flows that wait for the other one
	arrows int
}

// NewPerfetto makes the view and writes the head of the file.
func NewPerfetto(w io.Writer, pe Names) *Perfetto { return newPerfetto(w, pe, nil) }

// newPerfetto makes the view of a file with metadata.
func newPerfetto(w io.Writer, pe Names, about map[string]string) *Perfetto {
	p := &Perfetto{out: newOut(w, pe), lanes: lanes{}, seen: map[int32]bool{}, calls: map[flowKey]end{}}
	p.w.WriteString(`{"displayTimeUnit":"ns",`)
	if len(about) > 0 {
		text, _ := json.Marshal(about) // strings have a JSON form
		p.w.WriteString(`"otherData":` + string(text) + ",")
	}
	p.w.WriteString(`"traceEvents":[`)
	return p
}

// maxLanes is the distance between the track ids of two engines: ids order the tracks.
const maxLanes = 1 << 16

// end is one end of an arrow.
type end struct {
	Event
	lane int
}

// Emit implements Sink. Counters have no place in this view.
func (p *Perfetto) Emit(e *Event) {
	if e.Kind == Scratch {
		return
	}
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
	p.join(end{*e, lane})
}

// Close writes the foot of the file.
func (p *Perfetto) Close() error {
	p.w.WriteString("\n]}\n")
	return p.w.Flush()
}

func spanName(e *Event) string {
	if e.Dir != 0 {
		return e.Kind.String() + " " + tl.Dir(e.Dir).String()
	}
	return e.Kind.String()
}

// lane finds a lane for the event, and names what is new.
func (p *Perfetto) lane(e *Event) int {
	if !p.seen[e.PE] {
		p.seen[e.PE] = true
		p.meta("process_name", e.PE, 0, p.name(e.PE))
	}
	t := trackOf(e)
	lane, opened := p.lanes.take(t, e.Start, e.End)
	if opened {
		p.meta("thread_name", e.PE, int(t.engine)*maxLanes+lane, t.laneName(lane))
	}
	return lane
}

// join draws the arrow when both ends of a flow are known, in any order. A receive may have been
// called before the send.
func (p *Perfetto) join(e end) {
	k := e.flow()
	if k == (flowKey{}) {
		return
	}
	other, ok := p.calls[k]
	if !ok || other.ends() == e.ends() {
		p.calls[k] = e
		return
	}
	delete(p.calls, k)
	if e.ends() {
		p.connect(other, e)
	} else {
		p.connect(e, other)
	}
}

// connect draws the arrow between the two ends of a flow.
func (p *Perfetto) connect(send, recv end) {
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
