package des

import "math/bits"

// small is a number of events that are put in order one by one.
const small = 16

// sort makes the events of a slot the run: all of one instant, or of one window.
func (q *Queue) sort(s slot, instant bool) {
	raw := q.raw[:0]
	last := (s.events-1)%perBlock + 1
	for b := s.head; b != 0; last = perBlock {
		raw = append(raw, q.blocks[b].events[:last]...)
		b = q.drop(b)
	}
	if len(raw) <= small/2 {
		q.run, q.raw = raw, q.run
		insert(q.run)
		return
	}
	q.raw = raw
	if cap(q.run) < len(raw) {
		q.run = make([]Event, cap(raw))
	}
	q.run = q.run[:len(raw)]
	if instant {
		spreadKeys(q.run, raw)
	} else {
		spreadTimes(q.run, raw)
	}
}

// insert sorts events that are few, or near their places.
func insert(s []Event) {
	for i := 1; i < len(s); i++ {
		if !s[i].before(&s[i-1]) {
			continue
		}
		e, k := s[i], i
		for k > 0 && e.before(&s[k-1]) {
			s[k] = s[k-1]
			k--
		}
		s[k] = e
	}
}

// spreadTimes sorts up to few events of one window: by stretches of 4 ps, then one by one.
func spreadTimes(to, from []Event) {
	const stretches = digits / 4
	var start [stretches]uint8
	for i := range from {
		start[from[i].Time/4%stretches]++
	}
	sum := uint8(0)
	for i := range start {
		start[i], sum = sum, sum+start[i]
	}
	for i := range from {
		k := from[i].Time / 4 % stretches
		to[start[k]] = from[i]
		start[k]++
	}
	insert(to)
}

// spreadKeys sorts events of one instant: by the highest bits in which their keys differ,
// then each part likewise. What is in from is lost.
func spreadKeys(to, from []Event) {
	least, most := from[0].Key, from[0].Key
	for i := range from {
		least, most = min(least, from[i].Key), max(most, from[i].Key)
	}
	width := min(8, bits.Len(uint(len(from))))
	shift := max(0, bits.Len64(uint64(most-least))-width)
	var start [1 << 8]uint32
	for i := range from {
		start[uint8((from[i].Key-least)>>shift)]++
	}
	sum := uint32(0)
	for i := range 1 << width {
		start[i], sum = sum, sum+start[i]
	}
	for i := range from {
		k := uint8((from[i].Key - least) >> shift)
		to[start[k]] = from[i]
		start[k]++
	}
	if shift == 0 {
		return
	}
	begin := uint32(0)
	for _, end := range start[:1<<width] {
		if end > begin+small {
			copy(from[begin:end], to[begin:end])
			spreadKeys(to[begin:end], from[begin:end])
		} else {
			insert(to[begin:end])
		}
		begin = end
	}
}
