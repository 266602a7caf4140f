package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/program"
	"kernbench/program/text"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// ProgramFile is a program as text: what the ranks of a collective do.
type ProgramFile = text.File

// ReadProgram reads a program file.
func ReadProgram(name string) (*ProgramFile, error) {
	// A file is read more than once, and to open a pipe may wait for ever.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file, want one with a program", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return text.Read(name, f)
}

// loadProgram reads a program file. The file defines the algorithm of the run, its ranks and its
// collective.
func (x *Job) loadProgram() error {
	for _, c := range []struct {
		what  string
		asked bool
	}{
		{"bench", x.Bench != ""}, {"algorithm", x.Algorithm != ""}, {"tuning", x.Tuning != ""}, {"ranks", x.Ranks != 0},
		{"n-elem", x.NElem != 0}, {"dtype", x.DType != dtype.Invalid}, {"op", x.Op != tl.Sum},
	} {
		if c.asked {
			return fmt.Errorf("--%[1]s and --program: the file %[2]s already sets %[1]s", c.what, x.Program)
		}
	}
	for _, set := range x.Sets {
		key, _, _ := strings.Cut(set, "=")
		switch name := strings.TrimSpace(key[strings.LastIndexByte(key, '.')+1:]); name {
		case "n_slots", "ring_slots", "slot_size", "chunk_size", "accumulate":
			return fmt.Errorf("--set %s and --program: the file %s has been made with its own %s, and this setting would have no effect; "+
				"give it to kernbench program instead", set, x.Program, name)
		}
	}
	f, err := ReadProgram(x.Program)
	if err != nil {
		return err
	}
	return x.give(f)
}

// give makes the algorithm of the run that of a program.
func (x *Job) give(f *ProgramFile) error {
	if err := f.Runnable(); err != nil {
		return err
	}
	if x.Devices != nil && len(x.Devices) != f.World {
		return fmt.Errorf("devices %s: the program %s has %d ranks", deviceList(x.Devices), f.Name, f.World)
	}
	if x.Devices == nil {
		x.Ranks = f.World
	}
	x.NElem, x.DType, x.Op = f.Elems, f.Type, f.Op
	x.program = bench.OfFile(f.Root, f.Results)
	blocks, wiring := f.Split()
	x.given = &device.Given{
		Algorithm: &algorithm.Algorithm{
			Name: f.Algorithm, Summary: "a program from " + f.Name, Collective: f.Collective, Kernel: f.Kernel(), Idempotent: f.Idempotent,
		},
		Wiring: f.Wiring, Blocks: blocks, BlockWiring: wiring,
		Slots: cmp.Or(x.Slots, f.Slots), SlotBytes: f.SlotBytes, Scratch: f.Scratch, Windows: f.Windows,
	}
	return nil
}

// OfProgram is Run of a program that has been read.
func OfProgram(ctx context.Context, s Spec, f *ProgramFile) (*Result, error) {
	x, err := loadWith(s, f)
	if err != nil {
		return nil, err
	}
	return x.Run(ctx)
}

// Record records what the ranks of a spec's algorithm do. The error is a mistake in the spec, a
// fault of a kernel, or the reason why the kernel cannot be recorded. Such a kernel asks, or does
// something that a file cannot express.
func Record(ctx context.Context, s Spec) (*ProgramFile, error) {
	x, err := Load(s)
	if err != nil {
		return nil, err
	}
	var file *ProgramFile
	err = x.Recorded(ctx, program.Options{Places: true, Budget: recordBudget},
		func(call *device.Call, l *launch.Launch, p *program.Program) (err error) {
			file, err = fileOf(call, l, p)
			return err
		})
	if errors.Is(err, program.ErrBudget) {
		return nil, fmt.Errorf("the program takes more than %v of memory: record fewer ranks", recordBudget)
	}
	return file, err
}

// recordBudget is the memory that a recorded program may take.
const recordBudget = unit.GiB

// Recorded records the launch of the run's collective and gives it to use. It executes kernels but
// not their instructions. The error is a fault of a kernel, or the reason why the kernel cannot be
// recorded.
func (x *Job) Recorded(ctx context.Context, o program.Options, use func(*device.Call, *launch.Launch, *program.Program) error) error {
	o.PEName = x.Machine.PEName
	return x.FirstLaunch(ctx, func(call *device.Call, l *launch.Launch) error {
		p, err := program.RecordLaunch(ctx, l, o)
		if err != nil {
			return err
		}
		return use(call, l, p)
	})
}

// FirstLaunch gives the launch of the run's collective to use, and carries out nothing. The error
// is that of use, or why there is no such launch.
func (x *Job) FirstLaunch(ctx context.Context, use func(*device.Call, *launch.Launch) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &InternalError{v, string(debug.Stack())}
		}
	}()
	r := &recording{use: use}
	if r.dev, err = device.New(device.Config{
		Machine: x.Machine, CCL: x.Entries, Tuning: x.tuning, Executor: r, Row: x.row, World: x.World(), PEs: x.pes,
	}); err != nil {
		return err
	}
	host := bench.NewHost(x.program, r.dev, bench.Options{
		Algorithm: x.Algorithm, NElem: x.NElem, DType: x.DType, Op: x.Op, PEs: x.pes, With: x.Options,
	}, nil)
	err = x.execute(ctx, host)
	if refused, ok := errors.AsType[*program.Refusal](err); ok {
		return fmt.Errorf("%s is not a program: %w", r.dev.Plan().Name, refused)
	}
	return err
}

// recording is an executor that gives one launch away and carries out nothing.
type recording struct {
	dev  *device.Context
	use  func(*device.Call, *launch.Launch) error
	used bool
}

func (r *recording) Data() *oplog.Log { return nil }
func (r *recording) Close()           {}

func (r *recording) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	call := r.dev.FirstCall()
	switch {
	case r.used:
		return nil, errors.New("it launches several kernels: a program file has one launch")
	case call == nil:
		return nil, errors.New("it performs no collective: a program file is one of a collective")
	case call.Plan.PerSIP():
		return nil, errors.New("found rank_level sip, want pe: ranks of a program are PEs")
	}
	if err := r.use(call, l); err != nil {
		return nil, err
	}
	r.used = true
	return &launch.Result{}, nil
}

// fileOf makes the file of a recorded launch.
func fileOf(call *device.Call, l *launch.Launch, p *program.Program) (*ProgramFile, error) {
	g, a := &call.Groups[0], call.Plan.Algorithm
	what := call.Collective
	f := &ProgramFile{
		Name: call.Plan.Name, Algorithm: call.Plan.Name, Collective: what.Name, Root: g.Call.Root, Type: g.Call.Type, Elems: g.Call.Elems,
		Idempotent: a.Idempotent,
	}
	if what.Reduces {
		f.Op = g.Call.Op
	}
	f.Results = results(g, l)
	return f, f.Of(&text.Recorded{Program: p, Launch: l, In: g.Addrs, Out: g.OutAddrs})
}

// results returns how many elements of a result's memory each rank has; 0: it has none of its own.
func results(g *device.CallGroup, l *launch.Launch) int {
	if g.OutAddrs == nil {
		return 0
	}
	most := 0
	for _, n := range l.Groups[0].Args.OutElems {
		most = max(most, n)
	}
	return most
}

var _ exec.Executor = (*recording)(nil)
