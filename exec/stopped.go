package exec

import (
	"fmt"
	"strings"

	"kernbench/fault"
	"kernbench/tl/watch"
)

// Stopped is a launch that was interrupted, or that passed a limit, with the places of its kernels.
type Stopped struct {
	Err     error
	World   int          // ranks of the launch; 0: not known
	Stops   []watch.Stop // of kernels that had begun and not ended, by rank
	Running *fault.Stalled
}

func (s *Stopped) Unwrap() error { return s.Err }

func (s *Stopped) Error() string {
	var b strings.Builder
	b.WriteString(s.Err.Error())
	if r := s.Running; r != nil {
		fmt.Fprintf(&b, "\n  %v: runs without an instruction\n    %s", r.Place, strings.Join(r.Stack, "\n    "))
	}
	const most = 20 // lines
	groups := s.groups()
	for i, g := range groups {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more places", len(groups)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s", g)
	}
	listed := len(s.Stops)
	if s.Running != nil {
		listed++
	}
	if s.World > listed && listed > 0 {
		fmt.Fprintf(&b, "\n  ranks not listed had ended or not begun: %d of %d", s.World-listed, s.World)
	}
	return b.String()
}

// group is kernels at one place.
type group struct {
	first watch.Stop
	ranks []int
	calls [2]uint32 // fewest and most instructions
	laps  [2]uint32 // fewest and most rounds; 0: not known
}

// groups joins ranks at one line.
func (s *Stopped) groups() []*group {
	var all []*group
	at := map[[2]string]*group{}
	for _, k := range s.Stops {
		key := [2]string{k.Line, k.Op}
		laps := uint32(0)
		if k.Every > 0 {
			laps = k.Calls / k.Every
		}
		g := at[key]
		if g == nil {
			g = &group{first: k, calls: [2]uint32{k.Calls, k.Calls}, laps: [2]uint32{laps, laps}}
			at[key], all = g, append(all, g)
		}
		g.ranks = append(g.ranks, k.Rank)
		g.calls = [2]uint32{min(g.calls[0], k.Calls), max(g.calls[1], k.Calls)}
		g.laps = [2]uint32{min(g.laps[0], laps), max(g.laps[1], laps)}
	}
	return all
}

func (g *group) String() string {
	where := ranks(g.ranks)
	if g.first.Line != "" {
		where += " at " + g.first.Line
	}
	if g.first.Op != "" {
		where += " in " + g.first.Op
	}
	where += fmt.Sprintf(": %s instructions so far", span(g.calls))
	if g.laps[0] > 0 {
		where += fmt.Sprintf(", the line passed about %s times", span(g.laps))
	}
	return where
}

func span(s [2]uint32) string {
	if s[0] == s[1] {
		return fmt.Sprint(s[0])
	}
	return fmt.Sprintf("%d to %d", s[0], s[1])
}

// ranks are numbers in order, as ranges: ranks 0-3,7.
func ranks(list []int) string {
	var parts []string
	for lo := 0; lo < len(list); {
		hi := lo + 1
		for hi < len(list) && list[hi] <= list[hi-1]+1 {
			hi++
		}
		part := fmt.Sprint(list[lo])
		if list[hi-1] > list[lo] {
			part += fmt.Sprintf("-%d", list[hi-1])
		}
		parts, lo = append(parts, part), hi
	}
	if len(list) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + strings.Join(parts, ",")
}
