package trace

import "kernbench/unit"

// Step is a part of the critical path: time of one operation, at one resource, for one reason.
type Step struct {
	Start, End unit.Time
	Reason     string
	Operation  string // with its rank and line
	Resource   string // or ""
	Behind     string // operation that holds the resource, or ""
}

// WritePath adds the critical path to a view that has tracks, as a track of its own. Steps come in
// the order of time and do not overlap.
func WritePath(w Writer, steps []Step) {
	p := perfetto(w)
	if p == nil || len(steps) == 0 {
		return
	}
	track := p.track("critical path", 0, 0)
	for i := range steps {
		s := &steps[i]
		b := appendText(appendUint(nil, eventType, typeBegin), eventName, s.Reason)
		if !p.plain {
			b = appendNote(b, "operation", s.Operation)
			b = appendNote(b, "resource", s.Resource)
			b = appendNote(b, "behind", s.Behind)
			b = appendCount(b, "start_ps", s.Start)
			b = appendCount(b, "dur_ps", s.End-s.Start)
		}
		p.anyTime(track, s.Start, b)
		p.anyTime(track, s.End, appendUint(nil, eventType, typeEnd))
	}
}

// appendNote appends an annotation, unless its text is empty.
func appendNote(b []byte, key, text string) []byte {
	if text == "" {
		return b
	}
	return appendMessage(b, eventAnnotation, appendText(appendText(nil, annotationKey, key), annotationString, text))
}

func appendCount(b []byte, key string, t unit.Time) []byte {
	return appendMessage(b, eventAnnotation, appendUint(appendText(nil, annotationKey, key), annotationUint, uint64(t)))
}

// anyTime writes the fields of an event on a track, at a time before or after what has been
// written.
func (p *PFTrace) anyTime(track uint64, at unit.Time, event []byte) {
	m := appendUint(nil, packetSequence, anyOrder)
	m = appendUint(m, packetTimestamp, uint64(at/unit.Nanosecond))
	m = appendUint(m, packetClock, traceClock)
	p.put(appendMessage(m, packetEvent, appendUint(event, eventTrack, track)))
}

// perfetto returns the Perfetto view that a writer is, or nil.
func perfetto(w Writer) *PFTrace {
	if p, ok := w.(*packing); ok {
		w = p.Writer
	}
	p, _ := w.(*PFTrace)
	return p
}
