package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kernbench/frontend"
	"kernbench/frontend/plan"
)

// rightPrograms are ten programs, made of algorithms.
var rightPrograms = []struct {
	algorithm       string
	ranks, channels int
}{
	{"ring_allreduce_chunked", 4, 1}, {"tree_allreduce", 4, 2}, {"halving_doubling_allreduce", 4, 1}, {"direct_allreduce", 3, 1},
	{"hierarchical_allreduce", 4, 1}, {"ring_allgather", 4, 2}, {"ring_reduce_scatter", 3, 1}, {"pairwise_all_to_all", 4, 1},
	{"binomial_broadcast", 5, 1}, {"chain_reduce", 4, 1},
}

func verdict(text string) *frontend.Verdict {
	data := []byte(text)
	s := frontend.Source{Name: "x.xml", Dialect: frontend.DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}
	return frontend.Judge(&s, frontend.Options{Root: 1})
}

// floatRuns tries a file in several orders.
func floatRuns(text string, rng *rand.Rand) bool {
	for range 4 {
		if !floatRun([]byte(text), 0, rng) {
			return false
		}
	}
	return true
}

const stepPattern = `<step s="`

// mutant changes one thing of a file.
func mutant(text string, rng *rand.Rand) (what, out string) {
	lines := strings.Split(text, "\n")
	var steps, tbs, deps []int
	for i, l := range lines {
		if strings.Contains(l, stepPattern) {
			steps = append(steps, i)
		}
		if strings.Contains(l, "<tb ") {
			tbs = append(tbs, i)
		}
		if strings.Contains(l, stepPattern) && !strings.Contains(l, `depid="-1"`) {
			deps = append(deps, i)
		}
	}
	pick := func(list []int) int { return list[rng.IntN(len(list))] }
	change := func(i int, attribute, to string) {
		lines[i] = regexp.MustCompile(` `+attribute+`="[^"]*"`).ReplaceAllString(lines[i], ` `+attribute+`="`+to+`"`)
	}
	number := func(most int) string { return strconv.Itoa(rng.IntN(most)) }
	i := pick(steps)
	switch rng.IntN(8) {
	case 0:
		what = "swap two steps"
		if strings.Contains(lines[i+1], stepPattern) {
			lines[i], lines[i+1] = lines[i+1], lines[i]
		}
	case 1:
		what = "source"
		change(i, "srcoff", number(4))
	case 2:
		what = "destination"
		change(i, "dstoff", number(4))
	case 3:
		what = "peer"
		change(pick(tbs), []string{"send", "recv"}[rng.IntN(2)], number(4))
	case 4:
		what = "channel"
		change(pick(tbs), "chan", number(3))
	case 5:
		what = "type"
		change(i, "type", []string{"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"}[rng.IntN(9)])
	case 6:
		what = "drop a step"
		lines = slices.Delete(lines, i, i+1)
	case 7:
		what = "drop a dependency"
		if len(deps) > 0 {
			i = pick(deps)
		}
		change(i, "depid", "-1")
		change(i, "deps", "-1")
	}
	// Steps are numbered anew in each block.
	n := 0
	for i, l := range lines {
		if strings.Contains(l, "<tb ") {
			n = 0
		}
		if strings.Contains(l, stepPattern) {
			change(i, "s", strconv.Itoa(n))
			n++
		}
	}
	return what, strings.Join(lines, "\n")
}

// Fifty mutants of each program are found to be wrong, or compute the right thing in every order
// that an independent run tries. The programs themselves are right.
func TestMutants(t *testing.T) {
	mutants, flagged, equal := 0, 0, 0
	for k, p := range rightPrograms {
		x, err := exported(p.algorithm, p.ranks, p.channels)
		if err != nil {
			t.Fatal(err)
		}
		text := string(x.Files[0].Data)
		rng := rand.New(rand.NewPCG(19, uint64(k)))
		if v := verdict(text); !v.OK() || !floatRuns(text, rng) {
			t.Fatalf("%s: %v %v", p.algorithm, v.Verdicts, v.Findings)
		}
		for range 50 {
			what, m := mutant(text, rng)
			for m == text {
				what, m = mutant(text, rng)
			}
			mutants++
			v := verdict(m)
			if !v.OK() {
				flagged++
				continue
			}
			equal++
			if !floatRuns(m, rng) {
				t.Errorf("%s, %s: judged OK, and a float run differs:\n%s", p.algorithm, what, firstDifference(text, m))
			}
		}
	}
	t.Logf("%d mutants: %d flagged, %d equal", mutants, flagged, equal)
	if flagged < mutants/2 {
		t.Errorf("%d of %d mutants are flagged: the mutants do nothing", flagged, mutants)
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, x[i], y[i])
		}
	}
	return ""
}
