package mock

import (
	"context"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/history"
	"kernbench/mem"
	"kernbench/oplog"
	"kernbench/tl"
	"kernbench/topology"
	"kernbench/unit"
)

// Config describes a run of one kernel on a few ranks. Zero fields take the values named
// beside them.
type Config struct {
	World     int               // number of ranks: as many as Inputs
	Topology  string            // ring_1d
	W, H      int               // of a mesh or torus: a square
	Neighbors topology.Override // none

	Inputs [][]float64 // what lies in each rank's shard, all of one length: empty
	DType  dtype.Type  // F32
	Op     tl.ReduceOp // Sum
	Args   []int       // Args.Ints of the kernel
	Levels []int       // of ranks that lie together: tl.Args.Levels

	ChunkBytes, LatencyBytes int64 // Args of a pipeline: as it finds best, and unknown

	Slots      int        // per direction: 4
	SlotBytes  int64      // 4096
	PEsPerCube int        // World: all in one cube
	Scratch    unit.Bytes // per PE: 1 MiB
	OnRecv     bool       // credits leave inside the receive: no
	Loose      bool       // receives need not agree with sends in type and shape: no

	// Layout carves a window over all ranks, Args.Window(0): zeros to begin with.
	Layout *mem.Layout
	// OutElems asks for a result apart from the contribution, of so many elements on each
	// rank: Args.Out. Outputs are these then.
	OutElems []int

	Order     mem.Ordering // of what ranks do to each other's memory: PutSignal
	Seed      uint64       // chooses one of the schedules that Order allows: ranks in order, all at once
	NoAtomics bool         // no fetch_add and compare_swap on words of other PEs: all
	Limits    exec.Limits  // of the launch: its defaults
	History   *history.Log // account of memory for the judge of races: none
}

// Outcome is what a run left behind.
type Outcome struct {
	Outputs [][]float64       // each rank's shard, or its result apart
	In, Out [][]byte          // each rank's shard before, and Outputs as they lie in memory
	Prov    []collective.Prov // who contributed to it
	Hasher  *collective.Hasher
	Result  tl.Result
	Window  *mem.Window // of Config.Layout, with the control words as the run left them

	Operation func(id int32) string // the operation behind an opaque element, with its place
	Overflow  string                // the first operation that made an infinity or a NaN of finite operands
}

