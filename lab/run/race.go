package run

import (
	"context"
	"fmt"
	"strings"

	"kernbench/check/race"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/unit"
)

// Hazard is two accesses that nothing orders, though the outcome depends on their order.
type Hazard = race.Hazard

// Class holds the conclusions from one run of a program for runs with other timings.
type Class struct {
	Name    string   `json:"name"`            // directed, counting, scheduled
	What    string   `json:"what"`            // what the program does, in words
	Claim   string   `json:"claim"`           // what follows from it
	Tried   int      `json:"tried,omitempty"` // runs in which atomics returned other values, and kernels issued the same
	Depends []Depend `json:"depends,omitempty"`
}

// Depend is an operation that makes the outcome depend on the schedule.
type Depend = race.Depend

// races reports whether a run looks for hazards: as a rule on executors without a clock, where
// it costs the least.
func (x *Job) races() bool {
	if x.Race != nil {
		return *x.Race
	}
	return x.row.Can(exec.Account) && !x.row.Can(exec.Clock)
}

// watch is a judge of races at its work on one execution.
type watch struct {
	detector *race.Detector
	dev      *device.Context // of the execution; nil before there is one
	machine  interface{ PEName(int) string }
}

// region names memory by the part of a window or the tensor that it belongs to.
func (w *watch) region(a mem.Addr) string {
	if w.dev == nil {
		return ""
	}
	name := w.dev.Region(a)
	if name == "" {
		return ""
	}
	place := w.machine.PEName(a.Unit())
	if i := strings.LastIndexByte(name, '['); i >= 0 && strings.HasSuffix(name, "]") {
		return fmt.Sprintf("%s of %s, element %s", name[:i], place, name[i+1:len(name)-1])
	}
	return name + " of " + place
}

// explain rewrites the hazards of launches whose tasks were posted by an interface of their own,
// in the words of that interface.
func (w *watch) explain(rep *race.Report) *race.Report {
	if w.dev == nil {
		return rep
	}
	for i := range rep.Hazards {
		h := &rep.Hazards[i]
		x := w.dev.Explain(raceSide(&h.First), raceSide(&h.Second), mem.Addr(h.Addr))
		if x == nil {
			continue
		}
		texts := []*string{&h.First.State, &h.Second.State, &h.Missing}
		sides := []*race.Access{&h.First, &h.Second}
		// The longer name first: it may begin with the other one.
		order := []int{0, 1}
		if len(h.Second.Agent) > len(h.First.Agent) {
			order = []int{1, 0}
		}
		for _, k := range order {
			if x.Names[k] == "" {
				continue
			}
			for _, text := range texts {
				*text = strings.ReplaceAll(*text, sides[k].Agent, x.Names[k])
			}
		}
		for k, side := range sides {
			if x.Names[k] != "" {
				side.Agent = x.Names[k]
			}
			if x.Calls[k] != "" {
				side.Agent += ", " + x.Calls[k]
			}
		}
		if x.Remedy != "" {
			h.Missing = x.Remedy
		}
	}
	return rep
}

func raceSide(a *race.Access) device.RaceSide {
	spot := a.Call
	if a.Line != "" {
		spot += " at " + a.Line
	}
	return device.RaceSide{Agent: a.Info, Read: a.Does == "read", Spot: spot}
}

// first returns the execution of a spec whose figures count. It has the findings of a judge of
// races, and where atomics returned values in random schedules.
func (x *Job) first(ctx context.Context) (*Execution, error) {
	if !x.races() {
		return x.Execute(ctx, Pass{schedule: x.Schedule})
	}
	out, err := x.judged(ctx, Pass{schedule: x.Schedule})
	if err == nil {
		err = x.tryAnswers(ctx, out)
	}
	if err == nil {
		err = x.judgeMore(ctx, out)
	}
	return out, err
}

