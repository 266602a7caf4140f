package device

import (
	"errors"
	"fmt"
	"strings"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/conf"
)

// auto is the state of a plan that chooses its algorithm by a tuning table.
type auto struct {
	device     *Context
	machine    string // fingerprint
	collective string
	install    Install
	plans      map[string]*Plan // of choices, by name and settings
	last       *Plan            // the plan that was chosen last
}

// IsAuto reports whether an algorithm's name leaves the choice to a tuning table: "auto" does,
// unless ccl.yaml has an entry of that name, and so does "" where it is defaults.algorithm.
func IsAuto(ccl *conf.CCL, name string) bool {
	if name == "" {
		name = ccl.Defaults().Algorithm
	}
	return name == algorithm.Auto && ccl.Entry(name) == nil
}

// installAuto makes a plan that chooses at each call. Its rings are those of the choice for the
// smallest call.
func (c *Context) installAuto(options []Install) (*Plan, error) {
	a := &auto{device: c, machine: c.cfg.Machine.Topology().Fingerprint(), plans: map[string]*Plan{}}
	for _, o := range options {
		if o.Collective != "" {
			a.collective = o.Collective
		}
		a.install = o
	}
	if a.collective == "" {
		a.collective = collective.AllReduce.Name
		if known := c.cfg.Tuning.Collectives(a.machine); len(known) == 1 {
			a.collective = known[0]
		}
	}
	if c.cfg.CCL.Defaults().RankLevel == "sip" {
		return nil, fmt.Errorf("algorithm %s: found rank_level sip, want pe: only calls between PEs are tuned", algorithm.Auto)
	}
	first, err := c.tuned(a)
	if err != nil {
		return nil, err
	}
	for i, pe := range first.PEs {
		if int(pe) != i {
			return nil, fmt.Errorf("algorithm %s: rank %d is %s: only calls between the first PEs of the machine are tuned",
				algorithm.Auto, i, c.cfg.Machine.PEName(int(pe)))
		}
	}
	p := *first
	p.Name, p.auto = algorithm.Auto, a
	c.plan = &p
	return &p, nil
}

// tuned returns the choice for the smallest call.
func (c *Context) tuned(a *auto) (*Plan, error) {
	cfg := c.cfg.CCL.Merge(algorithm.Auto)
	asked := c.cfg.World
	switch {
	case a.install.PEs != nil:
		asked = len(a.install.PEs)
	case a.install.World != 0:
		asked = a.install.World
	case c.cfg.PEs != nil:
		asked = len(c.cfg.PEs)
	}
	world, err := c.world(&cfg, asked)
	if err != nil {
		return nil, err
	}
	return a.choose(collective.Call{World: world})
}

// choose returns the plan for a call: the table's first choice for its size that accepts the call.
func (a *auto) choose(cc collective.Call) (*Plan, error) {
	what, err := collective.Lookup(a.collective)
	if err != nil {
		return nil, err
	}
	table, err := a.device.cfg.Tuning.For(a.machine, a.collective, cc.World, cc.Type)
	if err != nil {
		return nil, err
	}
	size, row := what.Bytes(cc), &table.Rows[0]
	if cc.Elems > 0 {
		row = table.At(size)
	}
	var refusals []error
	for i, name := range append([]string{row.Use}, row.Else...) {
		var settings []string
		if i == 0 {
			settings = row.Settings
		}
		p, err := a.plan(name, settings)
		if err == nil && p.Algorithm.Collective != a.collective {
			err = fmt.Errorf("algorithm %s performs %s, not %s: the table is not of this program", name,
				p.Algorithm.Collective, a.collective)
		}
		if err == nil && cc.Elems > 0 {
			err = p.ask("Check", func() error { return p.Refuses(cc) })
		}
		if err == nil {
			return p, nil
		}
		refusals = append(refusals, err)
	}
	return nil, fmt.Errorf("algorithm %s: no tuned algorithm accepts a %[4]v %[2]s on %[3]d ranks: %[5]w",
		algorithm.Auto, a.collective, cc.World, size, errors.Join(refusals...))
}

// plan prepares the plan of a choice, once.
func (a *auto) plan(name string, settings []string) (*Plan, error) {
	key := strings.Join(append([]string{name}, settings...), " ")
	if p := a.plans[key]; p != nil {
		return p, nil
	}
	ccl, err := a.device.cfg.CCL.With(name, settings)
	if err != nil {
		return nil, err
	}
	before := a.device.plan
	p, err := a.device.install(ccl, name, []Install{a.install})
	a.device.plan = before
	if err != nil {
		return nil, err
	}
	p.Tuned = settings
	a.plans[key] = p
	return p, nil
}

// chosen returns the plan that performs a call: this one, unless it chooses.
func (p *Plan) chosen(a *arguments, shards []Shard) (*Plan, error) {
	if p.auto == nil {
		return p, nil
	}
	c, err := p.auto.choose(collective.Call{World: p.World, Elems: shards[0].Region.Elems(), Type: a.DType, Op: a.Op})
	if err == nil {
		p.auto.last = c
	}
	return c, err
}
