package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/record/cause"
	"kernbench/unit"
)

// Change is the time of a run with one change. It is simulated, not estimated.
type Change struct {
	Name    string    `json:"name"`
	Flags   string    `json:"flags,omitempty"` // flags of kernbench run with the same effect; "": none
	Time    unit.Time `json:"simulated_time_ps"`
	Launch  unit.Time `json:"launch_overhead_ps,omitempty"`
	Saved   unit.Time `json:"saved_ps"` // time before minus time after, each with its launch
	Percent float64   `json:"saved_percent"`

	// Blame is the blame of the changed resource and of all wake-ups. A change saves at most this
	// time, if messages and kernels keep their order. If it saves more, it is an anomaly. Bounded
	// is false if no blame bounds the change.
	Bounded bool      `json:"bounded"`
	Blame   unit.Time `json:"blame_ps,omitempty"`
	Anomaly bool      `json:"anomaly,omitempty"`

	Next  string `json:"next,omitempty"`  // largest reason after the change, and its resource; "": not explained
	Error string `json:"error,omitempty"` // why there is no time

	spec    run.Spec
	affects func(b *Blame) bool // whether the change can reduce a blame; nil: unknown
}

// WhatIf selects the changes to try.
type WhatIf struct {
	List bool     // try the changes that the critical path suggests
	Sets []string // KEY=VALUE, each alone
	Top  int      // how many of the best changes to explain

	Progress func(run.Progress) // after each simulation; may be nil
}

// Check returns the error of a setting whose key is in no file, before anything is simulated.
func (w *WhatIf) Check(spec run.Spec) error {
	for _, set := range w.Sets {
		one := spec
		one.Sets = append(slices.Clone(spec.Sets), set)
		_, err := run.Load(one)
		if e, ok := errors.AsType[*conf.Error](err); ok && e.Unknown {
			unknown := *e // without the place in --set, which the user has not given
			unknown.File, unknown.Excerpt = "", ""
			return fmt.Errorf("--what-if %s: %w", set, &unknown)
		}
	}
	return nil
}

// WhatIf simulates a run again with one thing changed at a time, and ranks the changes by the time
// that they save. If ctx interrupts it, it returns an error and the changes that were tried.
func (r *Report) WhatIf(ctx context.Context, w WhatIf) ([]Change, error) {
	var all []Change
	if w.List {
		all = r.suggestions()
	}
	for _, set := range w.Sets {
		all = append(all, r.configChange("--set "+set, nil, set))
	}
	done, total := 0, len(all)+min(w.Top, len(all))
	step := func() {
		done++
		if w.Progress != nil {
			w.Progress(run.Progress{Phase: "what if", Done: int64(done), Total: int64(total)})
		}
	}
	var err error
	for i := range all {
		r.try(ctx, &all[i])
		if ctx.Err() != nil {
			err = fmt.Errorf("%d of %d changes were tried: %w", i, len(all), ctx.Err())
			all = all[:i] // this one was stopped
			break
		}
		step()
	}
	slices.SortStableFunc(all, func(a, b Change) int { // failed changes come last
		if (a.Error == "") != (b.Error == "") {
			return cmp.Compare(len(a.Error), len(b.Error))
		}
		return cmp.Compare(b.Saved, a.Saved)
	})
	for i := range all[:min(w.Top, len(all))] {
		if err != nil {
			break
		}
		if c := &all[i]; c.Error == "" {
			next, _, nerr := explain(ctx, Spec{Run: c.spec})
			if nerr == nil {
				c.Next = next.bottleneck()
			}
			if err = ctx.Err(); err != nil {
				err = fmt.Errorf("all changes were tried, %d of the best explained: %w", i, err)
			}
		}
		step()
	}
	return all, err
}

