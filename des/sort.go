package des

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	small = 12   // up to this number, events or words are sorted by insertion
	few   = 1024 // up to this number, events of 256 ps are sorted without a slot for each picosecond
)

// sorter is the memory of sorting.
type sorter struct {
	lists [digits]uint32 // of nodes, of a picosecond each
	nodes []node         // number 0 means none
	raw   []Event
	words [2][]uint64
}

// node is an event of a list.
type node struct{ event, next uint32 }

// sortWindow sorts the n events of a slot of the wheel, at most few, into the run.
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
	number := uint32(0)
	b, end := (s-1)/places, s
	for b != 0 {
		// Backwards, so that the lists have events as they were posted: mostly in order.
		from := b*places + 1
		events := q.events[from:end]
		for i := len(events) - 1; i >= 0; i-- {
			t := uint8(events[i].Time)
			number++
			nodes[number] = node{from + uint32(i), lists[t]}
			lists[t] = number
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
	number := uint64(1)<<bits.Len(uint(n-1)) - 1
	differ := pack(words, s, number)
	if differ == 0 {
		return
	}
	sortWords(sorted, words, uint(bits.Len64(differ)))
	raw := q.raw[:n]
	copy(raw, s)
	if unpack(s, raw, sorted, number) {
		untie(s, sorted, number)
	}
}

// pack makes a word of the key of each event, with the number of the event in the lowest bits. It
// returns the bits in which words differ, or 0 if the events are in order.
func pack(words []uint64, events []Event, number uint64) uint64 {
	before, differ, unsorted := uint64(0), number, uint64(0)
	words = words[:len(events)]
	first := uint64(events[0].Key)
	for i := range events {
		key := uint64(events[i].Key)
		differ |= key ^ first
		_, less := bits.Sub64(key, before, 0)
		unsorted |= less
		before = key
		words[i] = key&^number | uint64(i)
	}
	if unsorted == 0 {
		return 0
	}
	return differ
}

// unpack copies events in the order of words. It returns true if some of these differ in their
// numbers only.
func unpack(to, from []Event, words []uint64, number uint64) bool {
	before, tied := ^uint64(0), false
	to = to[:len(words)]
	for i, w := range words {
		to[i] = from[w&number]
		if w^before <= number {
			tied = true
		}
		before = w
	}
	return tied
}

// untie sorts events whose words differ only in their numbers.
func untie(s []Event, words []uint64, number uint64) {
	for from, i := 0, 1; from < len(s); i++ {
		if i == len(s) || words[i]^words[from] > number {
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

// sortWords sorts words that differ in their lowest bits only. differ is the number of these bits.
// It sorts by the highest of them, then each part likewise. It overwrites from.
func sortWords(to, from []uint64, differ uint) {
	width := min(8, uint(bits.Len(uint(len(from)))))
	shift := max(width, differ) - width
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
	for i := 1; i < len(to); i++ {
		w, k := to[i], i
		for k > 0 && w < to[k-1] {
			to[k] = to[k-1]
			k--
		}
		to[k] = w
	}
}
