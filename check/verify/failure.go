package verify

import (
	"fmt"
	"math"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
)

// Failure describes the first wrong element of one rank.
type Failure struct {
	Rank    int
	Place   string // the PE, where known
	Element int    // the first that is wrong, by provenance where that was checked
	Wrong   int    // wrong elements of this rank

	Got, Want string // values; empty without data

	Contributors bool // the contributors are wrong; false: only the value is

	// What is wrong with the contributors, in words, and as lists by label where the run
	// kept explicit sets (explain mode).
	Reason     string
	Missing    []collective.Contributor // Count is 1
	Duplicated []collective.Contributor // Count is the number of occurrences
	Unexpected []collective.Contributor // contributors of other elements
	Step       string                   // the operation that caused it, if known
}

func (f Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d", f.Rank)
	if f.Place != "" {
		fmt.Fprintf(&b, " (%s)", f.Place)
	}
	fmt.Fprintf(&b, ", element %d", f.Element)
	if f.Wrong > 1 {
		fmt.Fprintf(&b, " and %d more", f.Wrong-1)
	}
	sep := ": "
	if f.Got != "" {
		fmt.Fprintf(&b, ": got %s, expected %s", f.Got, f.Want)
		sep = "; "
	}
	if f.Reason != "" {
		b.WriteString(sep + f.Reason)
	}
	return b.String()
}

// failure describes what is wrong with rank.
func (c *check) failure(rank int) Failure {
	f := Failure{Rank: rank}
	if c.Place != nil {
		f.Place = c.Place(rank)
	}
	p, v := c.provBad[rank], c.valueBad[rank]
	f.Element, f.Wrong = p.first, p.elements
	if p.elements == 0 {
		f.Element, f.Wrong = v.first, v.elements
	}
	if c.Out != nil {
		f.Got = show(c.Call.Type, c.Out(rank), f.Element)
		f.Want = c.wanted(rank, f.Element)
	}
	if f.Contributors = p.elements > 0; f.Contributors {
		c.explain(&f)
	} else {
		c.overflowed(&f)
	}
	return f
}

// overflowed describes an overflow of the type, for an element that is wrong in value only.
func (c *check) overflowed(f *Failure) {
	if !c.Collective.Reduces || !c.Call.Type.IsFloat() {
		return
	}
	ref := c.reference(f.Rank, f.Element)
	if !isFinite(ref.Value[0]) && !ref.Beyond[0] {
		return
	}
	largest := dtype.MaxFinite(c.Call.Type)
	switch got := dtype.At(c.Call.Type, c.Out(f.Rank), f.Element); {
	case math.Abs(ref.Value[0]) >= overflows(c.Call.Type):
		f.Reason = fmt.Sprintf("overflow: the exact result does not fit %v (largest number: %g)", c.Call.Type, largest)
	case !isFinite(got):
		f.Reason = fmt.Sprintf("overflow: the exact result fits %v (largest number: %g); a partial result does not",
			c.Call.Type, largest)
	default:
		return
	}
	if c.Overflow != "" {
		f.Step = c.Overflow
		f.Reason += "; first: " + f.Step
	}
}

// explain describes what the first wrong element of f holds instead of the expected contributions.
func (c *check) explain(f *Failure) {
	var d collective.Difference
	for _, d = range collective.Differences(c.expect.Prov(nil, f.Rank), c.Prov(f.Rank)) {
		break
	}
	got := d.Got
	switch got.Kind {
	case collective.Unwritten:
		f.Reason = "never written"
	case collective.Constant:
		f.Reason = c.withWriter(f, "a constant without any contribution")
	case collective.Opaque:
		f.Step = c.operation(got.Why)
		f.Reason = fmt.Sprintf("computed by %s: either it is no operation of %s, or an operand is no contribution", f.Step, c.meaning())
	default:
		c.explainSets(f, d)
	}
}

// operation returns the operation with a number, with its place if known.
func (c *check) operation(id int32) string {
	if c.Operation == nil {
		return fmt.Sprintf("operation %d", id)
	}
	return c.Operation(id)
}

// writer returns the operation that wrote the element of a failure last; untouched reports that no
// operation did.
func (c *check) writer(f *Failure) (operation string, untouched bool) {
	if c.Wrote == nil {
		return "", false
	}
	wrote := c.Wrote(f.Rank)
	switch {
	case f.Element >= len(wrote):
		return "", false
	case wrote[f.Element] == 0:
		return "", true
	}
	return c.operation(wrote[f.Element]), false
}