// bottleneck names the largest reason, and the class of resources where most of it is.
func (r *Report) bottleneck() string {
	if len(r.Reasons) == 0 {
		return ""
	}
	reason := r.Reasons[0]
	where := shares(r.Blames, r.Explained, func(b *Blame) string {
		if b.Reason != reason.Name {
			return ""
		}
		return b.Class
	})
	s := fmt.Sprintf("%s, %.0f %%", reason.Name, reason.Percent)
	if len(where) > 0 {
		s += ": " + where[0].Name
	}
	return s
}

// try simulates a change.
func (r *Report) try(ctx context.Context, c *Change) {
	no := false
	c.spec.Race, c.spec.Causes, c.spec.Progress = &no, r.trialLog(), nil
	res, err := run.Run(ctx, c.spec)
	c.spec.Causes = nil
	if err != nil {
		c.Error = err.Error()
		return
	}
	c.Time, c.Launch = res.SimulatedTime, res.Launch
	c.Saved = r.Time() - c.Time - c.Launch
	if r.Time() > 0 {
		c.Percent = 100 * float64(c.Saved) / float64(r.Time())
	}
	if c.affects == nil {
		return
	}
	c.Bounded = true
	for i := range r.Blames {
		// A kernel that no longer waits needs no wake-up either.
		if b := &r.Blames[i]; b.key.why == cause.Wake || c.affects(b) {
			c.Blame += r.Blames[i].Time
		}
	}
	c.Anomaly = c.Saved > c.Blame
}

// maxReplayCauses is the largest number of causes in a log at once that allows a replay. Above it,
// so many messages are in flight that a replay would need more than 1 GiB.
const maxReplayCauses = 5 << 19

// trialLog returns the log for a run that is only timed. If a replay would need too much memory,
// trialLog returns a log. A log forces the event-driven mode, which is slower and needs less
// memory. Otherwise it returns nil.
func (r *Report) trialLog() *cause.Log {
	if r.crowded {
		return prunedLog()
	}
	return nil
}

// configChange returns a change of the configuration.
func (r *Report) configChange(name string, affects func(*Blame) bool, sets ...string) Change {
	c := Change{Name: name, spec: r.Spec, affects: affects}
	c.spec.Sets = append(slices.Clone(r.Spec.Sets), sets...)
	for i, s := range sets {
		if i > 0 {
			c.Flags += " "
		}
		c.Flags += "--set " + s
	}
	return c
}

var protocols = []string{"simple", "ll", "ll128"}

// suggestions returns the changes that the critical path suggests.
func (r *Report) suggestions() []Change {
	var all []Change
	for _, class := range r.Classes {
		all = append(all, r.links(class.Name)...)
	}
	has := func(reasons ...cause.Reason) bool {
		return slices.ContainsFunc(r.Reasons, func(s Share) bool {
			return slices.ContainsFunc(reasons, func(w cause.Reason) bool { return w.String() == s.Name })
		})
	}
	reason := func(reasons ...cause.Reason) func(*Blame) bool {
		return func(b *Blame) bool { return slices.Contains(reasons, b.key.why) }
	}
	if has(cause.Launch) {
		sets := []string{"software.launch_ns=0"}
		for _, p := range protocols {
			if p == r.Protocol || r.Protocol == "" {
				sets = append(sets, "software.protocols."+p+".launch_ns=0")
			}
		}
		all = append(all, r.configChange("launch 0", reason(cause.Launch), sets...))
	}
	if has(cause.Issue) {
		all = append(all, r.configChange("issue 0", reason(cause.Issue), "pe.issue_ns=0", "pe.ipcq.send_ns=0",
			"pe.ipcq.recv_ns=0", "pe.dma.setup_ns=0"))
	}
	if has(cause.Arithmetic) {
		all = append(all, r.configChange("arithmetic at 1 ps per cycle", reason(cause.Arithmetic),
			"pe.math.setup_ns=0", "pe.math.clock_ghz=1000", "pe.gemm.setup_ns=0", "pe.gemm.clock_ghz=1000"))
	}
	if has(cause.Wake) {
		all = append(all, r.configChange("wake-up 0", reason(cause.Wake), "defaults.backpressure=sleep", "defaults.wake_cost_ns=0"))
	}
	if has(cause.Credit) {
		all = append(all, r.credits()...)
	}
	if has(cause.Protocol) {
		for _, p := range protocols {
			if p != r.Protocol {
				sets := r.job.SetsFor("protocol", p, func(e *conf.Algorithm) bool { return e.Protocol != nil })
				all = append(all, r.configChange("protocol "+p, nil, sets...))
			}
		}
	}
	if r.Collective != "" && r.Spec.Program == "" && r.Spec.Algorithm != "" {
		for _, a := range algorithm.All() {
			if a.Collective == r.Collective && a.Name != r.Algorithm {
				c := Change{Name: "algorithm " + a.Name, Flags: "--algorithm " + a.Name, spec: r.Spec}
				c.spec.Algorithm = a.Name
				all = append(all, c)
			}
		}
	}
	return all
}

