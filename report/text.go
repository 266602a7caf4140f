package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"kernbench/lab/run"
	"kernbench/unit"
)

// Text prints a result as text: the program, the times and costs, the ranks that are wrong, and the
// verdict of each check.
func Text(w io.Writer, r *run.Result) error {
	b := bufio.NewWriter(w)
	for _, line := range r.Report {
		fmt.Fprintln(b, line)
	}
	if len(r.Report) > 0 {
		fmt.Fprintln(b)
	}
	subject(b, r)
	if r.RanksChecked {
		field(b, "ranks", "%d OK, %d FAIL", r.RanksOK, r.RanksFailed)
	} else {
		field(b, "ranks", "not checked%s", toCheck(r))
	}
	fmt.Fprintln(b)
	if r.Fault == "" || r.Launches > 0 {
		cost(b, r)
	}
	use(b, r.Use)
	failures(b, r)
	hazards(b, r)
	verdicts(b, r)
	class(b, r)
	schedules(b, r)
	for i, n := range r.Notes {
		if i == 0 {
			fmt.Fprintln(b)
		}
		fmt.Fprintf(b, "note: %s\n", n)
	}
	return b.Flush()
}

// field prints one line of "name  value".
func field(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "%-16s%s\n", name, fmt.Sprintf(format, args...))
}

// usualOrder is the memory order that is not printed.
const usualOrder = "put_signal"

// subject names the program and the machine.
func subject(w io.Writer, r *run.Result) {
	field(w, "bench", "%s", r.Bench)
	if r.Algorithm != "" {
		doing := strings.TrimSpace(r.Collective + " " + r.Op)
		if r.Topology != "" {
			doing = strings.TrimPrefix(doing+" on "+r.Topology, " on ")
		}
		if doing != "" {
			doing = " (" + doing + ")"
		}
		field(w, "algorithm", "%s%s", r.Algorithm, doing)
	}
	if r.Collectives > 0 {
		field(w, "collectives", "%d, performed by programs of streams", r.Collectives)
	}
	executor := r.Executor
	if r.Fidelity != "" {
		executor += ", fidelity " + r.Fidelity
	}
	field(w, "machine", "%s (%s)", r.Machine, executor)
	if r.MemoryOrder != "" && r.MemoryOrder != usualOrder {
		field(w, "memory order", "%s", r.MemoryOrder)
	}
	if r.Schedule > 0 {
		field(w, "schedule", "random, number %d", r.Schedule)
	}
	size := fmt.Sprint(r.WorldSize)
	if r.ElemsPerRank > 0 {
		ranks := "ranks, each"
		if r.WorldSize == 1 {
			ranks = "rank,"
		}
		size += fmt.Sprintf(" %s %s %s (%v)", ranks, count(int64(r.ElemsPerRank)), r.DType, r.BytesPerRank)
	}
	field(w, "world size", "%s", size)
	if r.Spec.Input != "" {
		field(w, "input", "%s", r.Spec.Input)
	}
}

func cost(w io.Writer, r *run.Result) {
	ended := r.Fault == ""
	if r.Timed && (ended || r.SimulatedTime > 0) {
		field(w, "simulated time", "%v", r.SimulatedTime)
		if r.Launch > 0 {
			field(w, "launch", "%v before it, in software", r.Launch)
		}
		if r.AlgBW > 0 {
			field(w, "algbw", "%s GB/s", significant(r.AlgBW))
			field(w, "busbw", "%s GB/s", significant(r.BusBW))
		}
	}
	if r.Messages > 0 || ended && len(r.Traffic) == 0 {
		field(w, "messages", "%s (%v)", count(r.Messages), size(r.MessageBytes))
	}
	traffic(w, r)
	if len(r.Simulation) > 0 {
		field(w, "simulation", "%s", strings.Join(r.Simulation, "; "))
	}
	if r.Events > 0 {
		field(w, "events", "%s", count(r.Events))
	}
	var speed []string
	if r.EventsPerSecond > 0 {
		speed = append(speed, perSecond(r.EventsPerSecond)+" events/s")
	}
	if r.NsPerMessage > 0 {
		speed = append(speed, significant(r.NsPerMessage)+" ns per message")
	}
	took := wall(r.WallTime)
	if len(speed) > 0 {
		took += " (" + strings.Join(speed, ", ") + ")"
	}
	field(w, "wall time", "%s", took)
	fmt.Fprintln(w)
}

// size prints bytes in the largest binary unit, with two decimals if it is not whole.
func size(n int64) string {
	b := unit.Bytes(n)
	for _, u := range []struct {
		unit unit.Bytes
		name string
	}{{unit.GiB, "GiB"}, {unit.MiB, "MiB"}, {unit.KiB, "KiB"}} {
		if b >= u.unit && b%u.unit != 0 {
			return fmt.Sprintf("%.2f %s", float64(b)/float64(u.unit), u.name)
		}
		if b >= u.unit {
			break
		}
	}
	return b.String()
}

func failures(w io.Writer, r *run.Result) {
	for i := range r.Failures {
		f := &r.Failures[i]
		place := fmt.Sprintf("rank %d", f.Rank)
		if f.PE != "" {
			place += " (" + f.PE + ")"
		}
		if f.Collective != "" {
			place += " in " + f.Collective
		}
		fmt.Fprintf(w, "FAIL %s: %s, element %d", place, f.Question, f.Index)
		if f.Elements > 1 {
			fmt.Fprintf(w, " and %s more", count(int64(f.Elements-1)))
		}
		fmt.Fprintln(w)
		for _, line := range []struct{ name, text string }{
			{"got", f.Got}, {"expected", f.Expected}, {"because", f.Reason},
		} {
			if line.text != "" {
				fmt.Fprintf(w, "     %-11s%s\n", line.name, line.text)
			}
		}
	}
	if n := r.RanksFailed - len(r.Failures); n > 0 && len(r.Failures) > 0 {
		fmt.Fprintf(w, "     ... and %d more ranks\n", n)
	}
	if len(r.Failures) > 0 {
		fmt.Fprintln(w)
	}
}

// toCheck returns what to add to a run so that its ranks are checked, after a colon.
func toCheck(r *run.Result) string {
	if v := r.Verdict("provenance"); v.State == run.NotChecked && v.Detail != "" {
		return ": " + v.Detail
	}
	return ""
}

func verdicts(w io.Writer, r *run.Result) {
	for _, v := range r.Verdicts {
		text := string(v.State)
		switch {
		case v.Detail == "":
		case v.State == run.NotChecked:
			text += ": " + v.Detail
		default:
			text += " (" + v.Detail + ")"
		}
		field(w, v.Question, "%s", text)
	}
}
