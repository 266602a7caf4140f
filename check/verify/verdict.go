package verify

import "fmt"

// Status is the answer to one question.
type Status uint8

// The answers. The zero Status claims nothing.
const (
	NotChecked Status = iota
	OK
	Fail
	NotApplicable
)

func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case Fail:
		return "FAIL"
	case NotApplicable:
		return "not applicable"
	}
	return "not checked"
}

// Question is one property that was judged, with its outcome in words.
type Question struct {
	Status Status
	Text   string
}

func (q Question) String() string {
	if q.Text == "" {
		return q.Status.String()
	}
	return q.Status.String() + ": " + q.Text
}

// Verdict is the judgement on one collective.
type Verdict struct {
	Provenance Question
	Values     Question

	RanksOK, RanksFail int
	Failing            []int     // the ranks that fail
	Wrong              int       // elements of theirs, each once: by provenance or by value, whichever finds more
	Unwritten          int       // elements of theirs that nothing was written to
	Failures           []Failure // of the first of them, MaxFailures at most

	// For collectives with the same result on every rank: the number of different results by bits,
	// and of ranks whose result differs from rank 0's. Different orders of the same additions round
	// differently, so neither is a failure by itself.
	DistinctResults int
	DifferingRanks  int

	Overflow Overflow
}

// MaxFailures is the number of failing ranks that a Verdict describes one by one.
const MaxFailures = 5

// OK reports whether every rank is right as far as was checked, and anything was checked.
func (v *Verdict) OK() bool {
	return v.RanksFail == 0 && (v.Provenance.Status == OK || v.Values.Status == OK)
}

// Overflow describes results of finite contributions that are infinite or NaN, and those whose
// exact value the type cannot hold. All of them are wrong.
type Overflow struct {
	Elements int // over all ranks
	Ranks    int
	Rank     int // the first of them, and its first such element
	Element  int
	// InRange counts those whose exact result the type can hold: a partial result
	// overflowed. The others are beyond the type in any order.
	InRange int
	Step    string // where the first infinity or NaN arose, if that is known
}

// text returns the sentence about it, or "" where there is none.
func (o Overflow) text(typ fmt.Stringer, largest float64) string {
	if o.Elements == 0 {
		return ""
	}
	s := fmt.Sprintf("overflow of %v (largest %g) in %d elements of %d ranks, first rank %d element %d",
		typ, largest, o.Elements, o.Ranks, o.Rank, o.Element)
	switch beyond := o.Elements - o.InRange; {
	case beyond == 0:
		s += ": the exact result fits, a partial result does not"
	case o.InRange == 0:
		s += ": the exact result does not fit"
	default:
		s += fmt.Sprintf(": the exact result fits in %d of them, a partial result does not; in %d the exact result does not fit",
			o.InRange, beyond)
	}
	if o.Step != "" {
		s += "; first: " + o.Step
	}
	return s
}
