package frontend_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"kernbench/frontend"
	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
	"kernbench/internal/exhaustive"
	"kernbench/lab/run"
	"kernbench/program/text"
)

// programOf writes a plan as a program of kernbench. Blocks become blocks of ranks, and channels
// become rings. The published steps of a block become a control word. A cell is an element. It
// returns false for plans that do more. A counter becomes a control word.
func programOf(p *plan.Plan, algorithm string) (string, bool) {
	var b, wires, ranks strings.Builder
	blocks, scratch := 1, 1
	outs, ins := make([][]string, p.World()), make([][]string, p.World())
	waiter, taken := make([]*plan.Block, len(p.Counters)), make([]int, len(p.Counters))
	from, to := make([]string, len(p.Channels)), make([]string, len(p.Channels))
	for i, c := range p.Channels {
		from[i], to[i] = fmt.Sprintf("dim%d", len(outs[c.From])), fmt.Sprintf("dim%d", len(ins[c.To]))
		outs[c.From] = append(outs[c.From], fmt.Sprintf("%s->%d.%s", from[i], c.To, to[i]))
		ins[c.To] = append(ins[c.To], to[i])
		if max(len(outs[c.From]), len(ins[c.To])) > 16 {
			return "", false
		}
	}
	for r := range p.Ranks {
		k := &p.Ranks[r]
		blocks = max(blocks, len(k.Blocks))
		for m, cells := range k.Memories {
			if m != k.Views[k.Input].Memory && m != k.Views[k.Output].Memory {
				scratch = max(scratch, cells)
			}
		}
		if len(outs[r]) > 0 {
			fmt.Fprintf(&wires, "wire %d %s\n", r, strings.Join(outs[r], " "))
		}
		for n := range k.Blocks {
			fmt.Fprintf(&ranks, "rank %d block %d\n  fence\n", r, n)
			tensors := 0
			for i := range k.Blocks[n].Steps {
				s := &k.Blocks[n].Steps[i]
				if s.Switch || slices.ContainsFunc(append(slices.Clone(s.Src), s.Dst...), func(x plan.Span) bool { return x.Packet }) {
					return "", false
				}
				for _, w := range s.Wait {
					if waiter[w.Counter] == nil {
						waiter[w.Counter] = &k.Blocks[n]
					}
					if waiter[w.Counter] != &k.Blocks[n] {
						return "", false // who gets a unit depends on time
					}
					taken[w.Counter] += w.N
					fmt.Fprintf(&ranks, "  wait_until w2.count[%d] >= %d\n", w.Counter, taken[w.Counter]-p.Counters[w.Counter].Start)
				}
				tensors = writeStep(&ranks, p, r, n, s, tensors, from, to)
			}
		}
	}
	in, out := &p.Ranks[0].Views[p.Ranks[0].Input], &p.Ranks[0].Views[p.Ranks[0].Output]
	results := "in place"
	if in.Memory != out.Memory {
		results = fmt.Sprintf("apart %d", out.Cells)
	} else if in.First != out.First || in.Cells != out.Cells {
		return "", false
	}
	reduces := ""
	if strings.Contains(p.Collective, "reduce") {
		reduces = "operator sum\n"
	}
	if p.Collective == "broadcast" || p.Collective == "reduce" {
		reduces += "root 0\n"
	}
	fmt.Fprintf(&b, "kernbench program 1\nalgorithm %s\ncollective %s\n%stype f32\nelements %d\nresults %s\nworld %d\n",
		algorithm, p.Collective, reduces, in.Cells, results, p.World())
	fmt.Fprintf(&b, "slots 64 of 256 bytes\nscratch 65536 bytes\nwindow w0 %d bytes\npart w0 scratch f32[%d] staging\n",
		(scratch*4+127)/128*128+128, scratch)
	fmt.Fprintf(&b, "window w1 %d bytes\npart w1 done int64[%d]\n", (blocks*8+127)/128*128, blocks)
	if n := len(p.Counters); n > 0 {
		fmt.Fprintf(&b, "window w2 %d bytes\npart w2 count int64[%d]\n", (n*8+127)/128*128, n)
	}
	b.WriteString(wires.String() + ranks.String())
	return b.String(), true
}