// TB is the part of testing.TB that Run needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Run runs a kernel on all ranks and returns what lies in their shards afterwards. Any
// fault ends the test.
func Run(t TB, k tl.Kernel, cfg Config) [][]float64 {
	t.Helper()
	out, err := Try(k, cfg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

// Try is Run for tests that expect a fault.
func Try(k tl.Kernel, cfg Config) ([][]float64, error) {
	o, err := Observe(context.Background(), k, cfg)
	if err != nil {
		return nil, err
	}
	return o.Outputs, nil
}

// Observe runs a kernel as a collective by cfg.Op: the inputs are labelled as the ranks'
// contributions, and the outcome says where they went.
func Observe(ctx context.Context, k tl.Kernel, cfg Config) (*Outcome, error) {
	l, err := cfg.launch(k)
	if err != nil {
		return nil, err
	}
	log := oplog.New(oplog.Options{Inline: true, Explain: true})
	defer log.Close()
	o := &Outcome{Hasher: log.Hasher(), Operation: log.Why}
	if err := cfg.load(log, l, o); err != nil {
		return nil, err
	}
	log.Begin(cfg.Op, cfg.World)
	res, err := cfg.Limits.Launch(ctx, New(Options{
		Data: log, RecordLines: true, History: cfg.History, Seed: cfg.Seed, Order: cfg.Order, NoAtomics: cfg.NoAtomics,
	}), l)
	log.End()
	if err != nil {
		return nil, err
	}
	o.Result, o.Overflow = *res, log.Overflow(0)
	return o, cfg.read(log, l, o)
}

// launch completes cfg and turns it into what an executor runs.
func (cfg *Config) launch(k tl.Kernel) (*tl.Launch, error) {
	if cfg.World == 0 {
		cfg.World = len(cfg.Inputs)
	}
	n := 0
	if len(cfg.Inputs) > 0 {
		n = len(cfg.Inputs[0])
	}
	switch {
	case cfg.World < 1:
		return nil, fmt.Errorf("mock: no ranks: give World or Inputs")
	case len(cfg.Inputs) != 0 && len(cfg.Inputs) != cfg.World:
		return nil, fmt.Errorf("mock: %d inputs for %d ranks", len(cfg.Inputs), cfg.World)
	}
	if cfg.OutElems != nil && len(cfg.OutElems) != cfg.World {
		return nil, fmt.Errorf("mock: %d results for %d ranks", len(cfg.OutElems), cfg.World)
	}
	for r, in := range cfg.Inputs {
		if len(in) != n {
			return nil, fmt.Errorf("mock: rank %d has %d elements, rank 0 has %d", r, len(in), n)
		}
	}
	if cfg.Topology == "" {
		cfg.Topology = "ring_1d"
	}
	setDefault(&cfg.DType, dtype.F32)
	setDefault(&cfg.Slots, 4)
	setDefault(&cfg.SlotBytes, 4096)
	setDefault(&cfg.PEsPerCube, cfg.World)
	setDefault(&cfg.Scratch, 1<<20)
	top, err := topology.Lookup(cfg.Topology)
	if err != nil {
		return nil, err
	}
	wiring, err := top.Wire(cfg.World, cfg.grid(top), cfg.Neighbors)
	if err != nil {
		return nil, err
	}
	g := tl.Group{
		PEs: make([]int32, cfg.World), PEsPerCube: cfg.PEsPerCube, Wiring: wiring,
		Args: tl.Args{Op: cfg.Op, DType: cfg.DType, NElem: n, Shards: make([]mem.Addr, cfg.World), Levels: cfg.Levels, Ints: cfg.Args, ChunkBytes: cfg.ChunkBytes, LatencyBytes: cfg.LatencyBytes},
	}
	for r := range g.PEs {
		g.PEs[r] = int32(r)
		g.Args.Shards[r] = mem.At(mem.HBM, r, 0)
	}
	if err := cfg.place(&g); err != nil {
		return nil, err
	}
	return &tl.Launch{
		Name: "mock", Kernel: k, Groups: []tl.Group{g}, Addrs: &mem.Map{}, Scratch: cfg.Scratch,
		Ring: tl.Ring{Slots: cfg.Slots, SlotBytes: cfg.SlotBytes, Space: mem.TCM, OnRecv: cfg.OnRecv, Strict: !cfg.Loose},
	}, nil
}

func (cfg *Config) grid(t *topology.Topology) topology.Grid {
	if t.Nested {
		return topology.WithLevels(cfg.Levels)
	}
	return topology.Grid{W: cfg.W, H: cfg.H}
}

// place lays results and the window behind the shards, at one offset on all ranks.
func (cfg *Config) place(g *tl.Group) error {
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
	meeting, err := mem.NewLayout(0, []mem.Buffer{{Name: "rounds", Parts: []mem.Part{mem.SignalPart("", mem.Int64, max(1, team.Rounds()))}}})
	if err != nil {
		return err
	}
	team.Meeting = mem.NewWindow("world.meeting", team, meeting, at)
	a.Windows = []*mem.Window{w}
	return nil
}

// aligned rounds an offset up to whole pages.
func aligned(n int64) int64 { return (n + 4095) &^ 4095 }

func setDefault[T comparable](p *T, v T) {
	if *p == *new(T) {
		*p = v
	}
}

// load puts the inputs into the ranks' memory, as their contributions.
func (cfg *Config) load(log *oplog.Log, l *tl.Launch, o *Outcome) error {
	a := &l.Groups[0].Args
	o.In = make([][]byte, cfg.World)
	for r, at := range a.Shards {
		data := make([]byte, a.NElem*a.DType.Size())
		o.In[r] = data
		if a.NElem == 0 {
			continue
		}
		for i, v := range cfg.Inputs[r] {
			dtype.Set(a.DType, data, i, v)
		}
		if err := log.Map(at, a.DType, a.NElem); err != nil {
			return err
		}
		if err := log.Write(at, a.DType, data); err != nil {
			return err
		}
		if err := log.Label(r, 0, at, a.DType, a.NElem); err != nil {
			return err
		}
	}
	for r, at := range a.Outs {
		if n := a.OutElems[r]; n > 0 {
			if err := log.Map(at, a.DType, n); err != nil {
				return err
			}
		}
	}
	if cfg.Layout == nil {
		return nil
	}
	o.Window = a.Windows[0]
	return zero(log, o.Window)
}

// zero makes the data of a window: zeros, but for staging memory.
func zero(log *oplog.Log, w *mem.Window) error {
	for r := range w.Team.Size() {
		for i := range w.Layout.Parts {
			p := &w.Layout.Parts[i]
			if p.Word != mem.NoWord {
				continue
			}
			at := w.Addr(r, p.Off)
			if err := log.Map(at, p.Type, p.Count); err != nil {
				return err
			}
			if p.Staging {
				continue // it holds nothing until a kernel writes it
			}
			if err := log.Write(at, p.Type, make([]byte, p.Bytes())); err != nil {
				return err
			}
		}
	}
	return nil
}

// read collects what the ranks' memory holds.
func (cfg *Config) read(log *oplog.Log, l *tl.Launch, o *Outcome) error {
	a := &l.Groups[0].Args
	o.Outputs = make([][]float64, cfg.World)
	o.Out = make([][]byte, cfg.World)
	o.Prov = make([]collective.Prov, cfg.World)
	for r := range a.Shards {
		at, n := a.Shards[r], a.NElem
		if a.Outs != nil {
			at, n = a.Outs[r], a.OutElems[r]
		}
		o.Outputs[r] = make([]float64, n)
		if n == 0 {
			continue
		}
		data, prov, err := log.View(at, a.DType, n)
		if err != nil {
			return err
		}
		for i := range o.Outputs[r] {
			o.Outputs[r][i] = dtype.At(a.DType, data, i)
		}
		o.Out[r], o.Prov[r] = data, prov
	}
	return nil
}
