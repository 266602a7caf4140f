package kerneltest

import (
	"fmt"
	"math/rand/v2"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/topology"
	"kernbench/unit"
)

// None as Config.Collective means that a kernel performs no collective.
const None = "none"

// Config describes runs of one kernel on a few ranks. Zero fields take the values named
// next to them.
type Config struct {
	// Collective is the name of the collective that the kernel performs, as in package collective.
	// Run judges values and provenance by it, and needs it. With None it compares the outputs of
	// all schedules.
	Collective string
	Idempotent bool // contributions may count more than once, as max and min permit: no

	World     int               // number of ranks: as many as Inputs
	Topology  string            // ring_1d
	W, H      int               // of a mesh or torus: a square
	Neighbors topology.Override // none

	Inputs [][]float64 // the values of each rank's shard, all of one length; chosen if NElem or Collective gives their number
	NElem  int         // elements of each rank, where Inputs are chosen: 13, or 3 for each rank where the collective has blocks
	DType  dtype.Type  // F32
	Op     tl.ReduceOp // Sum
	Args   []int       // Args.Ints of the kernel; the first is the root of a collective that has one
	Levels []int       // of ranks that are next to each other: tl.Args.Levels
	Rails  tl.Rails    // channels of the call: one

	ChunkBytes, LatencyBytes int64 // Args of a pipeline: the size that the algorithm chooses, and unknown

	Slots      int        // per direction: 4
	SlotBytes  int64      // 4096
	PEsPerCube int        // World: all in one cube
	Scratch    unit.Bytes // per PE: 1 MiB
	OnRecv     bool       // credits leave inside the receive: no
	Loose      bool       // receives need not agree with sends in type and shape: no

	// Layout divides a window over all ranks, Args.Window(0): zeros to begin with.
	Layout *mem.Layout
	// OutElems requests a separate result, Args.Out, with this number of elements on each rank.
	// Outputs then holds these results. Nil: a separate result only if Apart is set, or if the
	// result of Collective is longer than the contribution.
	OutElems []int
	Apart    bool // the result of Collective lies apart from the contribution: no

	Executors []string     // by name: mock and sim; functions that perform one schedule take the first
	Schedules int          // random schedules that Run performs besides the executor's own: none, or 8 where atomics return values
	Seed      uint64       // the only schedule to perform; 0: those of Schedules and the executor's own
	Order     mem.Ordering // of what ranks do to each other's memory: PutSignal
	Multimem  bool         // ranks are SIPs on a switch that reduces and copies
	NoAtomics bool         // no fetch_add and compare_swap on words of other PEs: all
	Limits    exec.Limits  // of each launch: its defaults
	History   *history.Log // receives the accesses to memory of one schedule, for a judge of races of your own: none
}

// complete sets the defaults of Config and checks the other fields.
func (cfg *Config) complete() error {
	if cfg.World == 0 {
		cfg.World = len(cfg.Inputs)
	}
	if cfg.World < 1 {
		return fmt.Errorf("kerneltest: no ranks: give World or Inputs")
	}
	setDefault(&cfg.Topology, "ring_1d")
	setDefault(&cfg.DType, dtype.F32)
	setDefault(&cfg.Slots, 4)
	setDefault(&cfg.SlotBytes, 4096)
	setDefault(&cfg.PEsPerCube, cfg.World)
	setDefault(&cfg.Scratch, 1<<20)
	what, err := cfg.collective()
	if err != nil {
		return err
	}
	if cfg.Inputs == nil {
		if cfg.NElem == 0 && what != nil {
			if cfg.NElem = 13; what.Blocks {
				cfg.NElem = 3 * cfg.World
			}
		}
		if cfg.NElem > 0 {
			cfg.Inputs = Inputs(cfg.World, cfg.NElem, cfg.DType, cfg.Op)
		}
	}
	if len(cfg.Inputs) != 0 {
		cfg.NElem = len(cfg.Inputs[0])
		if len(cfg.Inputs) != cfg.World {
			return fmt.Errorf("kerneltest: %d inputs for %d ranks", len(cfg.Inputs), cfg.World)
		}
	}
	for r, in := range cfg.Inputs {
		if len(in) != cfg.NElem {
			return fmt.Errorf("kerneltest: rank %d has %d elements, rank 0 has %d", r, len(in), cfg.NElem)
		}
	}
	if cfg.OutElems == nil && what != nil {
		cfg.OutElems = cfg.results(what)
	}
	if cfg.OutElems != nil && len(cfg.OutElems) != cfg.World {
		return fmt.Errorf("kerneltest: %d results for %d ranks", len(cfg.OutElems), cfg.World)
	}
	return nil
}

// collective returns the collective that the kernel performs, or nil.
func (cfg *Config) collective() (*collective.Collective, error) {
	if cfg.Collective == "" || cfg.Collective == None {
		return nil, nil
	}
	return collective.Lookup(cfg.Collective)
}

// call returns the parameters of the collective.
func (cfg *Config) call(what *collective.Collective) collective.Call {
	c := collective.Call{World: cfg.World, Elems: cfg.NElem, Type: cfg.DType, Op: cfg.Op}
	if what.Rooted && len(cfg.Args) > 0 {
		c.Root = cfg.Args[0]
	}
	return c
}

// results returns the number of elements of separate results; nil: results replace contributions.
func (cfg *Config) results(what *collective.Collective) []int {
	apart := cfg.Apart || what.Apart
	ns := make([]int, cfg.World)
	for r := range ns {
		ns[r] = what.Out(cfg.call(what), r)
		apart = apart || ns[r] > cfg.NElem
	}
	if !apart {
		return nil
	}
	return ns
}

// Inputs chooses n elements for each rank. They are small numbers that do not cancel out, so that
// a lost or doubled contribution changes a sum. Integers are exact in every type.
func Inputs(world, n int, t dtype.Type, op tl.ReduceOp) [][]float64 {
	rng := rand.New(rand.NewPCG(uint64(world), uint64(n)))
	in := make([][]float64, world)
	for r := range in {
		in[r] = make([]float64, n)
		for i := range in[r] {
			switch {
			case t.IsInt():
				in[r][i] = float64(rng.IntN(7) + 1)
			case op == tl.Prod:
				in[r][i] = 0.5 + rng.Float64()
			default:
				in[r][i] = rng.Float64()*4 - 1
			}
		}
	}
	return in
}

func setDefault[T comparable](p *T, v T) {
	if *p == *new(T) {
		*p = v
	}
}
