package mscclpp

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
	"kernbench/internal/exhaustive"
)

// unitsOfChunk is more than a pipeline's unit, and no multiple of it.
const unitsOfChunk = 10

func verdictsOf(p *Plan) []plan.Verdict {
	pl, findings := p.lower(plan.Call{Bytes: p.most(unitsOfChunk * unitBytes), InPlace: p.InPlace, Launches: 3}, "all_reduce")
	if pl == nil {
		return plan.Verdicts(findings)
	}
	return judge.Judge(pl).Verdicts
}

// schedules carries a plan out in several random orders: in how many it ends with right results.
func schedules(p *Plan, n int) (right int) {
	for seed := range n {
		if ends, ok := newFloats(p, unitsOfChunk, 3, int64(seed)).run(); ends && ok {
			right++
		}
	}
	return right
}

// mutate changes one thing of a plan, and returns a description; "" if it changed nothing.
func mutate(p *Plan, rng *rand.Rand) string {
	rank := rng.Intn(len(p.GPUs))
	g := &p.GPUs[rank]
	b := rng.Intn(len(g.Blocks))
	ops := &g.Blocks[b].Ops
	for i := range *ops {
		if len((*ops)[i].Ops) > 0 && rng.Intn(2) == 0 {
			ops = &(*ops)[i].Ops
			break
		}
	}
	i := rng.Intn(len(*ops))
	op := &(*ops)[i]
	where := fmt.Sprintf("rank %d tb %d op %d (%s)", rank, b, i, op.Name)
	switch rng.Intn(6) {
	case 0:
		if i+1 == len(*ops) {
			return ""
		}
		(*ops)[i], (*ops)[i+1] = (*ops)[i+1], (*ops)[i]
		return where + " swapped with the next"
	case 1:
		*ops = slices.Delete(*ops, i, i+1)
		return where + " dropped"
	case 2:
		*ops = slices.Insert(*ops, i, *op)
		return where + " twice"
	case 3:
		refs := op.Src
		if rng.Intn(2) == 0 {
			refs = op.Dst
		}
		if len(refs) == 0 {
			return ""
		}
		r := &refs[rng.Intn(len(refs))]
		r.Index ^= 1
		return where + " with another chunk"
	case 4:
		if len(op.Src) == 0 {
			return ""
		}
		r := &op.Src[rng.Intn(len(op.Src))]
		if r.Local == NoBuffer {
			return ""
		}
		if r.Local = Input; rng.Intn(2) == 0 && g.ScratchChunks > 1 {
			r.Local = Scratch
		}
		return where + " from another buffer"
	default:
		others := map[string]string{"signal": "wait", "wait": "signal", "sem_acquire": "sem_release", "sem_release": "sem_acquire",
			"rres": "rre", "respkt": "repkt", "pwsf": "put"}
		if others[op.Name] == "" {
			return ""
		}
		op.Name = others[op.Name]
		return where + " is " + op.Name
	}
}

// Every mutant of a right plan is flagged, or right in all of many orders on random numbers. If it
// is flagged as wrong or as a deadlock without a race, it is so in some order. Right plans are not
// flagged.
func TestMutants(t *testing.T) {
	mutants, orders := 10, 5
	if exhaustive.On() {
		mutants, orders = 50, 20
	}
	for _, name := range slices.Sorted(maps.Keys(right)) {
		text := right[name].String()
		p, err := readText(text)
		if err != nil {
			t.Fatal(err)
		}
		if v := verdictsOf(p); fmt.Sprint(v) != "[OK]" || schedules(p, orders) != orders {
			t.Errorf("%s: %v, right in %d of %d orders", name, v, schedules(p, orders), orders)
			continue
		}
		flagged, same := 0, 0
		rng := rand.New(rand.NewSource(int64(len(name))))
		for flagged+same < mutants {
			m, _ := readText(text)
			what := mutate(m, rng)
			if what == "" {
				continue
			}
			v := verdictsOf(m)
			switch words := fmt.Sprint(v); {
			case words == "[OK]":
				if same++; schedules(m, orders) != orders {
					t.Errorf("%s: %s: OK, and right in %d of %d orders", name, what, schedules(m, orders), orders)
				}
			default:
				flagged++
				if sure := words == "[WRONG]" || words == "[DEADLOCK]"; sure && schedules(m, orders) == orders {
					t.Errorf("%s: %s: %s, and right in all orders", name, what, words)
				}
				if strings.Contains(words, "PARSE") {
					t.Errorf("%s: %s: %s", name, what, words)
				}
			}
		}
		t.Logf("%s: %d flagged, %d as good", name, flagged, same)
	}
}
