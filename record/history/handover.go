package history

// batch is the number of records that are handed over at once.
const batch = 512

// ahead is how many batches an executor may be ahead of the judge.
const ahead = 8

// handover lets a judge look at one batch after the other, each in a goroutine that ends with
// it, so that nothing has to be closed.
type handover struct {
	judge func([]Record)
	under [ahead]inFlight
	n     int // handed over so far
	bad   any // what the judge panicked with: read when it is at rest
}

// inFlight is a batch that the judge has, or had.
type inFlight struct {
	recs []Record
	done chan struct{} // closed when it has looked at it; nil: there was none yet
}

// handOver gives a full batch to the judge, and returns an empty one, which may have to be
// waited for.
func (h *handover) handOver(recs []Record) []Record {
	before := h.last()
	done := make(chan struct{})
	h.under[h.n%ahead] = inFlight{recs, done}
	h.n++
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		h.look(recs)
	}()
	next := &h.under[h.n%ahead]
	if next.done == nil {
		return make([]Record, 0, batch)
	}
	<-next.done
	return next.recs[:0]
}

// last is closed when the judge has looked at all batches so far; nil: there were none.
func (h *handover) last() chan struct{} {
	if h.n == 0 {
		return nil
	}
	return h.under[(h.n-1)%ahead].done
}

// look keeps what the judge panics with for the executor's goroutine, and gives it no more.
func (h *handover) look(recs []Record) {
	defer func() {
		if p := recover(); p != nil {
			h.bad = p
		}
	}()
	if h.bad == nil {
		h.judge(recs)
	}
}

// rest waits until the judge has looked at all batches.
func (h *handover) rest() {
	if last := h.last(); last != nil {
		<-last
	}
	if h.bad != nil {
		panic(h.bad)
	}
}
