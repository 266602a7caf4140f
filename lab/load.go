package lab

import (
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
	"kernbench/oplog"
	"kernbench/tl"
)

// setting is a Spec with everything loaded that it names.
type setting struct {
	Spec
	program  *bench.Program
	topo     *conf.Topology
	ccl      *conf.CCL
	machine  *machine.Machine
	tuning   *algorithm.Tuning // that auto chooses by, or nil
	row      *exec.Row         // of Spec.Executor
	fidelity string            // of row; "": it has none

	order mem.Ordering  // what the machine promises about the order of one-sided operations
	input *bench.Input  // what ranks contribute; nil: as the bench says
	given *device.Given // a program that runs instead of an algorithm of the library, or nil
	world int           // ranks that the device is asked for; 0: as configured
	pes   []int32       // that they are; nil: the first of the machine

	trees   bool                                        // keep the tree of additions of every element
	inspect func(data *oplog.Log, c *device.Call) error // looks at what a collective left behind; may be nil
}

// load finds everything that a spec names, and says what is wrong with it.
func load(s Spec) (*setting, error) { return loadWith(s, nil) }

// loadWith is load of a spec that runs a program; nil: the one that the spec names, if it names one.
func loadWith(s Spec, f *ProgramFile) (*setting, error) {
	x := &setting{Spec: s}
	row, err := executorOf(s.Executor)
	if err != nil {
		return nil, err
	}
	x.on(row)
	if x.fidelity, err = row.Fidelity(s.Fidelity); err != nil {
		return nil, err
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
	p := x.program
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
	if x.program.Collectives && x.given == nil {
		name := s.Algorithm
		if name == "" {
			name = x.program.Algorithm
		}
		if device.IsAuto(x.ccl, name) {
			return x, nil
		}
		if x.Tuning != "" {
			return nil, fmt.Errorf("tuning table %s: only the algorithm %s chooses by one, and %s would not look at it", x.Tuning, algorithm.Auto, name)
		}
		if _, err := device.ResolveAlgorithm(x.ccl, name); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// choose finds the program: the one that is named, or the one for what the algorithm performs.
func (x *setting) choose() (err error) {
	switch {
	case x.HostProgram != nil:
		x.program = x.HostProgram
	case x.Bench == "" && x.Algorithm != "" && device.IsAuto(x.ccl, x.Algorithm):
		x.program = x.autoProgram()
	case x.Bench == "" && x.Algorithm != "":
		choice, err := device.ResolveAlgorithm(x.ccl, x.Algorithm)
		if err != nil {
			return err
		}
		x.program = bench.For(choice.Algorithm.Collective)
	case x.Bench == "":
		x.program = bench.CCLAllReduce
	default:
		x.program, err = bench.Lookup(x.Bench)
	}
	if err == nil {
		x.Bench = x.program.Name
	}
	return err
}

// configure loads both files and builds the machine.
func (x *setting) configure() error {
	topoSets, cclSets, err := conf.SplitSets(x.Sets)
	if err != nil {
		return err
	}
	topoFiles, err := source(x.Topology, machine.PresetSource, presetNames())
	if err != nil {
		return err
	}
	if x.topo, err = conf.LoadTopology(topoFiles, topoSets); err != nil {
		return err
	}
	cclFiles, err := source(x.CCL, nil, nil)
	if err != nil {
		return err
	}
	if x.ccl, err = x.topo.LoadCCL(cclFiles, cclSets); err != nil {
		return err
	}
	if err := device.CheckEntries(x.ccl); err != nil {
		return err
	}
	if x.order, err = mem.ParseOrdering(x.topo.Fabric.MemoryOrder); err != nil {
		return err
	}
	if x.tuning, err = loadTuning(x.Tuning); err != nil {
		return err
	}
	x.machine, err = machine.Build(x.topo)
	return err
}

// ranks says who takes part: the devices, in the machine's rank order, or the first so many.
func (x *setting) ranks() error {
	have := x.machine.NumPEs()
	if x.Ranks > have {
		return &TooManyRanks{x.Ranks, have, x.enough()}
	}
	if x.world = x.Ranks; x.Ranks == 0 && x.Devices == nil {
		x.world = x.program.DefaultRanks(have)
	}
	if x.Devices != nil {
		x.pes = make([]int32, 0, len(x.Devices))
		for _, d := range x.Devices {
			if d < 0 || d >= have {
				return fmt.Errorf("device %d: the machine has %s, 0 to %d", d, count(have, "PE"), have-1)
			}
			x.pes = append(x.pes, int32(d))
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
		if len(x.pes) == 0 {
			return errors.New("a list of no devices: at least one must take part")
		}
		return nil
	}
	if x.program.Parallel && x.world > 0 {
		if x.world > have {
			return fmt.Errorf("%d ranks: the machine has %d PEs", x.world, have)
		}
		x.pes = make([]int32, x.world)
		for i := range x.pes {
			x.pes[i] = int32(i)
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

// source reads a preset or a file; no name is no source.
func source(name string, preset func(string) ([]byte, bool), presets []string) ([]conf.Source, error) {
	if name == "" {
		return nil, nil
	}
	if preset != nil {
		if data, ok := preset(name); ok {
			return []conf.Source{{Name: "preset " + name, Data: data}}, nil
		}
	}
	data, err := conf.ReadFile(name)
	if err == nil {
		return []conf.Source{{Name: name, Data: data}}, nil
	}
	if len(presets) > 0 && !strings.ContainsAny(name, "./\\") {
		if near := conf.Nearest(name, presets); near != "" {
			return nil, fmt.Errorf("%w, and no preset of that name: did you mean %q?", err, near)
		}
		return nil, fmt.Errorf("%w, and no preset of that name: one of %s", err, strings.Join(presets, ", "))
	}
	return nil, err
}

func presetNames() []string {
	var names []string
	for _, p := range machine.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// describe is the machine in words.
func (x *setting) describe() string {
	m := x.machine
	sips := count(m.SIPs(), "SIP")
	var levels []string
	for _, l := range m.Levels() {
		if l.Name != "" { // else it is the only one
			size := strings.ReplaceAll(strings.Trim(fmt.Sprint(l.Dims), "[]"), " ", " × ")
			levels = append(levels, fmt.Sprintf("%s: %s of %s", l.Name, l.Network, size))
		}
	}
	if len(levels) > 0 {
		sips += " (" + strings.Join(levels, ", ") + ")"
	}
	return fmt.Sprintf("%s × %s × %s", sips, count(m.CubesPerSIP(), "cube"), count(m.PEsPerCube(), "PE"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
