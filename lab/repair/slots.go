package repair

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"kernbench/conf"
	"kernbench/fault"
	"kernbench/lab/run"
)

// mostSlots is the most that a configuration can ask for.
const mostSlots = 4096

// slots finds the least number of slots with which the run ends, if some rank waits for one.
func (s *search) slots(d *fault.Deadlock) {
	at := slices.IndexFunc(d.Blocked, func(b fault.Blocked) bool { return b.Sending })
	if at < 0 || s.spec.Program != "" {
		return
	}
	lo, hi, last := d.Blocked[at].Slots, d.Blocked[at].Slots, ending(fails)
	for last != works {
		lo = hi
		if hi = min(2*hi, mostSlots); hi == lo {
			s.found.Slots = fmt.Sprintf("%d slots do not help", lo)
			return
		}
		var err error
		last, err = s.try(s.withSlots(hi))
		hang, hangs := errors.AsType[*fault.Deadlock](err)
		switch {
		case last == works:
		case hangs && !slices.ContainsFunc(hang.Blocked, func(b fault.Blocked) bool { return b.Sending }):
			s.found.Slots = "no number of slots helps"
			return
		case hangs:
		case s.ctx.Err() != nil:
			return
		case last == wrong:
			s.found.Slots = fmt.Sprintf("with %d slots the run ends, with wrong results", hi)
			return
		default:
			s.found.Slots = fmt.Sprintf("with %d slots too the run does not end well", hi)
			return
		}
	}
	n := lo + 1 + sort.Search(hi-lo-1, func(i int) bool {
		end, _ := s.try(s.withSlots(lo + 1 + i))
		return end == works
	})
	if s.ctx.Err() != nil {
		return
	}
	s.found.Slots = fmt.Sprintf("n_slots: %d works (%d deadlocks)", n, n-1)
	r := run.Repair{What: fmt.Sprintf("n_slots: %d", n)}
	if marks := s.marks(n); marks != "" {
		s.found.Slots += ": " + marks
	}
	s.others(s.withSlots(n), s.world, &r)
	s.found.Found = append(s.found.Found, r)
}

// withSlots is the spec with so many slots, also where the entry of the algorithm has a number of its own.
func (s *search) withSlots(n int) run.Spec {
	spec := s.spec
	if x, err := run.Load(s.spec); err == nil {
		sets := x.SetsFor("n_slots", n, func(e *conf.Algorithm) bool { return e.NSlots != nil })
		spec.Sets = append(slices.Clip(spec.Sets), sets...)
	}
	return spec
}

// marks says how many slots the rings of each direction had in use at once.
func (s *search) marks(n int) string {
	spec := s.withSlots(n)
	spec.Use = true
	x, err := run.Load(spec)
	if err != nil {
		return "" // the executor does not count
	}
	s.found.Tried++
	r, err := x.Run(s.ctx)
	if err != nil || r.Use == nil {
		return ""
	}
	most := map[string]int{}
	var dirs []string
	for _, ring := range r.Use.Rings {
		if most[ring.Dir] == 0 {
			dirs = append(dirs, ring.Dir)
		}
		most[ring.Dir] = max(most[ring.Dir], ring.Most)
	}
	var b strings.Builder
	for i, d := range dirs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "rings to %s hold up to %d at once", d, most[d])
	}
	return b.String()
}
