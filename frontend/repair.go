package frontend

import (
	"fmt"
	"slices"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Repair is a change of a program that hangs. With it the program ends at every size that it is
// for.
type Repair struct {
	What  string   `json:"what"` // order, instances, depth, protocol, range
	Text  string   `json:"text"`
	Moves []string `json:"moves,omitempty"` // of another order: a step and the one that it must come before, for each block
}

// mostInstances is the largest number of copies of a program that are tried.
const mostInstances = 16

// repairs tries changes and returns those that help, the cheapest first. Another order costs
// nothing, more instances need blocks, depth needs memory, and another protocol needs bandwidth. A
// smaller range gives up the sizes that hang.
func (s *search) repairs(h *Hang) (out []Repair) {
	add := func(what, format string, args ...any) {
		out = append(out, Repair{What: what, Text: fmt.Sprintf(format, args...)})
	}
	if moved := s.reorder(); len(moved) > 0 {
		text := moved[0]
		if n := len(moved); n > 1 {
			text += fmt.Sprintf(", and %d more such moves (--details lists them)", n-1)
		}
		add("order", "%s", text)
		out[0].Moves = moved
	}
	if n := s.instances(h); n > 0 {
		add("instances", "%d instances: every chunk in %d parts, each on channels of its own", n, n)
	}
	if n := s.depth(); n > 0 {
		add("depth", "channels that hold %d messages", n)
	}
	for _, p := range []plan.Protocol{plan.LL128, plan.LL} {
		if p != s.program.Protocol && s.options.Depth == 0 && s.with(p) {
			add("protocol", "protocol %v", p)
			break
		}
	}
	if h.Ends > 0 && h.Ends >= s.program.MinBytes {
		add("range", "maxBytes %d: larger calls then take another algorithm", h.Ends)
	}
	return out
}

// depth returns the least depth with which all sizes end; 0 if there is none.
func (s *search) depth() (most int) {
	for _, bytes := range s.sizes() {
		n := least(s.plan(bytes))
		if n == 0 {
			return 0
		}
		most = max(most, n)
	}
	return most
}

// with reports whether all sizes end with another protocol, whose messages change at sizes of its
// own.
func (s *search) with(proto plan.Protocol) bool {
	for _, bytes := range append([]int64{0}, s.changes(proto)...) {
		if s.program.MaxBytes > 0 && bytes > s.program.MaxBytes {
			break
		}
		p, _ := s.program.Plan(plan.Call{Bytes: bytes, InPlace: s.program.Modes[0], Protocol: &proto})
		if p = s.options.transport(p); p == nil || judge.Finishes(p) != nil {
			return false
		}
	}
	return true
}

// instances returns the least number of copies of the program with which all sizes end; 0 if there
// is none. A copy has its own channels and a part of each chunk. So it does what the program does
// in a call of as many bytes.
func (s *search) instances(h *Hang) int {
	if h.Ends == 0 || s.program.MaxBytes == 0 {
		return 0
	}
	p := s.plan(0)
	channels := map[int]bool{}
	for _, c := range p.Channels {
		channels[c.ID] = true
	}
	for n := 2; n <= mostInstances && n*len(channels) <= 32; n++ {
		ends := true
		for _, bytes := range s.sizes() {
			if bytes > 0 && bytes > s.program.MaxBytes/int64(n) {
				bytes = s.program.MaxBytes / int64(n)
			}
			ends = ends && judge.Finishes(s.plan(bytes)) == nil
		}
		if ends {
			return n
		}
	}
	return 0
}

// reorder moves receives before the sends that block, and sends before the receives that block. It
// does so in one block of each pair that wait for each other, and returns the moves. Nil if that
// does not help, or the result is not right then.
func (s *search) reorder() []string {
	sizes := s.sizes()
	largest := s.plan(sizes[len(sizes)-1])
	moves := map[[2]int][]int{} // rank, block: Index of each step that moves after the next one
	var order [][2]int
	const rounds = 8
	for range rounds {
		stuck := judge.Blocked(ordered(largest, moves))
		if len(stuck) == 0 {
			break
		}
		progress := false
		for _, w := range stuck {
			if w.To > w.Rank && w.To != plan.None || w.Reason != judge.NoSlot && !(w.Reason == judge.NoData && sendsNext(largest, &w)) {
				continue
			}
			key := [2]int{w.Rank, w.Index}
			if slices.Contains(moves[key], w.Step) {
				continue
			}
			if moves[key] == nil {
				order = append(order, key)
			}
			moves[key] = append(moves[key], w.Step)
			progress = true
		}
		if !progress {
			return nil
		}
	}
	if len(order) == 0 {
		return nil
	}
	for _, bytes := range sizes {
		if judge.Finishes(ordered(s.plan(bytes), moves)) != nil {
			return nil
		}
	}
	for _, p := range []*plan.Plan{s.plan(0), largest} {
		if judge.Judge(ordered(p, moves)).Verdicts[0] < plan.NoPostcondition {
			return nil
		}
	}
	var out []string
	for _, key := range order {
		b := &largest.Ranks[key[0]].Blocks[key[1]]
		for _, index := range moves[key] {
			late, next := stepPair(b.Steps, index)
			before := plan.None
			for i := range b.Steps {
				if b.Steps[i].Index < late.Index {
					before = b.Steps[i].Index
				}
			}
			out = append(out, fmt.Sprintf("rank %d %s: %s before %s of line %d", key[0], b.Name(), stepsTo(late.Index, next),
				stepsTo(before, late), late.Line))
		}
	}
	return out
}

// stepsTo names a step, with those of the file between it and the step before: nops, which hand it
// their dependencies.
func stepsTo(before int, s *plan.Step) string {
	if before+1 < s.Index {
		return fmt.Sprintf("steps %d to %d (%s)", before+1, s.Index, s.Op)
	}
	return fmt.Sprintf("step %d (%s)", s.Index, s.Op)
}

// sendsNext reports whether the step after the waiting one is a send without a receive.
func sendsNext(p *plan.Plan, w *judge.Waiter) bool {
	_, next := stepPair(p.Ranks[w.Rank].Blocks[w.Index].Steps, w.Step)
	return next != nil && next.Send != plan.None && next.Take == plan.None
}

// stepPair returns the step of an Index and the next one.
func stepPair(steps []plan.Step, index int) (late, next *plan.Step) {
	for i := range steps {
		if steps[i].Index == index {
			late, next = &steps[i], &steps[min(i+1, len(steps)-1)]
		}
	}
	return late, next
}

// ordered returns a plan in which steps have changed places with the next ones. Steps keep their
// Index, by which others wait for them.
func ordered(p *plan.Plan, moves map[[2]int][]int) *plan.Plan {
	q := *p
	q.Ranks = slices.Clone(p.Ranks)
	for key, late := range moves {
		k := &q.Ranks[key[0]]
		k.Blocks = slices.Clone(k.Blocks)
		b := &k.Blocks[key[1]]
		var steps []plan.Step
		for i := 0; i < len(b.Steps); {
			end := i
			for end < len(b.Steps) && b.Steps[end].Index == b.Steps[i].Index {
				end++
			}
			next := end
			for next < len(b.Steps) && b.Steps[next].Index == b.Steps[end].Index {
				next++
			}
			if slices.Contains(late, b.Steps[i].Index) && end < next {
				steps = append(steps, b.Steps[end:next]...)
				steps = append(steps, b.Steps[i:end]...)
				i = next
				continue
			}
			steps = append(steps, b.Steps[i:end]...)
			i = end
		}
		b.Steps = steps
	}
	return &q
}
