package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"

	"kernbench/internal/outfile"

	"github.com/spf13/pflag"
)

// profiles are the files for the CPU time and memory of a command.
type profiles struct{ cpu, memory string }

func (p *profiles) add(f *pflag.FlagSet) {
	f.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of kernbench to a `FILE`, for go tool pprof")
	f.StringVar(&p.memory, "memprofile", "", "write an allocation profile of kernbench to a `FILE`, for go tool pprof")
}

// profiled calls work between the start and the end of the requested profiles. They are complete
// whether work succeeds or fails. If a file cannot be written, it returns an error before work
// begins.
func (a *app) profiled(p *profiles, work func() error) (err error) {
	stop, err := p.start()
	if err != nil {
		return err
	}
	defer func() {
		switch perr := stop(); {
		case perr == nil:
		case errors.Is(err, errWrong) || is[reported](err): // the error is already printed
			fmt.Fprintf(a.err, "kernbench: %v\n", perr)
		default:
			err = errors.Join(err, perr)
		}
	}()
	return work()
}

// memProfileRate is that of an allocation profile: the value at the start, Go's own or that of
// GODEBUG.
var memProfileRate = runtime.MemProfileRate

// start creates the files and starts the CPU profile. The function that it returns completes them.
func (p *profiles) start() (stop func() error, err error) {
	cpu, err := createProfile("cpuprofile", p.cpu)
	if err != nil {
		return nil, err
	}
	memory, err := createProfile("memprofile", p.memory)
	if memory != nil {
		runtime.MemProfileRate = memProfileRate
	}
	if err == nil && cpu != nil {
		err = pprof.StartCPUProfile(cpu)
	}
	if err != nil {
		for _, f := range []*outfile.File{cpu, memory} {
			if f != nil {
				f.Discard()
			}
		}
		return nil, err
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
		}
		if memory != nil {
			runtime.GC() // makes the memory in use exact
			err = pprof.Lookup("allocs").WriteTo(memory, 0)
		}
		return errors.Join(err, closeProfile(cpu), closeProfile(memory))
	}, nil
}

// createProfile creates a file, none for an empty name.
func createProfile(flag, name string) (*outfile.File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := outfile.Create(name)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return f, nil
}

func closeProfile(f *outfile.File) error {
	if f == nil {
		return nil
	}
	return f.Commit()
}
