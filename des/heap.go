package des

// heap is a 4-ary heap of events; the first element is the next event.
type heap []Event

func (h *heap) push(e Event) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) >> 2
		if !e.before(&s[p]) {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = e
	*h = s
}

func (h *heap) pop() Event {
	s := *h
	top, n := s[0], len(s)-1
	last := s[n]
	s = s[:n]
	*h = s
	i := 0
	for {
		c := i<<2 + 1
		if c >= n {
			break
		}
		least := c
		for k := c + 1; k < min(c+4, n); k++ {
			if s[k].before(&s[least]) {
				least = k
			}
		}
		if !s[least].before(&last) {
			break
		}
		s[i] = s[least]
		i = least
	}
	if n > 0 {
		s[i] = last
	}
	return top
}