// writeStep writes a step of block n of rank r, and returns the number of the next tensor.
func writeStep(b *strings.Builder, p *plan.Plan, r, n int, s *plan.Step, next int, from, to []string) int {
	memory := func(x plan.Span) string {
		k, at := &p.Ranks[r], ""
		if x.Rank != plan.None && x.Rank != r {
			k, at = &p.Ranks[x.Rank], fmt.Sprintf("@%d", x.Rank)
		}
		v, in, out := k.Views[x.View], k.Views[k.Input], k.Views[k.Output]
		first := v.First + x.First
		switch {
		case v.Memory == in.Memory && v.Memory == out.Memory:
			return fmt.Sprintf("data[%d:+%d]%s", first, x.N, at)
		case v.Memory == in.Memory:
			return fmt.Sprintf("in[%d:+%d]%s", first, x.N, at)
		case v.Memory == out.Memory:
			return fmt.Sprintf("out[%d:+%d]%s", first, x.N, at)
		}
		return fmt.Sprintf("w0.scratch[%d:+%d]%s", first, x.N, at)
	}
	for _, d := range s.After {
		fmt.Fprintf(b, "  wait_until w1.done[%d] >= %d\n", d.Block, d.Index+1)
	}
	sum := -1
	add := func() {
		if sum >= 0 {
			fmt.Fprintf(b, "  t%d = add t%d t%d\n", next+1, sum, next)
			next++
		}
		sum = next
		next++
	}
	cells := 0
	for _, x := range append(slices.Clone(s.Src), s.Dst...) {
		cells = x.N
	}
	for _, x := range s.Src {
		fmt.Fprintf(b, "  t%d = load %s\n", next, memory(x))
		add()
	}
	if s.Take != plan.None {
		fmt.Fprintf(b, "  t%d = recv %s f32[%d]\n", next, to[s.Take], cells)
		add()
	}
	for _, x := range s.Dst {
		fmt.Fprintf(b, "  store %s t%d\n", memory(x), sum)
	}
	if s.Send != plan.None {
		fmt.Fprintf(b, "  send %s t%d\n", from[s.Send], sum)
	}
	if s.Publish || len(s.Signal) > 0 {
		b.WriteString("  pipe_barrier\n  fence\n")
	}
	for _, c := range s.Signal {
		at := ""
		if owner := p.Counters[c.Counter].Rank; owner != r {
			at = fmt.Sprintf("@%d", owner)
		}
		fmt.Fprintf(b, "  notify w2.count[%d]%s add %d\n", c.Counter, at, c.N)
	}
	if s.Publish {
		fmt.Fprintf(b, "  notify w1.done[%d] set %d\n", n, s.Index+1)
	}
	return next
}

// TestBlocksAsPlans: programs with several blocks of a rank, and mutants of them, get the same
// verdict in two forms. As plans they are judged on symbols. As programs of kernbench they run on
// both executors.
func TestBlocksAsPlans(t *testing.T) {
	rounds := 30
	if exhaustive.On() {
		rounds = 100
	}
	right, wrong, skipped := 0, map[plan.Verdict]int{}, 0
	for k, p := range rightPrograms {
		x, err := exported(p.algorithm, p.ranks, 1+p.channels)
		if err != nil {
			t.Fatal(err)
		}
		xml := string(x.Files[0].Data)
		rng := rand.New(rand.NewPCG(13, uint64(k)))
		for i := range rounds {
			name, m := "as it is", xml
			if i > 0 {
				name, m = mutant(xml, rng)
			}
			data := []byte(m)
			s := frontend.Source{Name: "x.xml", Dialect: frontend.DialectOf(data), Files: []plan.File{{Name: "x.xml", Data: data}}}
			read, findings := s.Read()
			if read == nil || len(findings) > 0 || i > 0 && m == xml {
				skipped++
				continue
			}
			pl, findings := read.Plan(plan.Call{InPlace: read.Modes[0], Root: 1})
			if pl == nil || len(findings) > 0 {
				skipped++
				continue
			}
			written, ok := programOf(pl, p.algorithm)
			j := judge.Judge(pl.WithDepth(0))
			if v := j.Verdicts[0]; !ok || v == plan.UndefinedRead || v == plan.NoPostcondition {
				skipped++
				continue
			}
			f, err := text.Parse("x.txt", []byte(written))
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", p.algorithm, name, err, written)
			}
			for e, executor := range []string{"mock", "sim"} {
				if !exhaustive.On() && (k+i)%2 != e {
					continue
				}
				race := true
				r, err := run.OfProgram(t.Context(), run.Spec{Executor: executor, VerifyData: true, Race: &race}, f)
				if fine := err == nil && r.OK(); fine != j.OK() {
					t.Fatalf("%s, %s: as a plan %v, on %s %v\n%v\n%s", p.algorithm, name, j.Findings, executor, fine, err, written)
				}
			}
			if j.OK() {
				right++
			} else {
				wrong[j.Verdicts[0]]++
			}
		}
	}
	t.Logf("%d right, wrong %v, %d left out", right, wrong, skipped)
	if right < 20 || wrong[plan.Wrong] < 10 || wrong[plan.Deadlock] == 0 || wrong[plan.Race] == 0 {
		t.Error("too few to judge by")
	}
}
