package trace

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file decodes a .pftrace as a viewer does: it knows the fields that the writer uses, and
// refuses others.

type pfSlice struct {
	track      uint64
	name       string
	start, end uint64 // ns
	notes      map[string]int
	texts      map[string]string
	line       string
}

type pfTrack struct {
	name   string
	parent uint64
}

type pfFile struct {
	tracks map[uint64]pfTrack
	slices []*pfSlice // as they begin
	open   int
	flows  map[uint64][2]int // beginnings, ends
	counts []string
}

// field is one of a message.
type pfField struct {
	number uint64
	value  uint64
	bytes  []byte
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func pfFields(t failer, m []byte) []pfField {
	t.Helper()
	var all []pfField
	uvarint := func() uint64 {
		v, n := binary.Uvarint(m)
		if n <= 0 {
			t.Fatalf("a varint is cut off")
		}
		m = m[n:]
		return v
	}
	for len(m) > 0 {
		tag := uvarint()
		f := pfField{number: tag >> 3}
		switch tag & 7 {
		case wireVarint:
			f.value = uvarint()
		case wireFixed64:
			f.value = binary.LittleEndian.Uint64(m)
			m = m[8:]
		case wireBytes:
			n := uvarint()
			if n > uint64(len(m)) {
				t.Fatalf("field %d has %d bytes of %d", f.number, n, len(m))
			}
			f.bytes, m = m[:n], m[n:]
		default:
			t.Fatalf("wire type %d", tag&7)
		}
		all = append(all, f)
	}
	return all
}

// decoded reads a file.
func decoded(t failer, file []byte) *pfFile {
	t.Helper()
	d := &pfFile{tracks: map[uint64]pfTrack{}, flows: map[uint64][2]int{}}
	strs := map[[2]uint64]string{} // interned, by field and number
	open := map[uint64][]*pfSlice{}
	clock := uint64(0)
	for _, p := range pfFields(t, file) {
		if p.number != 1 {
			t.Fatalf("field %d of a trace", p.number)
		}
		at, own, event := uint64(0), false, []pfField(nil)
		sequence := uint64(0)
		for _, f := range pfFields(t, p.bytes) {
			switch f.number {
			case packetTimestamp:
				at = f.value
			case packetSequence:
				sequence = f.value
			case packetClock:
				own = true
			case packetEvent:
				event = pfFields(t, f.bytes)
			case packetTrack:
				var id uint64
				var tr pfTrack
				for _, f := range pfFields(t, f.bytes) {
					switch f.number {
					case trackID:
						id = f.value
					case trackName:
						tr.name = string(f.bytes)
					case trackParent:
						tr.parent = f.value
						if _, ok := d.tracks[f.value]; !ok {
							t.Fatalf("a track below one that is not there")
						}
					}
				}
				d.tracks[id] = tr
			case packetInterned:
				for _, f := range pfFields(t, f.bytes) {
					e := pfFields(t, f.bytes)
					s := string(e[1].bytes)
					if f.number == internedLines {
						s = fmt.Sprintf("%s:%d", s, e[2].value)
					}
					strs[[2]uint64{f.number, e[0].value}] = s
				}
			case packetSnapshot, packetDefaults, packetFlags:
			default:
				t.Fatalf("field %d of a packet", f.number)
			}
		}
		if event == nil {
			continue
		}
		if sequence == inOrder && !own {
			clock += at
			at = clock
		}
		s := &pfSlice{start: at, notes: map[string]int{}, texts: map[string]string{}}
		var kind, value uint64
		for _, f := range event {
			switch f.number {
			case eventType:
				kind = f.value
			case eventTrack:
				s.track = f.value
			case eventName:
				s.name = string(f.bytes)
			case eventNameID:
				s.name = strs[[2]uint64{internedNames, f.value}]
			case eventCounter:
				value = f.value
			case eventLine:
				s.line = strs[[2]uint64{internedLines, f.value}]
			case eventFlow:
				n := d.flows[f.value]
				n[0]++
				d.flows[f.value] = n
			case eventFlowEnd:
				n := d.flows[f.value]
				n[1]++
				d.flows[f.value] = n
			case eventAnnotation:
				key, text, n := "", "", -1
				for _, f := range pfFields(t, f.bytes) {
					switch f.number {
					case annotationKeyID:
						key = strs[[2]uint64{internedKeys, f.value}]
					case annotationKey:
						key = string(f.bytes)
					case annotationUint:
						n = int(f.value)
					case annotationString:
						text = string(f.bytes)
					case annotationValue:
						text = strs[[2]uint64{internedValues, f.value}]
					}
				}
				if n >= 0 {
					s.notes[key] = n
				} else {
					s.texts[key] = text
				}
			default:
				t.Fatalf("field %d of an event", f.number)
			}
		}
		if _, ok := d.tracks[s.track]; !ok {
			t.Fatalf("an event on track %d, which is not there", s.track)
		}
		switch kind {
		case typeBegin:
			if s.name == "" {
				t.Fatalf("a slice without a name")
			}
			d.slices = append(d.slices, s)
			open[s.track] = append(open[s.track], s)
			d.open++
		case typeEnd:
			on := open[s.track]
			if len(on) == 0 {
				t.Fatalf("a slice ends on track %d that did not begin", s.track)
			}
			on[len(on)-1].end = at
			open[s.track] = on[:len(on)-1]
			d.open--
		case typeCounter:
			d.counts = append(d.counts, fmt.Sprintf("%d %s = %d", at, d.path(s.track), value))
		case typeInstant:
			d.counts = append(d.counts, fmt.Sprintf("%d %s: %s %v", at, d.path(s.track), s.name, s.texts))
		}
	}
	return d
}

func (d *pfFile) path(track uint64) string {
	t := d.tracks[track]
	if t.parent != 0 {
		return d.path(t.parent) + "/" + t.name
	}
	return t.name
}

// String has a line for each slice, counter and flow.
func (d *pfFile) String() string {
	var b strings.Builder
	for _, s := range d.slices {
		fmt.Fprintf(&b, "%d..%d %s: %s %s", s.start, s.end, d.path(s.track), s.name, s.line)
		for _, k := range slices.Sorted(maps.Keys(s.notes)) {
			fmt.Fprintf(&b, " %s=%d", k, s.notes[k])
		}
		for _, k := range slices.Sorted(maps.Keys(s.texts)) {
			fmt.Fprintf(&b, " %s=%s", k, s.texts[k])
		}
		b.WriteByte('\n')
	}
	for _, c := range d.counts {
		b.WriteString(c + "\n")
	}
	fmt.Fprintf(&b, "%d flows\n", len(d.flows))
	return b.String()
}
