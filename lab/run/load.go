package run

import (
	"errors"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/mem"
)

// Job is a Spec that has been checked, with everything loaded that it names. Load alone makes one.
// Products read it, and get a job that differs from one of its methods: see OneCall.
type Job struct {
	Spec
	Machine *machine.Machine
	Entries *conf.CCL // of ccl.yaml

	row      *exec.Row         // of Spec.Executor
	fidelity string            // of row; "": it has none
	order    mem.Ordering      // what the machine promises about the order of one-sided operations
	program  *bench.Program    // that runs
	named    bool              // whether the spec names it: errors name it then, too
	given    *device.Given     // a program of instructions in the place of an algorithm, or nil
	input    *bench.Input      // what ranks contribute; nil: the input of the program
	tuning   *algorithm.Tuning // table by which auto chooses, or nil
	world    int               // ranks if Spec.Ranks is 0; 0: as configured
	pes      []int32           // PEs that take part; nil: the first of the machine
}

var errNotLoaded = errors.New("run: the job was not made by Load")

// Load finds everything that a spec names, and returns what is wrong with it.
func Load(s Spec) (*Job, error) { return loadWith(s, nil) }

// loadWith is Load of a spec that runs a program; nil: the one that the spec names, if it names
// one. Each step needs what those before it found.
func loadWith(s Spec, f *ProgramFile) (*Job, error) {
	x := &Job{Spec: s}
	for _, step := range []func() error{
		x.findExecutor,
		x.configure,
		func() error { return x.findProgram(f) },
		x.checkProgram,
		x.ranks,
		x.checkTracedRanks,
		x.checkAlgorithm,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// configure loads both files and builds the machine.
func (x *Job) configure() error {
	topoSets, cclSets, err := conf.SplitSets(x.Sets)
	if err != nil {
		return err
	}
	topoFiles, err := machine.ReadSource(x.Topology)
	if err != nil {
		return err
	}
	topo, err := conf.LoadTopology(topoFiles, topoSets)
	if err != nil {
		return err
	}
	cclFiles, err := cclSource(x.CCL)
	if err != nil {
		return err
	}
	for name := range topo.Software().Starts.Collectives {
		if _, err := collective.Lookup(name); err != nil {
			return topo.Errorf("software.starts.collectives."+name, "%v", err)
		}
	}
	if x.Entries, err = topo.LoadCCL(cclFiles, cclSets); err != nil {
		return err
	}
	if err := device.CheckEntries(x.Entries); err != nil {
		return err
	}
	if x.order, err = mem.ParseOrdering(topo.Fabric().MemoryOrder); err != nil {
		return err
	}
	if x.tuning, err = LoadTuning(x.Tuning); err != nil {
		return err
	}
	if x.tuning == nil {
		if x.tuning, err = ownTuning(x.Topology, topo); err != nil {
			return err
		}
	}
	if x.Machine, err = machine.Build(topo); err == nil && x.Alter != nil {
		x.Alter(x.Machine)
	}
	return err
}

// cclSource reads a ccl.yaml; no name is no source.
func cclSource(name string) ([]conf.Source, error) {
	if name == "" {
		return nil, nil
	}
	data, err := conf.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return []conf.Source{{Name: name, Data: data}}, nil
}
