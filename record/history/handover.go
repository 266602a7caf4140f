package history

// A batch has this many records; the first batches have fewer, so that short runs need less memory.
// Each batch wakes a second thread, which takes as long as judging some dozens of records.
const (
	leastBatch = 512
	mostBatch  = 2048
)

// ahead is the number of batches that are filled or judged at a time.
const ahead = 2

// handover gives a judge one batch after the other. Each batch has a goroutine of its own that ends
// with it, so nothing must be closed.
type handover struct {
	judge func([]Record)
	under [ahead]inFlight
	n     int // handed over so far
	bad   any // panic value of the judge: read when the judge does not run
}

// inFlight is a batch that the judge has, or had.
type inFlight struct {
	recs []Record
	done chan struct{} // closed when the judge has finished it; nil: no batch yet
}

// handOver gives a full batch to the judge, and returns an empty one. It may have to wait for the
// judge.
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
	if next.done != nil {
		<-next.done
	}
	if size := min(leastBatch<<h.n, mostBatch); cap(next.recs) < size {
		return make([]Record, 0, size)
	}
	return next.recs[:0]
}

// last returns a channel that is closed when the judge has finished all batches so far; nil if
// there were none.
func (h *handover) last() chan struct{} {
	if h.n == 0 {
		return nil
	}
	return h.under[(h.n-1)%ahead].done
}

// look passes a batch to the judge. It keeps a panic for the executor's goroutine, and passes no
// more batches after one.
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

// rest waits until the judge has finished all batches.
func (h *handover) rest() {
	if last := h.last(); last != nil {
		<-last
	}
	if h.bad != nil {
		panic(h.bad)
	}
}
