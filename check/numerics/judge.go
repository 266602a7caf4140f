package numerics

import (
	"fmt"
	"math"

	"kernbench/dtype"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// Input is a reduction that has been done.
type Input struct {
	Type    dtype.Type
	Op      tl.ReduceOp
	World   int
	In      func(rank int) []byte // what each rank brought
	Results []Result
}

// Result holds what a rank ended with, or a part of it.
type Result struct {
	Rank  int
	First int    // which element of the contributions its first one is the sum of
	Out   []byte //
	Trees []oplog.Tree
}

// Report is the effect of rounding on the results of a reduction, over all ranks.
type Report struct {
	Elements int64 `json:"elements"` // of all results

	MinHeight  uint32 `json:"min_height"` // of the trees of elements
	MaxHeight  uint32 `json:"height"`
	Incomplete int64  `json:"incomplete"` // elements whose tree has not each contribution once

	MaxULP  float64 `json:"max_ulp"` // of finite results, from the exact one, in units in its last place
	MeanULP float64 `json:"mean_ulp"`
	Nearest int64   `json:"nearest"` // results within half a unit of the exact one
	Worst   *Worst  `json:"worst"`   // where MaxULP is; nil: nothing was rounded

	BoundULP  float64 `json:"bound_ulp"`     // what the error at Worst may be; where there is none, the largest of all bounds
	Factor    float64 `json:"bound_factor"`  // the largest factor of the sum of magnitudes that a bound has
	OfBound   float64 `json:"of_bound"`      // the largest ratio of an error to its bound
	Beyond    int64   `json:"beyond_bound"`  // results that are farther off than their bound
	Condition float64 `json:"max_condition"` // sum of magnitudes over magnitude of the sum; of sums other than 0

	Overflow int64 `json:"overflow"` // results that are infinite or NaN, of finite contributions
	InRange  int64 `json:"in_range"` // of those, results whose exact value the type can hold
}

// Worst is the result with the largest error.
type Worst struct {
	Rank    int     `json:"rank"`
	Element int     `json:"element"` // of the contributions
	Got     float64 `json:"got"`
	Exact   float64 `json:"exact"` // as a float64
}

// Within reports whether the error of every result is within the bound of its tree of additions.
func (r *Report) Within() bool { return r.Beyond == 0 }

// Applies reports whether rounding can be judged: only additions round, and only floats do.
func Applies(t dtype.Type, op tl.ReduceOp) error {
	switch {
	case !t.IsFloat():
		return fmt.Errorf("%v is not a float type: its sums are exact", t)
	case op == tl.Max || op == tl.Min:
		return fmt.Errorf("%v chooses one of its operands and rounds nothing: only sum and avg are judged", op)
	case op != tl.Sum && op != tl.Avg:
		return fmt.Errorf("%v multiplies: only sum and avg are judged", op)
	}
	return nil
}

// Judge compares results with exact sums, and their errors with the bounds of their trees.
func Judge(in Input) (*Report, error) {
	if err := Applies(in.Type, in.Op); err != nil {
		return nil, err
	}
	j := &judge{Input: in, sum: NewSum(in.Type)}
	total := 0.0
	size := in.Type.Size()
	next := make([]int, len(in.Results)) // of each result
	for {
		// The first element of a contribution that some result has still to be judged at.
		at := -1
		for k := range in.Results {
			if r := &in.Results[k]; next[k] < len(r.Out)/size && (at < 0 || r.First+next[k] < at) {
				at = r.First + next[k]
			}
		}
		if at < 0 {
			break
		}
		if err := j.element(at); err != nil {
			return nil, err
		}
		for k := range in.Results {
			r := &in.Results[k]
			if i := next[k]; i < len(r.Out)/size && r.First+i == at {
				total += j.result(r, i)
				next[k]++
			}
		}
	}
	r := &j.report
	if finite := r.Elements - r.Overflow; finite > 0 {
		r.MeanULP = total / float64(finite)
	}
	if r.Worst == nil {
		r.BoundULP = j.most
	}
	return &j.report, nil
}

// judge holds the state for one element of the contributions.
type judge struct {
	Input
	sum    *Sum // exact
	report Report

	at      int
	mag     float64 // not less than the sum of magnitudes
	exact   float64 // the exact result, as a float64
	nearest float64 // and rounded once to the type
	ulp     float64 // at the exact result

	got    float64 // the result that was judged last, and how far it is off
	off    float64
	tree   oplog.Tree // of the last request, and its factor
	factor float64
	most   float64 // the largest bound in units in the last place
}

// element finds the exact sum of what all ranks bring.
func (j *judge) element(at int) error {
	j.sum.Reset()
	j.at, j.mag, j.got = at, 0, math.NaN()
	for rank := range j.World {
		v := dtype.At(j.Type, j.In(rank), at)
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("rank %d contributes %v as element %d: only finite numbers have an exact sum", rank, v, at)
		}
		j.sum.Add(v)
		j.mag += math.Abs(v)
	}
	n := float64(j.World)
	j.mag *= 1 + n*0x1p-52 // it was rounded itself
	exact := j.sum.Magnitude()
	if exact > 0 {
		j.report.Condition = max(j.report.Condition, j.mag/exact)
	}
	j.nearest = j.sum.Round(j.Type)
	if j.Op == tl.Avg {
		exact, j.mag = exact/n, j.mag/n
		j.nearest = math.Copysign(exact, j.nearest)
		var b [8]byte
		dtype.Set(j.Type, b[:], 0, j.nearest)
		j.nearest = dtype.At(j.Type, b[:], 0)
	}
	j.exact = math.Copysign(min(exact, math.MaxFloat64), j.nearest)
	j.ulp = ULP(j.Type, exact)
	return nil
}

