package frontend

import (
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Options are the user's settings for programs.
type Options struct {
	Root  int           // 1 + the root; 0: found in the program
	Depth int           // messages that a channel holds; 0: as set by the protocol
	Want  *plan.Formula // the expected outputs, instead of the collective's result

	// Packet is the bytes of data in a packet of MSCCL++: 8 for LL16, 4 for LL8; 0: as for LL16.
	Packet int

	// SMs is the number of multiprocessors of a GPU of the machine; 0: unknown.
	SMs int

	// Host is the number of ranks of a host: channels between hosts go over a network. 0: all
	// ranks share one.
	Host int
}

// transport returns a plan as it runs on hosts of o.Host ranks: channels between hosts hold more
// messages.
func (o *Options) transport(p *plan.Plan) *plan.Plan {
	if p == nil || o.Host == 0 || o.Depth > 0 {
		return p
	}
	p, _ = p.OverNetwork(func(from, to int) bool { return from/o.Host != to/o.Host })
	return p
}

// Verdict is the judgement on a program.
type Verdict struct {
	File     string         `json:"file"`
	Dialect  string         `json:"dialect,omitempty"`
	Program  *plan.Program  `json:"program,omitempty"`
	Verdicts []plan.Verdict `json:"verdicts"` // the gravest first
	Findings []plan.Finding `json:"findings,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
	Calls    []CallVerdict  `json:"calls,omitempty"` // out of place, in place, as the program allows
	Depths   *Depths        `json:"depths,omitempty"`
	Hang     *Hang          `json:"hang,omitempty"`
}

// CallVerdict is the verdict on one call of a program.
type CallVerdict struct {
	InPlace bool  `json:"in_place"`
	Bytes   int64 `json:"bytes,omitempty"` // of the call; 0: so few that no message is split
	*judge.Judgment
}

// launches is the number of calls that are judged back to back: three. The second follows one that
// has left data behind. The third uses the same half of a double buffer as the first.
const launches = 3

// calls lists the calls that a program is judged for: its probes, for each use that it allows. A
// program without probes has a call with whole messages, and the call within its range that cuts
// messages most.
func calls(p *plan.Program, o Options) []plan.Call {
	probes := p.Probes
	if len(probes) == 0 {
		probes = []int64{0}
		if cuts := (&search{p, o}).sizes(); len(cuts) > 1 {
			probes = append(probes, cuts[len(cuts)-1])
		}
	}
	var out []plan.Call
	for _, inPlace := range p.Modes {
		for _, bytes := range probes {
			out = append(out, plan.Call{Bytes: bytes, InPlace: inPlace, Launches: launches, Depth: o.Depth,
				Root: o.Root, Want: o.Want, Packet: o.Packet})
		}
	}
	return out
}

// OK reports whether nothing is wrong and all was checked.
func (v *Verdict) OK() bool { return v.Verdicts[0] == plan.OK }

// Judge reads a program and judges it for each use that it allows. It judges the data for a few
// sizes, and deadlocks at each size at which the messages change.
func Judge(s *Source, o Options) *Verdict {
	v := &Verdict{File: s.Name}
	if s.Dialect != nil {
		v.Dialect = s.Dialect.Name
	}
	p, findings := s.Read()
	if v.Findings = findings; p == nil {
		v.Verdicts = plan.Verdicts(v.Findings)
		return v
	}
	v.Program, v.Notes = p, slices.Clone(p.Notes)
	if note := crowded(p, o.SMs); note != "" {
		v.Notes = append(v.Notes, note)
	}
	channels := false
	for _, call := range calls(p, o) {
		pl, broken := p.Plan(call)
		for _, f := range broken {
			if !slices.Contains(v.Findings, f) {
				v.Findings = append(v.Findings, f)
			}
		}
		if pl = o.transport(pl); pl == nil {
			continue
		}
		if channels = channels || len(pl.Channels) > 0; channels && call.Bytes > 0 {
			pl = pl.WithDepth(0) // capacity finds the sizes that hang
		}
		j := judge.Judge(pl)
		for i := range j.Findings {
			j.Findings[i].File = s.Name
		}
		v.Calls = append(v.Calls, CallVerdict{call.InPlace, call.Bytes, j})
		for _, n := range j.Notes {
			if !slices.Contains(v.Notes, n) {
				v.Notes = append(v.Notes, n)
			}
		}
	}
	v.Findings = append(v.Findings, v.found()...)
	if channels {
		v.capacity(s.Name, &search{p, o})
	}
	v.Verdicts = plan.Verdicts(v.Findings)
	return v
}

// CheckRoot returns an error if a rooted program does not have the given root, or if no program has
// a root.
func (o *Options) CheckRoot(sources []Source) error {
	if o.Root == 0 {
		return nil
	}
	var other error // about a program without a root
	rooted := false
	for i := range sources {
		p, _ := sources[i].Read()
		if p == nil {
			continue
		}
		if what, err := collective.Lookup(p.Collective); err != nil || !what.Rooted {
			other = fmt.Errorf("root %d: %s performs %s, which has no root", o.Root-1, sources[i].Name, p.Collective)
			continue
		}
		if rooted = true; o.Root > p.World {
			return fmt.Errorf("%s: root %d: the ranks are 0 to %d", sources[i].Name, o.Root-1, p.World-1)
		}
	}
	if rooted {
		return nil
	}
	return other
}

// found lists the findings of the calls. A finding that only one use shows names that use. A larger
// call adds only findings whose verdict no smaller call has.
func (v *Verdict) found() (out []plan.Finding) {
	everywhere := func(f plan.Finding) bool {
		return !slices.ContainsFunc(v.Calls, func(c CallVerdict) bool {
			return c.Bytes == v.Calls[0].Bytes && !slices.Contains(c.Findings, f)
		})
	}
	smaller := map[bool][]plan.Verdict{} // of calls in place, and out of place
	for _, c := range v.Calls {
		known := smaller[c.InPlace]
		for _, f := range c.Findings {
			if slices.Contains(known, f.Verdict) || slices.Contains(out, f) {
				continue
			}
			if known != nil {
				f.Text = fmt.Sprintf("a call of %d bytes: %s", c.Bytes, f.Text)
			}
			if len(v.Program.Modes) > 1 && !everywhere(f) {
				f.Text = map[bool]string{true: "in place: ", false: "out of place: "}[c.InPlace] + f.Text
			}
			out = append(out, f)
		}
		smaller[c.InPlace] = append(known, c.Verdicts...)
	}
	return out
}

// capacity reports the messages that channels must hold, and sizes at which they hold too few.
func (v *Verdict) capacity(file string, s *search) {
	v.Depths = s.depths()
	v.Hang = s.hang()
	switch {
	case v.Hang == nil || v.Hang.Hangs == 0: // none, or with whole messages: the judge has reported it
	case v.Hang.InRange:
		v.Findings = append(v.Findings, plan.Finding{Verdict: plan.Deadlock, File: file,
			Line: v.Hang.Stuck.Chain[0].Line, Text: v.Hang.String()})
	default:
		v.Notes = append(v.Notes, "outside of its range "+v.Hang.String())
	}
}
