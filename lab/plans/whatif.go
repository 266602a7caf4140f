package plans

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/frontend/plan"
	"kernbench/frontend/timing"
	"kernbench/unit"
)

// Change is a call with one thing changed.
type Change struct {
	What  string    `json:"what"`
	Flags string    `json:"flags,omitempty"` // flags that make the change; "": the file has to change
	Time  unit.Time `json:"time_ps"`
	Saved unit.Time `json:"saved_ps"` // less than 0: it is slower
	Error string    `json:"error,omitempty"`
}

// WhatIf times the call once more for each setting KEY=VALUE; for a list of changes if there are
// none. A key is one of topology.yaml, depth, or proto. The change that saves most comes first.
func (l *Loaded) WhatIf(ctx context.Context, r *Result, settings []string) ([]Change, error) {
	var tries []try
	for _, s := range settings {
		t, err := l.setting(s)
		if err != nil {
			return nil, err
		}
		tries = append(tries, t)
	}
	if len(settings) == 0 {
		tries = l.list(r)
	}
	var out []Change
	for _, t := range tries {
		c := Change{What: t.what, Flags: t.flags}
		other := *l
		other.spec.Sets, other.fastest = slices.Concat(l.spec.Sets, t.sets), nil
		if t.depth > 0 {
			other.spec.Options.Depth = t.depth
		}
		if t.proto != nil {
			other.spec.Protocol = t.proto
		}
		if t.mode != nil {
			other.inPlace = *t.mode
		}
		other.spec.Detail = &timing.Detail{Rank: plan.None}
		err := other.build()
		var changed *Result
		if err == nil {
			changed, err = other.Time(ctx, r.Bytes)
		}
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil && len(settings) > 0:
			return nil, err
		case err != nil:
			c.Error = err.Error()
		case changed.Deadlock != nil:
			c.Error = "it hangs"
		default:
			c.Time, c.Saved = changed.Time, r.Time-changed.Time
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(b.Saved, a.Saved) })
	return out, nil
}

// try is a change to try.
type try struct {
	what, flags string
	sets        []string
	depth       int
	proto       *plan.Protocol
	mode        *bool
}

// setting reads KEY=VALUE.
func (l *Loaded) setting(text string) (t try, err error) {
	key, value, _ := strings.Cut(text, "=")
	t.what = text
	switch strings.TrimSpace(key) {
	case "depth":
		if t.depth, err = strconv.Atoi(value); err != nil || t.depth < 1 {
			return t, fmt.Errorf("depth: found %q, want a number of messages, at least 1", value)
		}
		t.flags = "--depth " + value
	case "proto":
		p, err := protocol(value)
		if err != nil {
			return t, err
		}
		t.proto = &p
	default:
		t.sets, t.flags = []string{text}, "--set "+text
	}
	return t, nil
}

// protocol finds a protocol by its name.
func protocol(name string) (plan.Protocol, error) {
	for p := plan.Simple; p <= plan.LL128; p++ {
		if strings.EqualFold(p.String(), name) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("proto: found %q, want Simple, LL or LL128", name)
}

// list returns the changes to try: each cost halved, each rate doubled, and the settings that the
// program leaves open.
func (l *Loaded) list(r *Result) (out []try) {
	m := &r.Model
	proto := strings.ToLower(r.Protocol)
	set := func(what, key string, value string) {
		s := key + "=" + value
		out = append(out, try{what: what, sets: []string{s}, flags: "--set " + s})
	}
	half := func(what, key string, t unit.Time) {
		if t > 1 {
			set(what+" half", key, strconv.FormatFloat((t/2).Ns(), 'f', -1, 64))
		}
	}
	double := func(what, key string, rate unit.Rate) {
		set(what+" twice", key, strconv.FormatFloat(2*rate.GBs(), 'f', -1, 64))
	}
	half("launch", "software.protocols."+proto+".launch_ns", m.Launch)
	half("latency of messages", "software.protocols."+proto+".latency_ns", m.Latency)
	half("start of steps", "software.blocks.issue_ns", m.Issue)
	half("start of slices", "software.blocks.slice_ns", m.Slice)
	flag := m.Flag
	if r.Network {
		flag -= m.Fence
	}
	half("flags of blocks", "software.blocks.flag_ns", flag)
	double("copies of a block", "software.blocks.copy_gbs", m.Copy)
	double("additions of a block", "software.blocks.reduce_gbs", m.Reduce)
	topo := l.machine.Topology()
	if levels := topo.System().Levels; len(levels) > 0 {
		for i := range levels {
			double("links of level "+strconv.Itoa(i), fmt.Sprintf("system.levels.%d.link.bw_gbs", i), levels[i].Link.BW)
		}
	} else {
		double("links", "system.link.bw_gbs", topo.System().Link.BW)
	}
	if l.Verdict.Program.Sizes == nil { // channels and protocols are MSCCL's
		return out
	}
	depth := max(l.spec.Options.Depth, 2)
	if r.Protocol != plan.Simple.String() {
		depth = max(depth, 8)
	}
	out = append(out, try{what: "channels hold twice as many messages", depth: 2 * depth, flags: fmt.Sprintf("--depth %d", 2*depth)})
	for p := plan.Simple; p <= plan.LL128; p++ {
		if p.String() != r.Protocol {
			out = append(out, try{what: "protocol " + p.String(), proto: &p})
		}
	}
	for _, mode := range l.Verdict.Program.Modes {
		if mode != l.inPlace {
			t := try{what: "out of place", flags: "--in-place=false", mode: &mode}
			if mode {
				t.what, t.flags = "in place", "--in-place"
			}
			out = append(out, t)
		}
	}
	return out
}
