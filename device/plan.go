package device

import (
	"fmt"
	"runtime/debug"
	"slices"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
	"kernbench/unit"
)

// Plan is an algorithm that is ready to run: its configuration, its ranks and their rings.
type Plan struct {
	Name      string // as requested
	Algorithm *algorithm.Algorithm
	Config    conf.Resolved
	World     int

	// RankToPE is the place of every rank. With rank_level: sip a rank is a SIP, of which
	// every launch uses the PEs that hold shards, and there is no such list.
	RankToPE   []machine.Coord
	PEs        []int32 // the same as numbers in the machine
	PEsPerCube int     // ranks that share a cube

	Topology *topology.Topology
	Wiring   []tl.Wiring // by rank
	Ring     tl.Ring
	Start    unit.Time // of a collective, in software: in addition to its simulated time

	LatencyBytes int64 // for pipelines: see tl.Args; 0: the algorithm is none
	ScratchBytes int64 // of a PE, for the length of their pieces

	Tuned []string // settings that auto chose with the algorithm, each KEY=VALUE; they replace configured ones

	machine *machine.Machine
	auto    *auto // chooses the plan of each call; nil: this plan performs all calls
}

// PerSIP reports whether a rank is a SIP.
func (p *Plan) PerSIP() bool { return p.Config.RankLevel == "sip" }

// Performer returns the algorithm whose kernel performs the calls: that of the plan, or another one
// because all ranks are of one node.
func (p *Plan) Performer() *algorithm.Algorithm {
	if p.PEs == nil || p.machine == nil {
		return p.Algorithm
	}
	return p.Algorithm.Performer(p.World, levels(p.machine, p.PEs), p.PEsPerCube)
}

// Install overrides the configuration that InstallIPCQ uses.
type Install struct {
	World int     // ranks; 0: as configured
	PEs   []int32 // the PEs of the ranks, ascending; nil: the first World of the machine

	Collective string // for auto; "": the only one that is tuned, else all_reduce
}

// InstallIPCQ makes an algorithm ready to run. name is an entry of ccl.yaml or an algorithm of the
// library, and "" is defaults.algorithm. Launches use the plan that was installed last. With auto
// the tuning table gives the algorithm of each call.
func (c *Context) InstallIPCQ(name string, options ...Install) (*Plan, error) {
	if c.cfg.Given != nil {
		return c.installGiven()
	}
	if IsAuto(c.cfg.CCL, name) {
		return c.installAuto(options)
	}
	return c.install(c.cfg.CCL, name, options)
}

func (c *Context) install(ccl *conf.CCL, name string, options []Install) (*Plan, error) {
	resolved, err := ResolveAlgorithm(ccl, name)
	if err != nil {
		return nil, err
	}
	cfg := resolved.Config
	if err := c.needs(cfg.Name, resolved.Algorithm, resolved.Algorithm.Window != nil); err != nil {
		return nil, err
	}
	p := &Plan{Name: cfg.Name, Algorithm: resolved.Algorithm, Topology: resolved.Topology, Config: cfg, machine: c.cfg.Machine}
	asked, pes := c.cfg.World, c.cfg.PEs
	for _, o := range options {
		if o.World != 0 {
			asked, pes = o.World, nil
		}
		if o.PEs != nil {
			pes = o.PEs
		}
	}
	if pes != nil {
		if err := c.checkPEs(&cfg, pes); err != nil {
			return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
		}
		asked = len(pes)
	}
	if p.World, err = c.world(&cfg, asked); err != nil {
		return nil, err
	}
	grid := topology.Grid{W: cfg.W, H: cfg.H}
	if p.PEsPerCube = 1; !p.PerSIP() {
		c.seat(p, pes)
	}
	if err := CanMultimem(c.cfg.Machine, p.Algorithm, p.PEs); err != nil {
		return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
	}
	if p.Topology.Nested {
		grid = topology.WithLevels(levels(c.cfg.Machine, p.PEs))
	}
	if _, err := p.Topology.Fit(p.World, grid); err != nil {
		hint := ""
		if p.World > 1 && p.Topology.Planar {
			hint = fmt.Sprintf(" (key algorithms.%s.w)", p.Name)
		}
		return nil, fmt.Errorf("algorithm %s: %w%s", p.Name, err, hint)
	}
	if err := p.ask("Neighbors", func() error {
		p.Wiring, err = p.Topology.Wire(p.World, grid, p.Algorithm.Neighbors)
		return err
	}); err != nil {
		return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
	}
	if err := c.timing(p); err != nil {
		return nil, err
	}
	p.ScratchBytes = int64(c.cfg.Machine.Topology().PE().TCM.Scratch)
	if !p.PerSIP() && p.Algorithm.Pipelined {
		p.LatencyBytes = c.latencyBytes(p)
	}
	c.plan = p
	return p, nil
}