// credits returns the changes against credit stalls: more slots, larger buffers of links.
func (r *Report) credits() []Change {
	var all []Change
	slots, buffers := 0, false
	for i := range r.Blames {
		if b := &r.Blames[i]; b.key.why == cause.Credit {
			slots, buffers = max(slots, b.slots), buffers || b.key.at.Kind() == cause.Buffer
		}
	}
	tried := []int{2 * slots}
	if r.Slots != nil && r.Slots.Enough != 2*slots {
		tried = append(tried, r.Slots.Enough)
	}
	for _, n := range tried {
		if slots > 0 {
			sets := r.job.SetsFor("n_slots", n, func(e *conf.Algorithm) bool { return e.NSlots != nil })
			all = append(all, r.configChange(fmt.Sprintf("%d slots", n), nil, sets...))
		}
	}
	if buffers {
		all = append(all, r.configChange("buffers × 2", nil, fmt.Sprintf("fabric.buffer_bytes=%d", 2*int64(r.buffer))))
		all = append(all, r.configChange("buffers of 1 GiB", nil, "fabric.buffer_bytes=1GiB"))
	}
	return all
}

// links returns the changes of a class of links: twice the rate, unlimited rate, no latency.
func (r *Report) links(class string) []Change {
	var ids []machine.LinkID
	linkSpecs, latency := map[*machine.LinkSpec]bool{}, false
	for i := range r.Blames {
		b := &r.Blames[i]
		if b.Class != class || b.key.at.Kind() != cause.Link {
			continue
		}
		id := machine.LinkID(b.key.at.Number())
		if spec := r.machine.Spec(id); !linkSpecs[spec] {
			linkSpecs[spec] = true
			ids = append(ids, id)
			latency = latency || spec.Router+spec.Wire > 0
		}
	}
	if ids == nil {
		return nil
	}
	// Credits, acknowledgements and polls of words pass links too, without queueing.
	affects := func(b *Blame) bool {
		switch b.key.at.Kind() {
		case cause.Link, cause.Buffer:
			return linkSpecs[r.machine.Spec(machine.LinkID(b.key.at.Number()))]
		case cause.Ring, cause.Peer, cause.Word:
			return true
		}
		return false
	}
	change := func(name string, alter func(s *machine.LinkSpec)) Change {
		c := Change{Name: class + " " + name, spec: r.Spec, affects: affects}
		before := r.Spec.Alter
		c.spec.Alter = func(m *machine.Machine) {
			if before != nil {
				before(m)
			}
			for _, id := range ids {
				alter(m.Spec(id))
			}
		}
		return c
	}
	all := []Change{
		change("× 2", func(s *machine.LinkSpec) {
			s.Rate *= 2
			s.Serial = s.Rate.Serial()
		}),
		change("with unlimited rate", func(s *machine.LinkSpec) { s.Rate, s.Serial = machine.AnyRate, unit.Serial{} }),
	}
	if latency {
		all = append(all, change("without latency", func(s *machine.LinkSpec) { s.Router, s.Wire = 0, 0 }))
	}
	return all
}
