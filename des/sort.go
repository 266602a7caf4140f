package des

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	small = 12   // the most events or words that are sorted by insertion
	few   = 1024 // the most events of a wheel slot that sortWindow sorts: see crowd for more
)

// sorter holds the buffers of sorting, which are used again for each window.
type sorter struct {
	lists [digits]uint32 // the first node of the list of each picosecond; 0: none
	nodes []node         // from 1 on
	raw   []Event
	words [2][]uint64
}

// node is an event of a list: its index in Queue.events, and the next node.
type node struct{ event, next uint32 }

// sortWindow sorts the n events of slot s of the wheel into the run. n is at most the constant few.
// A slot spans 256 ps, so the last digit of an event's time selects its list.
func (q *Queue) sortWindow(s uint32, n int) {
	if cap(q.run) < n {
		q.run = make([]Event, max(2*n, small))
	}
	if len(q.nodes) <= n {
		q.nodes = make([]node, max(2*n, small))
	}
	run, nodes, lists := q.run[:n], q.nodes, &q.lists
	q.run = run
	var filled [digits / 64]uint64
	made := uint32(0)
	b, end := (s-1)/places, s
	for b != 0 {
		// An event is added at the front of its list. So going backwards keeps the order in which
		// events were posted, and most of them are then sorted already.
		from := b*places + 1
		events := q.events[from:end]
		for i := len(events) - 1; i >= 0; i-- {
			t := uint8(events[i].Time)
			made++
			nodes[made] = node{from + uint32(i), lists[t]}
			lists[t] = made
			filled[t/64] |= 1 << (t % 64)
		}
		b = q.drop(b)
		end = (b + 1) * places
	}
	events := q.events
	k := 0
	for w, set := range filled {
		for ; set != 0; set &= set - 1 {
			list := &lists[(w*64+bits.TrailingZeros64(set))%digits]
			begin, i := k, *list
			*list = 0
			for {
				node := &nodes[i]
				run[k] = events[node.event]
				k++
				i = node.next
				if i == 0 {
					break
				}
			}
			if k > begin+1 {
				q.sortInstant(run[begin:k])
			}
		}
	}
}

// sortInstant sorts events of one instant.
func (q *sorter) sortInstant(s []Event) {
	n := len(s)
	if n <= small {
		insert(s)
		return
	}
	if cap(q.raw) < n {
		q.raw, q.words = make([]Event, 2*n), [2][]uint64{make([]uint64, 2*n), make([]uint64, 2*n)}
	}
	words, sorted := q.words[0][:n], q.words[1][:n]
	index := uint64(1)<<bits.Len(uint(n-1)) - 1 // mask of the bits that hold an index into s
	differ := pack(words, s, index)
	if differ == 0 {
		return
	}
	sortWords(sorted, words, uint(bits.Len64(differ)))
	raw := q.raw[:n]
	copy(raw, s)
	if unpack(s, raw, sorted, index) {
		untie(s, sorted, index)
	}
}

// pack makes a word of each event: its key, with the index of the event in place of the lowest
// bits, those of the mask. It returns a mask of the bits in which keys or indices differ. If the
// events are in order already, it returns 0.
func pack(words []uint64, events []Event, index uint64) uint64 {
	before, differ, unsorted := uint64(0), index, uint64(0)
	words = words[:len(events)]
	first := uint64(events[0].Key)
	for i := range events {
		key := uint64(events[i].Key)
		differ |= key ^ first
		_, less := bits.Sub64(key, before, 0)
		unsorted |= less
		before = key
		words[i] = key&^index | uint64(i)
	}
	if unsorted == 0 {
		return 0
	}
	return differ
}

// unpack copies events in the order of words. It reports whether some words differ in their index
// only. The order of such events is unknown: pack has replaced the lowest bits of their keys.
func unpack(to, from []Event, words []uint64, index uint64) bool {
	before, tied := ^uint64(0), false
	to = to[:len(words)]
	for i, w := range words {
		to[i] = from[w&index]
		if w^before <= index {
			tied = true
		}
		before = w
	}
	return tied
}

// untie sorts events whose words differ only in their index.
func untie(s []Event, words []uint64, index uint64) {
	for from, i := 0, 1; from < len(s); i++ {
		if i == len(s) || words[i]^words[from] > index {
			slices.SortFunc(s[from:i], func(a, b Event) int { return cmp.Compare(a.Key, b.Key) })
			from = i
		}
	}
}

// insert sorts a few events by insertion.
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

// sortWords sorts words that differ in their low lowest bits only. It divides them into parts by
// the highest of these bits, and then divides long parts likewise. It overwrites from.
func sortWords(to, from []uint64, low uint) {
	width := min(8, uint(bits.Len(uint(len(from)))))
	shift := max(width, low) - width
	mask := uint64(1)<<width - 1
	var start [1 << 8]uint32
	for _, w := range from {
		start[uint8(w>>(shift&63)&mask)]++
	}
	sum, most := uint32(0), uint32(0)
	for i, n := range start[:1<<width] {
		start[i] = sum
		sum += n
		most = max(most, n)
	}
	for _, w := range from {
		k := uint8(w >> (shift & 63) & mask)
		to[start[k]] = w
		start[k]++
	}
	if most > small && shift > 0 {
		begin := uint32(0)
		for _, end := range start[:1<<width] {
			if end > begin+small {
				copy(from[begin:end], to[begin:end])
				sortWords(to[begin:end], from[begin:end], shift)
			}
			begin = end
		}
	}
	// Words of short parts are still in disorder, each near its place.
	for i := 1; i < len(to); i++ {
		w, k := to[i], i
		for k > 0 && w < to[k-1] {
			to[k] = to[k-1]
			k--
		}
		to[k] = w
	}
}
