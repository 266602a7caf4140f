package history

// A batch has up to mostBatch records. The processor's caches hold the code of the judge or that of
// the kernels, so long batches are faster. The first ones are shorter, so that short runs need less
// memory.
const (
	leastBatch = 512
	mostBatch  = 4096
)

// judging passes batches to a judge.
type judging struct {
	judge func([]Record)
	bad   any // panic value of the judge
}

// look passes a batch to the judge. A rank's kernel may be the caller, so it keeps a panic for
// rest. The judge gets no more batches after one.
func (j *judging) look(recs []Record) {
	defer func() {
		if p := recover(); p != nil {
			j.bad = p
		}
	}()
	if j.bad == nil && len(recs) > 0 {
		j.judge(recs)
	}
}

// rest panics with what the judge has panicked with, if it has.
func (j *judging) rest() {
	if j.bad != nil {
		panic(j.bad)
	}
}

// after returns the memory for the batch after a full one.
func after(recs []Record) []Record {
	if n := cap(recs); n < mostBatch {
		return make([]Record, 0, 2*n)
	}
	return recs[:0]
}
