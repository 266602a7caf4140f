package hccl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/fault"
	"kernbench/mem"
)

// advise returns the calls that would resolve a deadlock. A launch that waits for words of its own
// keeps the advice of the executor.
func (s *session) advise(d *fault.Deadlock) {
	for _, lacks := range []func(*fault.Deadlock) string{s.endedBeforeSync, s.notPrepared, s.notCommitted, s.polled,
		s.finalizedBefore, s.refusedAgain, s.noSync} {
		advice := lacks(d)
		if advice == "" {
			continue
		}
		d.Advice = advice
		if slices.ContainsFunc(s.windows, func(w *mem.Window) bool { return strings.Contains(d.Missing, w.Name) }) {
			d.Missing = ""
		}
		return
	}
}

// waits returns the cores that wait for a word of a part of the launch. The name is the part's, up
// to the index.
func waits(d *fault.Deadlock, part string, found func(b *fault.Blocked, index int) string) string {
	for i := range d.Blocked {
		b := &d.Blocked[i]
		rest, ok := strings.CutPrefix(b.Word, part+"[")
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		if err != nil {
			continue
		}
		if s := found(b, n); s != "" {
			return s
		}
	}
	return ""
}

// polls reports whether a core reads a word repeatedly, and does not wait for a value.
func polls(b *fault.Blocked) bool { return b.Op == "load_scalar" }

// endedBeforeSync names a core that ended while others wait for it in a SyncAll.
func (s *session) endedBeforeSync(d *fault.Deadlock) string {
	return s.late(d, func(k *Kernel) bool { return k.ended })
}

// noSync is endedBeforeSync for cores that wait for something else.
func (s *session) noSync(d *fault.Deadlock) string {
	return s.late(d, func(*Kernel) bool { return true })
}

func (s *session) late(d *fault.Deadlock, counts func(k *Kernel) bool) string {
	return waits(d, s.meeting.Name+".cores.came", func(b *fault.Blocked, scope int) string {
		if b.Rank < 0 || b.Rank >= len(s.kernels) || polls(b) {
			return ""
		}
		cores := slices.DeleteFunc(slices.Clone(s.kernels[b.Rank]), func(k *Kernel) bool {
			return k == nil || SyncScope(scope) == AIVOnly && k.typ == AIC
		})
		most := 0
		for _, k := range cores {
			most = max(most, k.syncs[scope])
		}
		for _, k := range cores {
			if n := k.syncs[scope]; n < most && counts(k) {
				return fmt.Sprintf("let %s of rank %d call SyncAll<%v> as often as the cores that wait for it at %s: %s, it has called it %s",
					k.label(), k.device, SyncScope(scope), b.Line, times(most), times(n))
			}
		}
		return ""
	})
}

func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}

// notPrepared names a task that some rank has not prepared.
func (s *session) notPrepared(*fault.Deadlock) string {
	for _, g := range s.runs {
		byRank := g.shared()
		most := slices.MaxFunc(byRank, func(a, b []*task) int { return len(a) - len(b) })
		for r, tasks := range byRank {
			if len(tasks) < len(most) {
				t := most[len(tasks)]
				return fmt.Sprintf("prepare on rank %d, too, what rank %d prepares at %s: %s", r, t.me, t.where.Place.Line, t.call)
			}
		}
	}
	return ""
}

// notCommitted names a turn that no call has committed.
func (s *session) notCommitted(*fault.Deadlock) string {
	for _, g := range s.runs {
		for h := range MaxTasks {
			var ranks []string
			var t *task
			done := 0
			for r := range g.members {
				m := &g.members[r]
				if h >= len(m.tasks) || m.owner.commits[h] >= m.tasks[h].units() {
					continue
				}
				if t == nil {
					t, done = m.tasks[h], m.owner.commits[h]
				}
				ranks = append(ranks, strconv.Itoa(r))
			}
			if t == nil {
				continue
			}
			what := fmt.Sprintf("turn %d", done/t.unitsPerTurn())
			return fmt.Sprintf("call Commit(handle %d) for %s on rank %s: %s, prepared at %s, has %d of %d committed",
				h, what, strings.Join(ranks, ", "), t.call, t.where.Place.Line, done, t.units())
		}
	}
	return ""
}

// polled names a Query that is compared with more turns than a task has.
func (s *session) polled(d *fault.Deadlock) string {
	for _, g := range s.runs {
		advice := waits(d, g.status.Name+".tasks.done", func(b *fault.Blocked, id int) string {
			if !polls(b) {
				return ""
			}
			for r := range g.members {
				if m := &g.members[r]; g.comm.team.PEs[r] == s.team.PEs[b.Rank] && id < len(m.tasks) {
					t := m.tasks[id]
					if n := g.status.Words(r)[g.status.Layout.Find("tasks.done").First+int32(id)]; int(n) == t.repeat {
						return fmt.Sprintf("Query(handle %d) at %s stays %d, the number of turns of %s: compare it with %d%s",
							id, b.Line, n, t.call, n, t.strideHint())
					}
				}
			}
			return ""
		})
		if advice != "" {
			return advice
		}
	}
	return ""
}

// finalizedBefore names a Wait that came after Finalize on another core.
func (s *session) finalizedBefore(d *fault.Deadlock) string {
	for _, g := range s.runs {
		advice := waits(d, g.status.Name+".tasks.answers", func(b *fault.Blocked, _ int) string {
			return fmt.Sprintf("call SyncAll on all cores between their last Wait and Finalize: the Wait at %s came after Finalize of another core",
				b.Line)
		})
		if advice != "" {
			return advice
		}
	}
	return ""
}

// refusedAgain names a loop around a call that is refused.
func (s *session) refusedAgain(d *fault.Deadlock) string {
	return waits(d, s.meeting.Name+".cores.came", func(b *fault.Blocked, _ int) string {
		if !polls(b) || b.Rank < 0 || b.Rank >= len(s.kernels) {
			return ""
		}
		for _, k := range s.kernels[b.Rank] {
			if k != nil && k.refused.times > 1 {
				return fmt.Sprintf("leave the loop at %s when its call fails: %s is refused each time, because %s",
					b.Line, k.refused.call, k.refused.found)
			}
		}
		return ""
	})
}
