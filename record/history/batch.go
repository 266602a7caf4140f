package history

// batchSize is the number of records of a batch. The judge looks some records ahead, so it needs
// several at a time.
const batchSize = 512

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
