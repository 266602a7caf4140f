package hosttest

import (
	"fmt"
	"strings"
	"sync"

	"kernbench/check/race"
	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/record/trace"
)

// Setup describes a device that a test calls by hand. Zero fields take the values named next to
// them.
type Setup struct {
	Topology string   // file or preset of the machine: as Config.Topology
	Sets     []string // KEY=VALUE over it: none

	Executor string         // by name: mock
	Seed     uint64         // number of a random schedule: the executor's own
	NoData   bool           // keep no values, so that results are not judged
	Races    *race.Detector // detector of accesses to memory, see Races: none
	Trace    trace.Sink     // sink of the events of an executor with a clock: none

	// Open makes the executor, if it needs options that exec.Setup lacks: that of Executor.
	Open func(exec.Setup) (exec.Executor, error)
}

// Rig is a device with a judge: it checks the values and the provenance of every collective right
// after its launch. A wrong result is an error of the test.
type Rig struct {
	Device *device.Context
	Judged []*device.Call // collectives, in the order in which they were checked
	log    *oplog.Log     // nil: no values are kept
}

// TB holds the methods of a test or a property that Open uses.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Open makes a device with its executor and judge, for tests that queue work, launch kernels and
// read tensors one by one. Run is simpler where the whole of a host program is the test.
func Open(t TB, s Setup) *Rig {
	t.Helper()
	r, err := s.open(t)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

func (s *Setup) open(t TB) (*Rig, error) {
	on, err := s.machine()
	if err != nil {
		return nil, err
	}
	row := exec.Default(exec.Checking)
	if s.Executor != "" {
		if row, err = exec.Lookup(s.Executor); err != nil {
			return nil, fmt.Errorf("hosttest: %w", err)
		}
	}
	setup := exec.Setup{Machine: on.machine, Order: on.order, Seed: s.Seed, Trace: s.Trace}
	cfg := device.Config{Machine: on.machine}
	r := &Rig{}
	if !s.NoData {
		r.log = oplog.New(oplog.Options{Inline: true})
		t.Cleanup(r.log.Close)
		setup.Data = r.log
		cfg.Check = func(c *device.Call) error { return r.judge(t, c) }
	}
	if s.Races != nil {
		setup.History, cfg.Fresh = s.Races.Log(), s.Races.Fresh
	}
	open := s.Open
	if open == nil {
		open, cfg.Row = row.Open, row
	}
	if cfg.Executor, err = open(setup); err != nil {
		return nil, fmt.Errorf("hosttest: %w", err)
	}
	if r.Device, err = device.New(cfg); err != nil {
		return nil, fmt.Errorf("hosttest: %w", err)
	}
	return r, nil
}

// judge checks the results of the groups of a collective.
func (r *Rig) judge(t TB, c *device.Call) error {
	t.Helper()
	for i := range c.Groups {
		g := &c.Groups[i]
		v, err := verify.Check(verify.Input{
			Collective: c.Collective, Call: g.Call, Hasher: r.log.Hasher(), Operation: r.log.Why,
			In:   func(rank int) []byte { return g.Inputs[rank] },
			Out:  func(rank int) []byte { return g.Outputs[rank] },
			Prov: func(rank int) collective.Prov { return g.Provs[rank] },
		})
		if err != nil {
			return err
		}
		if !v.OK() {
			t.Errorf("%s: provenance %v, values %v: %v", c.Title, v.Provenance, v.Values, v.Failures)
		}
	}
	r.Judged = append(r.Judged, c)
	return nil
}

// Races performs a program under a judge of races, as often as the judge needs, and returns what
// it found. The program opens its device with Setup.Races: judge each time.
func Races(program func(judge *race.Detector)) *race.Report {
	judge := race.New(race.Options{})
	for {
		program(judge)
		rep := judge.Report()
		if !rep.Again {
			return rep
		}
		judge = judge.Next()
	}
}

// built is a machine and the memory order of its topology.
type built struct {
	machine *machine.Machine
	order   mem.Ordering
}

// machines are the machines of earlier tests, by their settings. They are read-only.
var machines sync.Map

func (s *Setup) machine() (built, error) {
	sets := s.Sets
	if s.Topology == "" {
		sets = append(small[:len(small):len(small)], sets...)
	}
	key := s.Topology + "\n" + strings.Join(sets, "\n")
	if b, ok := machines.Load(key); ok {
		return b.(built), nil
	}
	var b built
	err := b.build(s.Topology, sets)
	if err != nil {
		return b, fmt.Errorf("hosttest: %w", err)
	}
	machines.Store(key, b)
	return b, nil
}

func (b *built) build(topology string, sets []string) error {
	files, err := machine.ReadSource(topology)
	if err != nil {
		return err
	}
	top, err := conf.LoadTopology(files, sets)
	if err != nil {
		return err
	}
	if b.order, err = mem.ParseOrdering(top.Fabric().MemoryOrder); err != nil {
		return err
	}
	b.machine, err = machine.Build(top)
	return err
}
