package run

import (
	"cmp"
	"fmt"
	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/tl"
)

// findProgram finds what runs: a program of instructions, or a host program.
func (x *Job) findProgram(f *ProgramFile) error {
	switch {
	case f != nil:
		return x.give(f)
	case x.Program != "":
		return x.loadProgram()
	}
	return x.choose()
}

// choose finds the program: the one that is named, or the one for what the algorithm performs.
func (x *Job) choose() (err error) {
	x.named = x.Bench != ""
	switch {
	case x.HostProgram != nil:
		x.program = x.HostProgram
	case x.Bench == "" && x.Algorithm != "" && device.IsAuto(x.Entries, x.Algorithm):
		x.program = x.autoProgram()
	case x.Bench == "" && x.Algorithm != "":
		resolved, err := device.ResolveAlgorithm(x.Entries, x.Algorithm)
		if err != nil {
			return err
		}
		x.program = bench.For(resolved.Algorithm.Collective)
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

// checkProgram checks what the spec states of a host program against what that can do, and reads
// its inputs and options.
func (x *Job) checkProgram() (err error) {
	p := x.program
	if x.DType == dtype.Invalid {
		x.DType = p.DefaultDType()
	}
	if !p.Collectives {
		if err := x.withoutCollective(p); err != nil {
			return err
		}
	}
	if x.Ranks > 0 && x.Devices != nil {
		return fmt.Errorf("%d ranks and devices %s: both choose the ranks; give one of them", x.Ranks, deviceList(x.Devices))
	}
	if x.input, err = bench.ParseInput(x.Input, x.DType); err != nil {
		return err
	}
	return p.CheckOptions(x.Options)
}

// withoutCollective refuses what would have no effect in a host program that runs no collective.
func (x *Job) withoutCollective(p *bench.Program) error {
	switch {
	case x.Algorithm != "":
		return fmt.Errorf("bench %s chooses no algorithm by name: remove --algorithm", p.Name)
	case !p.Chosen && x.Input != "":
		return fmt.Errorf("bench %s has inputs of its own: remove --input", p.Name)
	case !p.Combines && x.Op != tl.Sum:
		return fmt.Errorf("bench %s has no operation to choose: remove --op", p.Name)
	case !p.Parallel && (x.Ranks > 0 || x.Devices != nil):
		return fmt.Errorf("bench %s runs no collective: a number of ranks, or devices, would have no effect", p.Name)
	}
	return nil
}

// checkAlgorithm checks that the algorithm of a host program with collectives is there.
func (x *Job) checkAlgorithm() error {
	if !x.program.Collectives || x.given != nil {
		return nil
	}
	name := cmp.Or(x.Algorithm, x.program.Algorithm)
	if device.IsAuto(x.Entries, name) {
		return nil
	}
	if x.Tuning != "" {
		return fmt.Errorf("tuning table %s: only the algorithm %s uses one, and %s would ignore it",
			x.Tuning, algorithm.Auto, name)
	}
	_, err := device.ResolveAlgorithm(x.Entries, name)
	return err
}
