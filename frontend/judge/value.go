package judge

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/frontend/plan"
)

// value is the content of a cell, as the number of a node of values. 0 is undefined.
type value int32

const undefined value = 0

// node is a contribution, or the sum of two values. sum is the seeded sum over contributions. Two
// values are equal if they have the same contributions, each as often. Their sums are then equal,
// and else differ except with a probability of 2^-128.
type node struct {
	sum  [2]uint64
	a, b value // of a sum; a contribution has undefined and the number of its cell
	rank int32
	call int32 // launch
}

// values is the arena of nodes. Nothing is freed: a run makes as many as it has additions.
type values struct{ nodes []node }

func newValues() *values { return &values{nodes: make([]node, 1, 1024)} }

// leaf makes the value of one contribution.
func (v *values) leaf(c plan.Contribution) value {
	v.nodes = append(v.nodes, node{sum: digest(c), b: value(c.Cell), rank: int32(c.Rank), call: int32(c.Launch)})
	return value(len(v.nodes) - 1)
}

// add makes a sum. A sum with an undefined value is undefined.
func (v *values) add(a, b value) value {
	if a == undefined || b == undefined {
		return undefined
	}
	x, y := &v.nodes[a].sum, &v.nodes[b].sum
	v.nodes = append(v.nodes, node{sum: plus(*x, *y), a: a, b: b})
	return value(len(v.nodes) - 1)
}

func plus(x, y [2]uint64) [2]uint64 { return [2]uint64{x[0] + y[0], x[1] + y[1]} }

// digest is 128 bits for a contribution.
func digest(c plan.Contribution) [2]uint64 {
	x := uint64(c.Launch)<<56 ^ uint64(c.Rank)<<32 ^ uint64(uint32(c.Cell))
	return [2]uint64{mix(x), mix(x ^ 0x5851f42d4c957f2d)}
}

// mix returns the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// contents counts the contributions of a value. It visits each node once.
func (v *values) contents(top value) map[plan.Contribution]uint64 {
	out := map[plan.Contribution]uint64{}
	if top == undefined {
		return out
	}
	// A sum has a greater number than its operands, so the count of a node is final when it is
	// visited.
	times := map[value]uint64{top: 1}
	for heap := []value{top}; len(heap) > 0; {
		i := 0
		for j := range heap {
			if heap[j] > heap[i] {
				i = j
			}
		}
		x := heap[i]
		heap[i] = heap[len(heap)-1]
		heap = heap[:len(heap)-1]
		n := times[x]
		if nd := v.nodes[x]; nd.a == undefined {
			out[plan.Contribution{Rank: int(nd.rank), Cell: int(nd.b), Launch: int(nd.call)}] += n
		} else {
			for _, part := range [2]value{nd.a, nd.b} {
				if _, known := times[part]; !known {
					heap = append(heap, part)
				}
				times[part] += n
			}
		}
	}
	return out
}

// most is the largest number of contributions that a report names.
const most = 6

// list names contributions by the cell of the rank's input that each comes from, with how often it
// is there.
func (d *data) list(have map[plan.Contribution]uint64) string {
	var keys []plan.Contribution
	for c := range have {
		keys = append(keys, c)
	}
	slices.SortFunc(keys, plan.Contribution.Compare)
	var words []string
	for i, c := range keys {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(keys)-most))
			break
		}
		name := "input"
		if k := &d.run.plan.Ranks[c.Rank]; k.Input != plan.None {
			name = k.Views[k.Input].Name
		}
		word := fmt.Sprintf("rank %d's %s", c.Rank, plan.Cells(name, c.Cell, 1))
		if c.Launch > 0 {
			word += fmt.Sprintf(" of launch %d", c.Launch+1)
		}
		if n := have[c]; n != 1 {
			word += fmt.Sprintf(" %d times", n)
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, ", ")
}