// needs returns an error if the machine lacks a feature that an algorithm needs.
func (c *Context) needs(name string, a *algorithm.Algorithm, windows bool) error {
	if a.Atomics && !c.cfg.Machine.Topology().Fabric().Atomics {
		return fmt.Errorf("algorithm %s: %w", name,
			&fault.Unsupported{Place: hostPlace("install"), What: "fabric.p2p_native_atomics"})
	}
	if windows {
		if err := c.can(exec.OneSided); err != nil {
			return fmt.Errorf("algorithm %s: %w", name, err)
		}
	}
	return nil
}

// timing completes a plan with its rings and the times of software.
func (c *Context) timing(p *Plan) (err error) {
	p.Start = c.cfg.Machine.Topology().Software().Start(p.Algorithm.Collective, p.Config.Protocol)
	if p.Ring, err = c.ringOf(&p.Config, trafficOf(p.Algorithm)); err != nil {
		return err
	}
	return p.ringSlots()
}

// seat assigns a PE to each rank.
func (c *Context) seat(p *Plan, pes []int32) {
	p.PEs, p.RankToPE = slices.Grow(p.PEs, p.World), slices.Grow(p.RankToPE, p.World)
	for r := range p.World {
		pe := int32(r)
		if pes != nil {
			pe = pes[r]
		}
		p.PEs = append(p.PEs, pe)
		p.RankToPE = append(p.RankToPE, c.cfg.Machine.Coord(int(pe)))
	}
	p.PEsPerCube = c.perCube(p.PEs)
}

// checkPEs rejects lists of PEs that cannot be ranks.
func (c *Context) checkPEs(cfg *conf.Resolved, pes []int32) error {
	if cfg.RankLevel == "sip" {
		return fmt.Errorf("found rank_level sip, want pe: the PEs of a SIP cannot be chosen")
	}
	if len(pes) == 0 {
		return fmt.Errorf("a list of no PEs: at least one must take part")
	}
	for i, pe := range pes {
		switch {
		case pe < 0 || int(pe) >= c.cfg.Machine.NumPEs():
			return fmt.Errorf("there is no PE %d: the machine has %d", pe, c.cfg.Machine.NumPEs())
		case i > 0 && pe <= pes[i-1]:
			return fmt.Errorf("PE %d after PE %d: list each PE once, in the machine's order", pe, pes[i-1])
		}
	}
	return nil
}

// ask calls a function of the algorithm's row. The user may have written it, so a panic becomes an
// error that names the function.
func (p *Plan) ask(function string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its %s panicked: %v\n%s", function, v, debug.Stack())
		}
	}()
	return f()
}

// world returns the number of ranks: the requested one, else that of ccl.yaml, else all of the
// machine.
func (c *Context) world(cfg *conf.Resolved, asked int) (int, error) {
	m := c.cfg.Machine
	have, what := m.NumPEs(), "PEs"
	if cfg.RankLevel == "sip" {
		have, what = m.SIPs(), "SIPs"
	}
	switch {
	case asked < 0:
		return 0, fmt.Errorf("%d ranks: at least 1 is needed", asked)
	case asked > have:
		return 0, fmt.Errorf("%d ranks: the machine has %d %s", asked, have, what)
	case asked > 0:
		return asked, nil
	case cfg.WorldSize > have:
		return 0, cfg.Errorf("world_size", "found %d; the machine has %d %s", cfg.WorldSize, have, what)
	case cfg.WorldSize > 0:
		return cfg.WorldSize, nil
	}
	return have, nil
}

// ringOf returns the configuration of the rings as executors take it.
func (c *Context) ringOf(cfg *conf.Resolved, traffic conf.Traffic) (tl.Ring, error) {
	t := c.cfg.Machine.Topology()
	space, err := mem.ParseSpace(cfg.BufferKind)
	if err != nil {
		return tl.Ring{}, cfg.Errorf("buffer_kind", "%v", err)
	}
	r := tl.Ring{
		Slots: cfg.NSlots, SlotBytes: int64(cfg.SlotSize), Space: space, CreditBytes: int64(cfg.CreditBytes),
		Poll: cfg.Backpressure == "poll", PollEvery: cfg.PollInterval, WakeCost: cfg.WakeCost,
		OnRecv: cfg.Credit == "on_recv", Strict: cfg.StrictValidation, Protocol: protocolOf(t, cfg.Protocol, traffic),
		LL: protocolOf(t, "ll", traffic), LL128: protocolOf(t, "ll128", traffic),
	}
	return r, r.Validate()
}

// scratch returns the memory for a kernel's intermediate tensors on each PE.
