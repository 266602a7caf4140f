package kerneltest

import (
	"slices"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"
)

// launch completes cfg and makes a launch of it.
func (cfg *Config) launch(k tl.Kernel) (*launch.Launch, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	top, err := topology.Lookup(cfg.Topology)
	if err != nil {
		return nil, err
	}
	wiring, err := top.Wire(cfg.World, cfg.grid(top), cfg.Neighbors)
	if err != nil {
		return nil, err
	}
	g := launch.Group{
		PEs: make([]int32, cfg.World), PEsPerCube: cfg.PEsPerCube, Wiring: wiring,
		Args: tl.Args{Op: cfg.Op, DType: cfg.DType, NElem: cfg.NElem, Shards: make([]mem.Addr, cfg.World),
			Levels: cfg.Levels, Ints: cfg.Args, ChunkBytes: cfg.ChunkBytes, LatencyBytes: cfg.LatencyBytes},
	}
	for r := range g.PEs {
		g.PEs[r] = int32(r)
		g.Args.Shards[r] = mem.At(mem.HBM, r, 0)
	}
	if err := cfg.place(&g); err != nil {
		return nil, err
	}
	g.OnRails(cfg.Rails)
	return &launch.Launch{
		Name: "test", Kernel: k, Groups: []launch.Group{g}, Addrs: &mem.Map{}, Scratch: cfg.Scratch,
		Ring: tl.Ring{Slots: cfg.Slots, SlotBytes: cfg.SlotBytes, Space: mem.TCM, OnRecv: cfg.OnRecv, Strict: !cfg.Loose,
			CreditBytes: 16, PollEvery: 10 * unit.Nanosecond},
	}, nil
}

func (cfg *Config) grid(t *topology.Topology) topology.Grid {
	if t.Nested {
		return topology.WithLevels(cfg.Levels)
	}
	return topology.Grid{W: cfg.W, H: cfg.H}
}

// place allocates results and the window after the shards, at the same offset on all ranks.
func (cfg *Config) place(g *launch.Group) error {
	a := &g.Args
	at := aligned(int64(a.NElem * a.DType.Size()))
	if cfg.OutElems != nil {
		a.Outs, a.OutElems = make([]mem.Addr, cfg.World), cfg.OutElems
		for r := range a.Outs {
			a.Outs[r] = mem.At(mem.HBM, r, at)
		}
		at += aligned(int64(slices.Max(cfg.OutElems) * a.DType.Size()))
	}
	if cfg.Layout == nil {
		return nil
	}
	team, err := mem.NewTeam("world", g.PEs)
	if err != nil {
		return err
	}
	w := mem.NewWindow("window", team, cfg.Layout, at)
	at += aligned(cfg.Layout.Bytes)
	meeting, err := mem.NewLayout(0, []mem.Buffer{{Name: "rounds",
		Parts: []mem.Part{mem.SignalPart("", mem.Int64, max(1, team.Rounds()))}}})
	if err != nil {
		return err
	}
	team.Meeting = mem.NewWindow("world.meeting", team, meeting, at)
	a.Windows = []*mem.Window{w}
	return nil
}

// aligned rounds an offset up to whole pages.
func aligned(n int64) int64 { return (n + 4095) &^ 4095 }