// result judges element i of a result, and returns its error in units in the last place.
func (j *judge) result(res *Result, i int) float64 {
	r := &j.report
	r.Elements++
	got := dtype.At(j.Type, res.Out, i)
	var tree oplog.Tree
	if i < len(res.Trees) {
		tree = res.Trees[i]
	}
	if tree.Terms != uint32(j.World) {
		r.Incomplete++
	}
	if r.Elements == 1 {
		r.MinHeight = tree.Height
	}
	r.MinHeight, r.MaxHeight = min(r.MinHeight, tree.Height), max(r.MaxHeight, tree.Height)

	if r.Elements == 1 || tree != j.tree { // most elements have the same
		j.tree, j.factor = tree, Factor(j.Type, j.Op, j.World, tree)
	}
	bound := j.factor * j.mag
	if j.Op == tl.Avg {
		bound += formats[j.Type].eta() // the division may lose what is below the smallest value
	}
	r.Factor = max(r.Factor, j.factor)
	if math.IsInf(got, 0) || math.IsNaN(got) {
		r.Overflow++
		if !math.IsInf(j.nearest, 0) {
			r.InRange++
		}
		return 0
	}
	if got != j.got { // all ranks mostly have the same
		j.got, j.off = got, j.error(got)
	}
	ulps := j.off / j.ulp
	j.most = max(j.most, bound/j.ulp)
	if ulps <= 0.5 {
		r.Nearest++
	}
	if j.off > 0 {
		if bound > 0 {
			r.OfBound = max(r.OfBound, j.off/bound)
		}
		if j.off > bound {
			r.Beyond++
		}
		if ulps > r.MaxULP {
			r.MaxULP, r.BoundULP = ulps, bound/j.ulp
			r.Worst = &Worst{Rank: res.Rank, Element: j.at, Got: got, Exact: j.exact}
		}
	}
	return ulps
}

// error returns the error of a finite result. An average is multiplied by the number of ranks and
// compared with the exact sum.
func (j *judge) error(got float64) float64 {
	d := *j.sum
	if j.Op != tl.Avg {
		d.Add(-got)
		return d.Magnitude()
	}
	n := float64(j.World)
	high := got * n
	if math.IsInf(high, 0) {
		for range j.World {
			d.Add(-got)
		}
		return d.Magnitude() / n
	}
	d.Add(-high)
	if low := math.FMA(got, n, -high); low != 0 {
		d.Add(-low)
	}
	return d.Magnitude() / n
}

// eta returns the smallest value.
func (f *format) eta() float64 { return math.Ldexp(1, f.least) }

// Factor returns the error bound of a sum with the given tree, as a fraction of the sum of
// magnitudes. Each of h roundings multiplies by at most 1+u <= e^u, where u is the unit roundoff.
// So e^(hu) - 1 is a bound: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sec.
// 4.2. For additions in one type (n-1) u is a bound, too: Jeannerod and Rump, SIAM J. Matrix Anal.
// Appl. 34 (2013). An unknown tree gets the bound of all trees.
func Factor(t dtype.Type, op tl.ReduceOp, world int, tree oplog.Tree) float64 {
	u := dtype.Epsilon(t)
	additions := uint64(max(world-1, 0))
	if tree.Terms == 0 {
		tree = oplog.Tree{Terms: uint32(world), Height: uint32(additions), Growth: additions * uint64(u*0x1p53)}
		if op == tl.Avg && world > 1 {
			tree.Height, tree.Growth = tree.Height+1, tree.Growth+uint64(u*0x1p53)
		}
	}
	factor := math.Expm1(float64(tree.Growth) * 0x1p-53)
	alike := tree.Growth == uint64(tree.Height)*uint64(u*0x1p53)
	if terms := uint64(max(tree.Terms, 1)); alike && op == tl.Sum && uint64(tree.Height) < terms {
		factor = min(factor, float64(terms-1)*u)
	}
	return factor
}
