package verify

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"kernbench/collective"
)

// Input is what there is to judge. The functions are asked rank by rank, several times
// over, In and Out by several goroutines at the same time; what they return holds until Check
// returns.
type Input struct {
	Collective *collective.Collective
	Call       collective.Call
	Hasher     *collective.Hasher // the one that made the labels

	In   func(rank int) []byte          // input, as it was when the call started
	Out  func(rank int) []byte          // output; nil when no data was carried
	Prov func(rank int) collective.Prov // provenance of the output; nil when it was not tracked

	Expected *Expected // what results should be; then In is not called. Nil: it is made of that

	NotChecked    string // what to do about a nil Out or Prov, for the verdict: "add --verify-data"
	NotApplicable string // why provenance says nothing here, if so; the verdict then rests on values

	Operation func(id int32) string  // the operation behind an opaque element, with its place
	Wrote     func(rank int) []int32 // of each element of the output the operation that wrote it last, 0: none did; nil: not known
	Place     func(rank int) string  // the PE of a rank; nil when there is none
	Overflow  string                 // the first operation that made an infinity or a NaN of finite operands, if known
}

// Check judges. It fails only when the question is impossible: a call that cannot be, or
// data of the wrong length.
func Check(in Input) (*Verdict, error) {
	e, err := in.Collective.Expect(in.Hasher, in.Call)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	c := &check{Input: in, expect: e,
		provBad: make([]damage, in.Call.World), valueBad: make([]damage, in.Call.World),
		overflow: make([]damage, in.Call.World), inRange: make([]int, in.Call.World)}
	if err := c.lengths(); err != nil {
		return nil, fmt.Errorf("verify %s: %w", in.Collective.Name, err)
	}
	c.provenance()
	c.equals()
	c.values()
	c.conclude()
	return &c.verdict, nil
}

// check is one judgement in the making.
type check struct {
	Input
	expect  *collective.Expectation
	verdict Verdict

	provBad  []damage // by rank
	valueBad []damage
	overflow []damage // elements of finite operands that are infinite or NaN, or should be
	inRange  []int    // those of them whose exact result the type can hold
	depth    int      // most roundings of any contribution, -1 where that is unknown

	same []bool // rank's output equals rank 0's, bit by bit; nil where that means nothing
}

// damage is how many elements of a rank are wrong, and the first of them.
type damage struct {
	elements, first int
}

func (d *damage) add(at, n int) {
	if d.elements == 0 || at < d.first {
		d.first = at
	}
	d.elements += n
}

// join adds the damage of other elements.
func (d *damage) join(o damage) {
	if o.elements > 0 {
		d.add(o.first, o.elements)
	}
}

func (c *check) lengths() error {
	size := c.Call.Type.Size()
	for rank := range c.Call.World {
		if c.Out != nil {
			if c.Expected == nil {
				if got, want := len(c.In(rank)), c.Collective.In(c.Call, rank)*size; got != want {
					return fmt.Errorf("input of rank %d has %d bytes, not %d", rank, got, want)
				}
			}
			if got, want := len(c.Out(rank)), c.Collective.Out(c.Call, rank)*size; got != want {
				return fmt.Errorf("output of rank %d has %d bytes, not %d", rank, got, want)
			}
		}
		if c.Prov != nil {
			if got, want := c.Prov(rank).Len(), c.Collective.Out(c.Call, rank); got != want {
				return fmt.Errorf("provenance of rank %d is of %d elements, not %d", rank, got, want)
			}
		}
	}
	return nil
}

// equals finds out which ranks hold the very bits of rank 0, where all should hold the
// same; the values of those need no second look.
func (c *check) equals() {
	if c.Out == nil || !c.Collective.SameOutput {
		return
	}
	c.same = make([]bool, c.Call.World)
	first := c.Out(0)
	results := map[[sha256.Size]byte]bool{}
	for rank := range c.same {
		out := c.Out(rank)
		if c.same[rank] = bytes.Equal(out, first); !c.same[rank] {
			results[sha256.Sum256(out)] = true
			c.verdict.DifferingRanks++
		}
	}
	c.verdict.DistinctResults = 1 + len(results)
}

// conclude counts ranks and writes the sentences.
func (c *check) conclude() {
	for rank := range c.Call.World {
		if c.provBad[rank].elements == 0 && c.valueBad[rank].elements == 0 {
			c.verdict.RanksOK++
			continue
		}
		c.verdict.RanksFail++
		c.verdict.Failing = append(c.verdict.Failing, rank)
		c.verdict.Wrong += max(c.provBad[rank].elements, c.valueBad[rank].elements)
		if len(c.verdict.Failures) < MaxFailures {
			c.verdict.Failures = append(c.verdict.Failures, c.failure(rank))
		}
	}
}

// failing counts the ranks with damage.
func failing(ds []damage) (ranks, elements int) {
	for _, d := range ds {
		if d.elements > 0 {
			ranks++
			elements += d.elements
		}
	}
	return ranks, elements
}
