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
	"kernbench/tl"
)

// mostSlots is the largest value of a configuration.
const mostSlots = 4096

// slots finds the least number of slots with which the run ends, if some rank waits for a slot. It
// tries all rings, and only the rings that ranks wait to send into.
func (s *search) slots(d *fault.Deadlock) {
	at := slices.IndexFunc(d.Blocked, func(b fault.Blocked) bool { return b.Sending })
	if at < 0 {
		return
	}
	have, dirs := d.Blocked[at].Slots, stalledDirs(nil, d)
	n, why := s.least(have, s.withSlots, nil)
	if n == 0 && why == "" {
		return // stopped
	}
	if n > 0 {
		s.found.Slots = fmt.Sprintf("%s: %d works (with %d it deadlocks)", s.slotsKey(), n, n-1)
		if marks := s.marks(n); marks != "" {
			s.found.Slots += ": " + marks
		}
		s.report(fmt.Sprintf("%s: %d", s.slotsKey(), n), s.withSlots(n))
	} else {
		s.found.Slots = why
	}
	if s.spec.Program != "" || !s.otherDirs(dirs) {
		return // all rings of a program have as many slots, or the setting is the same
	}
	if text := s.perRing(have, dirs); text != "" {
		s.report("ring_slots: "+text, s.withRingSlots(text))
		s.perRings++
	}
}

// stalledDirs adds the directions in which ranks wait to send.
func stalledDirs(dirs []string, d *fault.Deadlock) []string {
	for _, b := range d.Blocked {
		if b.Sending {
			dirs = add(dirs, b.Dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// report adds slots that work to the repairs.
func (s *search) report(what string, spec run.Spec) {
	r := run.Repair{What: what}
	s.others(spec, s.world, &r)
	s.found.Found = append(s.found.Found, r)
}

// least finds the least number of slots that works, above one that does not. It returns 0 and the
// reason if none was found, and no reason if the search was stopped. If hung is not nil, it is
// called for each deadlock.
func (s *search) least(have int, with func(n int) run.Spec, hung func(*fault.Deadlock)) (int, string) {
	lo, hi, last, full := have, have, ending(fails), false
	for last != works && !full {
		lo = hi
		if hi = min(2*hi, mostSlots); hi == lo {
			return 0, fmt.Sprintf("%d slots do not help", lo)
		}
		var err error
		last, err = s.try(with(hi))
		hang, hangs := errors.AsType[*fault.Deadlock](err)
		full = memoryIsFull(err)
		switch {
		case last == works || full:
		case hangs && !slices.ContainsFunc(hang.Blocked, func(b fault.Blocked) bool { return b.Sending }):
			return 0, "no number of slots helps"
		case hangs:
			if hung != nil {
				hung(hang)
			}
		case s.ctx.Err() != nil:
			return 0, ""
		case last == wrong:
			return 0, fmt.Sprintf("with %d slots the run ends, with wrong results", hi)
		default:
			return 0, fmt.Sprintf("with %d slots too the run does not end well", hi)
		}
	}
	n := lo + 1 + sort.Search(hi-lo-1, func(i int) bool {
		end, err := s.try(with(lo + 1 + i))
		return end == works || memoryIsFull(err)
	})
	if s.ctx.Err() != nil {
		return 0, ""
	}
	if full {
		if end, _ := s.try(with(n)); end != works {
			return 0, fmt.Sprintf("%d slots do not help, and there is no memory for more", n-1)
		}
	}
	return n, ""
}

func memoryIsFull(err error) bool {
	_, full := errors.AsType[*fault.RingMemory](err)
	return full
}

// otherDirs reports whether there are rings in other directions than these.
func (s *search) otherDirs(dirs []string) bool {
	return slices.ContainsFunc(s.outs, func(d tl.Dir) bool { return !slices.Contains(dirs, d.String()) })
}

// perRing returns the setting with the least slots of each of some directions, or "" if none was
// found. Other directions keep their slots.
func (s *search) perRing(have int, dirs []string) string {
	each := map[string]int{}
	setting := func() string {
		var b strings.Builder
		for i, d := range dirs {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%s:%d", d, each[d])
		}
		return b.String()
	}
	n, _ := s.least(have, func(n int) run.Spec {
		for _, d := range dirs {
			each[d] = n
		}
		return s.withRingSlots(setting())
	}, func(d *fault.Deadlock) { dirs = stalledDirs(dirs, d) })
	if n == 0 {
		return ""
	}
	for _, d := range dirs {
		each[d] = n
	}
	for _, d := range dirs {
		if len(dirs) == 1 {
			break
		}
		most := each[d]
		each[d] = have + sort.Search(most-have, func(i int) bool {
			each[d] = have + i
			end, _ := s.try(s.withRingSlots(setting()))
			return end == works
		})
	}
	if s.ctx.Err() != nil {
		return ""
	}
	return setting()
}

// slotsKey returns the name of the number of slots, in ccl.yaml or in a program file.
func (s *search) slotsKey() string {
	if s.spec.Program != "" {
		return "slots"
	}
	return "n_slots"
}

// withSlots returns the spec with another number of slots. It also overrides a number in the
// algorithm's entry, or in the program file.
func (s *search) withSlots(n int) run.Spec {
	if s.spec.Program != "" {
		spec := s.spec
		spec.Slots = n
		return spec
	}
	return s.with("n_slots", n, func(e *conf.Algorithm) bool { return e.NSlots != nil })
}

// withRingSlots does the same for the slots of some directions.
func (s *search) withRingSlots(text string) run.Spec {
	return s.with("ring_slots", text, func(e *conf.Algorithm) bool { return e.RingSlots != nil })
}

func (s *search) with(key string, value any, own func(*conf.Algorithm) bool) run.Spec {
	spec := s.spec
	if x, err := run.Load(s.spec); err == nil {
		spec.Sets = append(slices.Clip(spec.Sets), x.SetsFor(key, value, own)...)
	}
	return spec
}

// marks prints the most slots in use at once, for the rings of each direction.
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
		most[ring.Dir] = max(most[ring.Dir], ring.MaxSlots)
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
