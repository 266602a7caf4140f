package race

// This file bounds the passes over programs that count signals one by one. There each pass learns
// that an agent knows a little less at a later update than the pass before found. So there may be
// more passes than signals. From pass roughFrom on, a fact that still changes becomes rough: the
// agent knows nothing of others at that update.
// Invariant: rough facts say less than is true, so a pass without hazards is right. A pass with
// hazards is not. Then the judge begins anew, and finds as many facts as it can (fine).

// roughness is the state of facts for this.
type roughness struct {
	rough bool // there is a rough fact
	fine  bool // there must be none
}

// Facts of pass roughFrom and later passes become rough, and those beyond the first manyFacts.
const (
	roughFrom = 3
	manyFacts = 512
)

// roughen makes a fact that a pass has changed rough, if there have been many passes or facts.
func (f *facts) roughen(l *later) {
	if f.fine || f.pass < roughFrom && len(f.later) < manyFacts {
		return
	}
	l.rough, f.rough = true, true
	l.times, l.past, l.before = nil, nil, seqs{}
}

// mayBeFalse reports whether the hazards of this pass may follow from rough facts.
func (d *Detector) mayBeFalse() bool { return d.facts.rough && d.hazards.total > 0 }
