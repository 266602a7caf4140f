package lab

import (
	"fmt"
	"os"
	"strings"

	"kernbench/bench"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/tl"
)

// setting is a Spec with everything loaded that it names.
type setting struct {
	Spec
	program  *bench.Program
	topo     *conf.Topology
	ccl      *conf.CCL
	machine  *machine.Machine
	fidelity noc.Fidelity
}

// load finds everything that a spec names, and says what is wrong with it.
func load(s Spec) (*setting, error) {
	if s.Bench == "" {
		s.Bench = bench.CCLAllReduce.Name
	}
	if s.Executor == "" {
		s.Executor = Sim
	}
	if s.DType == dtype.Invalid {
		s.DType = dtype.F16
	}
	x := &setting{Spec: s}
	var err error
	if s.Executor != Sim && s.Executor != Mock {
		return nil, fmt.Errorf("unknown executor %q: one of %s, %s", s.Executor, Sim, Mock)
	}
	if s.Executor == Mock && s.Fidelity != "" {
		return nil, fmt.Errorf("fidelity %s: the executor %s has no network", s.Fidelity, Mock)
	}
	if s.Fidelity != "" {
		if x.fidelity, err = noc.ParseFidelity(s.Fidelity); err != nil {
			return nil, err
		}
	}
	if s.Ranks < 0 || s.NElem < 0 {
		return nil, fmt.Errorf("%d ranks of %d elements: neither can be negative", s.Ranks, s.NElem)
	}
	if s.Executor == Mock && s.TraceFile != "" {
		return nil, fmt.Errorf("trace file %s: the executor %s has no clock and makes no trace", s.TraceFile, Mock)
	}
	if x.program, err = bench.Lookup(s.Bench); err != nil {
		return nil, err
	}
	if !x.program.Collectives && (s.Algorithm != "" || s.Ranks > 0 || s.Op != tl.Sum) {
		return nil, fmt.Errorf("bench %s runs no collective: an algorithm, a number of ranks or an operation would change nothing", x.program.Name)
	}
	if err := x.configure(); err != nil {
		return nil, err
	}
	if x.program.Collectives {
		name := s.Algorithm
		if name == "" {
			name = x.program.Algorithm
		}
		if _, err := device.ResolveAlgorithm(x.ccl, name); err != nil {
			return nil, err
		}
	}
	return x, nil
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
	if x.ccl, err = conf.LoadCCL(cclFiles, cclSets); err != nil {
		return err
	}
	if err := device.CheckEntries(x.ccl); err != nil {
		return err
	}
	x.machine, err = machine.Build(x.topo)
	return err
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
	data, err := os.ReadFile(name)
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
	return fmt.Sprintf("%s × %s × %s", count(m.SIPs(), "SIP"), count(m.CubesPerSIP(), "cube"), count(m.PEsPerCube(), "PE"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