// judged returns an execution with what a judge of races found. The judge may ask for more passes
// over the same program: those that it gets are quiet.
func (x *Job) judged(ctx context.Context, p Pass) (*Execution, error) {
	p.watch = &watch{machine: x.Machine}
	p.watch.detector = race.New(race.Options{
		Order: x.order, PEName: x.Machine.PEName, Region: p.watch.region, Ignored: p.ignored, Repeats: true,
	})
	out, err := x.Execute(ctx, p)
	report := p.watch.explain(p.watch.detector.Report())
	for passes := 1; ; passes++ {
		out.races, out.passes = report, passes
		if !report.Again {
			return out, err
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		next := p.watch.detector.Next()
		p.Quiet, p.watch.detector, p.watch.dev = true, next, nil
		if x.Progress != nil {
			x.Progress(Progress{Phase: "races", Done: int64(passes)})
		}
		repeated, again := x.Execute(ctx, p)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case again != nil && !fault.Is(again):
			return out, err
		case out.changed == "":
			out.changed = out.differs(err, repeated, again)
		}
		earlier := report
		if report = p.watch.explain(next.Report()); earlier.Certain && earlier.Total > report.Total {
			if out.changed == "" {
				out.changed = fmt.Sprintf("%s, and then %d", unit.Count(earlier.Total, "hazard"), report.Total)
			}
			earlier.Again = false
			report = earlier
		}
	}
}

// whats are descriptions of the programs of a class.
var whats = map[race.Class]string{
	race.Directed:  "directed messages, and memory that is not shared",
	race.Counting:  "shared memory, and words that only grow",
	race.Scheduled: "the outcome may depend on which rank, program or engine comes first",
}

// raceVerdict writes the verdict, and adds the hazards.
func (x *Job) raceVerdict(r *Result, out *Execution, err error) Verdict {
	rep := out.races
	if rep == nil {
		return Verdict{races, NotChecked, x.add("--race", exec.Account)}
	}
	r.Hazards = rep.Hazards
	if whole := err == nil && !rep.Unsettled && !rep.Again; whole || rep.Class == race.Scheduled {
		// Of part of a program only this is certain: what it has done depends on the schedule.
		what := whats[rep.Class]
		if rep.Class == race.Counting && out.more.tried > 0 {
			what = "shared memory, and words that change in the same way in every schedule"
		}
		r.Class = &Class{Name: rep.Class.String(), What: what, Claim: rep.Class.Claim(), Depends: rep.Depends,
			Tried: out.more.tried}
	}
	switch {
	case rep.Total > 0:
		detail := unit.Count(rep.Total, "hazard")
		if places := len(rep.Hazards) + rep.Left; places < rep.Total {
			detail += fmt.Sprintf(" at %s of places", unit.Count(places, "pair"))
		}
		if out.more.at > 0 {
			detail += fmt.Sprintf(" in --schedule %d; none in the run itself, where atomics return other values", out.more.at)
		}
		return Verdict{races, Failed, detail}
	case out.more.fault != nil:
		what, _, _ := strings.Cut(out.more.fault.Error(), "\n")
		return Verdict{races, Failed, fmt.Sprintf("--schedule %d, in which atomics return other values, ends in a fault: %s", out.more.at, what)}
	case rep.Unsettled:
		return Verdict{races, NotChecked,
			fmt.Sprintf("no hazards found, but %d passes over the program did not settle what notifications come later",
				out.passes)}
	case rep.Again:
		return Verdict{races, NotChecked, "no hazards found, but the run could not be repeated to see what notifications come later"}
	case err != nil:
		return Verdict{races, NotChecked, "the run did not end; no hazards until then"}
	}
	detail := fmt.Sprintf("no hazards, memory order %v", x.order)
	if out.more.judged > 0 {
		detail += fmt.Sprintf("; none in %s in which atomics return other values", unit.Count(out.more.judged, "schedule"))
	}
	return Verdict{races, Checked, detail}
}
