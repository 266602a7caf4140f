package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/unit"
)

// Job is a Spec with everything loaded that it names.
type Job struct {
	Spec
	BenchRow   *bench.Program
	Topo       *conf.Topology
	Entries    *conf.CCL
	Machine    *machine.Machine
	tuning     *algorithm.Tuning // that auto chooses by, or nil
	Exec       *exec.Row         // of Spec.Executor
	AtFidelity string            // of row; "": it has none

	Order mem.Ordering  // what the machine promises about the order of one-sided operations
	input *bench.Input  // what ranks contribute; nil: as the bench says
	given *device.Given // a program that runs instead of an algorithm of the library, or nil
	World int           // ranks that the device is asked for; 0: as configured
	PEs   []int32       // that they are; nil: the first of the machine

	Trees   bool                                        // keep the tree of additions of every element
	Inspect func(data *oplog.Log, c *device.Call) error // looks at what a collective left behind; may be nil
}

// Load finds everything that a spec names, and says what is wrong with it.
func Load(s Spec) (*Job, error) { return loadWith(s, nil) }

// loadWith is load of a spec that runs a program; nil: the one that the spec names, if it names one.
func loadWith(s Spec, f *ProgramFile) (*Job, error) {
	x := &Job{Spec: s}
	row, err := ExecutorOf(s.Executor)
	if err != nil {
		return nil, err
	}
	x.On(row)
	if x.AtFidelity, err = row.Fidelity(s.Fidelity); err != nil {
		return nil, err
	}
	if s.Causes != nil {
		if err := row.Needs(exec.Causes); err != nil {
			return nil, err
		}
	}
	if s.Schedules < 0 {
		return nil, fmt.Errorf("%d further schedules: the number cannot be negative", s.Schedules)
	}
	if err := x.supported(); err != nil {
		return nil, err
	}
	x.VerifyData = s.VerifyData || s.Schedules > 0 // results are compared
	if s.Ranks < 0 || s.NElem < 0 {
		return nil, fmt.Errorf("%d ranks of %d elements: neither can be negative", s.Ranks, s.NElem)
	}
	if err := x.configure(); err != nil {
		return nil, err
	}
	switch {
	case f != nil:
		err = x.give(f)
	case s.Program != "":
		err = x.loadProgram()
	default:
		err = x.choose()
	}
	if err != nil {
		return nil, err
	}
	p := x.BenchRow
	if x.DType == dtype.Invalid {
		x.DType = p.DefaultDType()
	}
	switch {
	case !p.Collectives && s.Algorithm != "":
		return nil, fmt.Errorf("bench %s runs no collective by an algorithm's name: an algorithm would change nothing", p.Name)
	case !p.Collectives && !p.Chosen && s.Input != "":
		return nil, fmt.Errorf("bench %s has inputs of its own: --input would change nothing", p.Name)
	case !p.Collectives && !p.Combines && s.Op != tl.Sum:
		return nil, fmt.Errorf("bench %s has no operation to choose: another operation would change nothing", p.Name)
	case !p.Collectives && !p.Parallel && (s.Ranks > 0 || s.Devices != nil):
		return nil, fmt.Errorf("bench %s runs no collective: a number of ranks, or devices, would change nothing", p.Name)
	case s.Ranks > 0 && s.Devices != nil:
		return nil, fmt.Errorf("%d ranks and devices %s: one of them says who takes part", s.Ranks, deviceList(s.Devices))
	}
	if x.input, err = bench.ParseInput(s.Input, x.DType); err != nil {
		return nil, err
	}
	if err := p.CheckOptions(s.Options); err != nil {
		return nil, err
	}
	if err := x.ranks(); err != nil {
		return nil, err
	}
	if x.BenchRow.Collectives && x.given == nil {
		name := s.Algorithm
		if name == "" {
			name = x.BenchRow.Algorithm
		}
		if device.IsAuto(x.Entries, name) {
			return x, nil
		}
		if x.Tuning != "" {
			return nil, fmt.Errorf("tuning table %s: only the algorithm %s chooses by one, and %s would not look at it", x.Tuning, algorithm.Auto, name)
		}
		if _, err := device.ResolveAlgorithm(x.Entries, name); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// choose finds the program: the one that is named, or the one for what the algorithm performs.
func (x *Job) choose() (err error) {
	switch {
	case x.HostProgram != nil:
		x.BenchRow = x.HostProgram
	case x.Bench == "" && x.Algorithm != "" && device.IsAuto(x.Entries, x.Algorithm):
		x.BenchRow = x.autoProgram()
	case x.Bench == "" && x.Algorithm != "":
		choice, err := device.ResolveAlgorithm(x.Entries, x.Algorithm)
		if err != nil {
			return err
		}
		x.BenchRow = bench.For(choice.Algorithm.Collective)
	case x.Bench == "":
		x.BenchRow = bench.CCLAllReduce
	default:
		x.BenchRow, err = bench.Lookup(x.Bench)
	}
	if err == nil {
		x.Bench = x.BenchRow.Name
	}
	return err
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
	if x.Topo, err = conf.LoadTopology(topoFiles, topoSets); err != nil {
		return err
	}
	cclFiles, err := cclSource(x.CCL)
	if err != nil {
		return err
	}
	if x.Entries, err = x.Topo.LoadCCL(cclFiles, cclSets); err != nil {
		return err
	}
	if err := device.CheckEntries(x.Entries); err != nil {
		return err
	}
	if x.Order, err = mem.ParseOrdering(x.Topo.Fabric.MemoryOrder); err != nil {
		return err
	}
	if x.tuning, err = LoadTuning(x.Tuning); err != nil {
		return err
	}
	if x.Machine, err = machine.Build(x.Topo); err == nil && x.Alter != nil {
		x.Alter(x.Machine)
	}
	return err
}

// ranks says who takes part: the devices, in the machine's rank order, or the first so many.
func (x *Job) ranks() error {
	have := x.Machine.NumPEs()
	if x.Ranks > have {
		return &TooManyRanks{x.Ranks, have, x.enough()}
	}
	if x.World = x.Ranks; x.Ranks == 0 && x.Devices == nil {
		x.World = x.BenchRow.DefaultRanks(have)
	}
	if x.Devices != nil {
		x.PEs = make([]int32, 0, len(x.Devices))
		for _, d := range x.Devices {
			if d < 0 || d >= have {
				return fmt.Errorf("device %d: the machine has %s, 0 to %d", d, unit.Count(have, "PE"), have-1)
			}
			x.PEs = append(x.PEs, int32(d))
		}
		sorted := slices.Sorted(slices.Values(x.Devices))
		for i := 1; i < len(sorted); i++ {
			if sorted[i] == sorted[i-1] {
				return fmt.Errorf("device %d is named twice", sorted[i])
			}
		}
		if !slices.Equal(sorted, x.Devices) {
			return fmt.Errorf("devices %s: ranks have the machine's order: write %s", deviceList(x.Devices), deviceList(sorted))
		}
		if len(x.PEs) == 0 {
			return errors.New("a list of no devices: at least one must take part")
		}
		return nil
	}
	if x.BenchRow.Parallel && x.World > 0 {
		if x.World > have {
			return fmt.Errorf("%d ranks: the machine has %d PEs", x.World, have)
		}
		x.PEs = make([]int32, x.World)
		for i := range x.PEs {
			x.PEs[i] = int32(i)
		}
	}
	return nil
}

// deviceList is a list of devices as a person writes it: 0,2,5-7.
func deviceList(devices []int) string {
	var b strings.Builder
	for lo := 0; lo < len(devices); {
		hi := lo + 1
		for hi < len(devices) && devices[hi] == devices[hi-1]+1 {
			hi++
		}
		if lo > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, devices[lo])
		if hi-lo > 1 {
			fmt.Fprintf(&b, "-%d", devices[hi-1])
		}
		lo = hi
	}
	return b.String()
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

// Reproduce returns what a person types to see a run again.
func (x *Job) Reproduce() string {
	s := fmt.Sprintf("%s run --bench %s --algorithm %s --ranks %d --n-elem %d --dtype %v --op %v --platform %s --verify-data",
		cmp.Or(x.CalledAs, "kernbench"), x.Bench, x.Algorithm, x.Ranks, x.NElem, x.DType, x.Op, x.Executor)
	for _, f := range []struct{ flag, value string }{{"topology", x.Topology}, {"ccl", x.CCL}} {
		if f.value != "" {
			s += fmt.Sprintf(" --%s %s", f.flag, f.value)
		}
	}
	for _, set := range x.Sets {
		s += fmt.Sprintf(" --set '%s'", set)
	}
	if x.Input != "" {
		s += fmt.Sprintf(" --input '%s'", x.Input)
	}
	if x.Seed != 0 {
		s += fmt.Sprintf(" --seed %d", x.Seed)
	}
	return s
}