// withWriter describes what the element of a failure holds, and which operation wrote it.
func (c *check) withWriter(f *Failure, what string) string {
	step, untouched := c.writer(f)
	switch {
	case untouched:
		return what + ": nothing was written to it"
	case step != "":
		f.Step = step
		return what + ": written by " + step
	}
	return what
}

// single describes an element that holds the input of one rank only: its own rank or another one.
// It returns "" for other elements, and if one contribution is correct.
func (c *check) single(f *Failure, want, got []collective.Contributor) string {
	if len(got) != 1 {
		return ""
	}
	own := got[0].Rank == c.Call.Labels.At(f.Rank)
	if len(want) == 1 && (!own || compare(want, got) == 0) {
		return ""
	}
	if _, untouched := c.writer(f); own && untouched {
		return "still holds its untouched input: nothing was written to it"
	}
	what := "holds only the input of " + c.names(got)
	if own {
		what = "holds only its own input"
		if n := got[0].Count; n > 1 {
			what += ", " + count(n)
		}
		if i := got[0].Index; len(want) > 0 && i != want[0].Index {
			what += fmt.Sprintf(" (input element %d)", i)
		}
	}
	return c.withWriter(f, what)
}

// meaning returns the collective with its reduction: "all_reduce sum".
func (c *check) meaning() string {
	if c.Collective.Reduces {
		return c.Collective.Name + " " + c.Call.Op.String()
	}
	return c.Collective.Name
}

// explainSets compares two multisets.
func (c *check) explainSets(f *Failure, d collective.Difference) {
	want := c.expect.Contributors(f.Rank, f.Element)
	switch {
	case d.Got.Count == d.Want.Count && d.Got.Hash == d.Want.Hash && d.Got.Base == d.Want.Base:
		f.Reason = "not divided by the number of ranks"
		if d.Got.Scaled {
			f.Reason = "divided by the number of ranks"
		}
		return
	case d.Got.Count == 0:
		f.Missing = want
		f.Reason = c.withWriter(f, "no contribution at all")
		return
	case d.Got.Set == nil:
		c.withoutSets(f, d, want)
		return
	}
	got := d.Got.Contributors()
	f.compare(want, got)
	if f.Reason = c.single(f, want, got); f.Reason != "" {
		return
	}
	var parts []string
	if len(f.Missing) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d contributions missing: %s", len(f.Missing), len(want), c.names(f.Missing)))
	}
	if len(f.Duplicated) > 0 {
		parts = append(parts, "counted more than once: "+c.names(f.Duplicated))
	}
	if len(f.Unexpected) > 0 {
		parts = append(parts, "not expected in this element: "+c.names(f.Unexpected))
	}
	f.Reason = strings.Join(parts, "; ")
}

// withoutSets describes what hashes and counts show.
func (c *check) withoutSets(f *Failure, d collective.Difference, want []collective.Contributor) {
	f.Reason = fmt.Sprintf("%s contributions, expected %d", atLeast(int64(d.Got.Count), math.MaxInt32), d.Want.Count)
	if d.Got.Count == d.Want.Count {
		f.Reason = fmt.Sprintf("%d contributions, as expected, but not the right ones", d.Got.Count)
	}
	labels := c.Call.Labels
	labels.N = c.Call.World
	rank, over, ok := c.Hasher.Single(d, labels)
	if !ok {
		return
	}
	one := collective.Contributor{Rank: rank, Index: d.Want.Base, Count: 1}
	if over {
		one.Count = 2
		f.Duplicated = append(f.Duplicated, one)
		f.Reason = "counted more than once: " + c.names(f.Duplicated)
		return
	}
	f.Missing = append(f.Missing, one)
	f.Reason = fmt.Sprintf("%d of %d contributions missing: %s", 1, len(want), c.names(f.Missing))
}

// compare finds the contributors that are missing, duplicated or unexpected. Both lists are sorted
// by rank and index.
func (f *Failure) compare(want, got []collective.Contributor) {
	for len(want) > 0 || len(got) > 0 {
		switch order := compare(want, got); {
		case order < 0:
			f.Missing = append(f.Missing, want[0])
			want = want[1:]
		case order > 0:
			f.Unexpected = append(f.Unexpected, got[0])
			got = got[1:]
		default:
			if got[0].Count > 1 {
				f.Duplicated = append(f.Duplicated, got[0])
			}
			want, got = want[1:], got[1:]
		}
	}
}
