package mem

import "slices"

// This file records which lines of packets have arrived in a window. All lines of a packet have the
// same flag. A control word holds the flag of the last packet that has arrived completely.

// packets holds the lines that have arrived in all copies of a window.
type packets struct {
	whole  [][]int32 // by member and word: number of lines of the last complete packet
	coming map[packetKey]*coming
}

type packetKey struct{ member, word int32 }

// coming holds the arrived lines of a packet that is not complete.
type coming struct {
	flag int64
	come []lineSpan
}

type lineSpan struct{ from, to int32 }

// PacketArrived records that all lines of a packet have arrived in a member's copy. The caller sets
// word at the same time.
func (w *Window) PacketArrived(member, word, lines int32) {
	if w.packets.whole[member] == nil {
		w.packets.whole[member] = make([]int32, w.Layout.Words)
	}
	w.packets.whole[member][word] = lines
	delete(w.packets.coming, packetKey{member, word})
}

// LinesArrived records that n lines of a packet have arrived, from one on.
func (w *Window) LinesArrived(member, word int32, flag int64, from, n int32) {
	if w.packets.coming == nil {
		w.packets.coming = map[packetKey]*coming{}
	}
	key := packetKey{member, word}
	c := w.packets.coming[key]
	if c == nil || c.flag != flag {
		c = &coming{flag: flag}
		w.packets.coming[key] = c
	}
	c.come = append(c.come, lineSpan{from, from + n})
	slices.SortFunc(c.come, func(a, b lineSpan) int { return int(a.from) - int(b.from) })
}

// Lines returns the number of lines of the last complete packet, or 0.
func (w *Window) Lines(member, word int32) int32 {
	if whole := w.packets.whole[member]; whole != nil {
		return whole[word]
	}
	return 0
}

// HasLines reports whether n lines of a packet, from one on, have the flag.
func (w *Window) HasLines(member, word int32, flag int64, from, n int32) bool {
	if c := w.packets.coming[packetKey{member, word}]; c != nil && c.flag == flag {
		at := from
		for _, s := range c.come {
			if s.from <= at {
				at = max(at, s.to)
			}
		}
		return at >= from+n
	}
	return w.words[member][word] == flag && from+n <= w.Lines(member, word)
}
