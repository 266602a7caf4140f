package verify

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"kernbench/collective"
)

// Input is the data to judge. Check calls the functions rank by rank, several times, In and Out by
// several goroutines in parallel. Their results must stay valid until Check returns.
type Input struct {
	Collective *collective.Collective
	Call       collective.Call
	Hasher     *collective.Hasher // the one that made the labels

	In   func(rank int) []byte          // input, as it was when the call started
	Out  func(rank int) []byte          // output; nil when no data was carried
	Prov func(rank int) collective.Prov // provenance of the output; nil when it was not tracked

	Expected *Expected // expected results; then In is not called. Nil: computed from In

	NotChecked    string // what to do about a nil Out or Prov, for the verdict: "add --verify-data"
	NotApplicable string // why provenance is not available, if so; the verdict then rests on values

	Operation func(id int32) string  // the operation that made an opaque element, with its place
	Wrote     func(rank int) []int32 // of each element of the output the operation that wrote it last, 0: none did; nil: not known
	Place     func(rank int) string  // the PE of a rank; nil when there is none
	Overflow  string                 // the first operation that made an infinity or a NaN of finite operands, if known
}

// Check judges the results of a call. It returns an error only for an impossible call, or data of
// the wrong length.
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

// check is the state of one judgement.
type check struct {
	Input
	expect  *collective.Expectation
	verdict Verdict

	provBad  []damage // by rank
	valueBad []damage
	overflow []damage // elements of finite operands that are infinite or NaN, or should be
	inRange  []int    // those of them whose exact result the type can hold
	depth    int      // most roundings of any contribution, -1 where that is unknown

	same []bool // rank's output equals rank 0's, bit by bit; nil if ranks may differ
}

// damage is the number of wrong elements of a rank, and the first of them.
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

// equals finds the ranks whose output equals that of rank 0 bit by bit, if all should hold the
// same. Their values need no second check.
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
