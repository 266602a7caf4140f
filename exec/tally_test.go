package exec_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kernbench/cli"
	"kernbench/exec"
	"kernbench/kerneltest/conformance"
	"kernbench/lab/compare"
	"kernbench/lab/probe"
	"kernbench/lab/run"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// tally is a third executor: it counts what kernels send, and can do nothing else. It runs them
// one after the other and answers a directed receive with what was asked for.
type tally struct{}

func (tally) Data() *oplog.Log { return nil }
func (tally) Close()           {}

func (tally) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	result := &launch.Result{}
	for gi := range l.Groups {
		g := &l.Groups[gi]
		for i, pe := range g.PEs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c := &tallyCore{ring: &l.Ring, result: result}
			c.kernel = tl.NewContext(tl.Setup{
				Core: c, Rank: i, World: len(g.PEs), PE: int(pe), PEsPerCube: g.PEsPerCube,
				Wiring: &g.Wiring[i], Ring: &l.Ring, Addrs: l.Addrs, Scratch: l.Scratch,
			})
			if _, err := tl.DriverOf(c.kernel).Run(l.Kernel, g.Args); err != nil {
				return nil, err
			}
			result.Traffic = append(result.Traffic, tl.DriverOf(c.kernel).Traffic())
		}
	}
	return result, nil
}

// tallyCore is the core of one rank.
type tallyCore struct {
	kernel *tl.Context
	ring   *tl.Ring
	result *launch.Result
}

func (c *tallyCore) Do(in *tl.Instr) {
	switch in.Op {
	case tl.OpSend:
		c.result.Messages += int64(c.ring.Parts(in.N, in.Type))
		c.result.Bytes += in.Bytes()
	case tl.OpRecv:
		if in.Port == tl.AnyPort {
			c.lacks(exec.Rings)
		}
		in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
	case tl.OpPut, tl.OpGet, tl.OpNotify, tl.OpWaitWord, tl.OpTestWord, tl.OpReadWord, tl.OpFetchAdd, tl.OpCompareSwap:
		c.lacks(exec.OneSided)
	case tl.OpTask:
		c.lacks(exec.Tasks)
	}
}

func (c *tallyCore) lacks(x exec.Capability) {
	tl.DriverOf(c.kernel).Fail(&exec.Missing{Executor: tallyRow.Name, Capabilities: []exec.Capability{x}})
}

var tallyRow *exec.Row

func init() {
	tallyRow = exec.Register(exec.Row{
		Name: "tally", Summary: "counts messages, one rank after the other",
		New: func(exec.Setup) (exec.Executor, error) { return tally{}, nil },
	})
}

// command runs kernbench in this process.
func command(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	capture := func(stream **os.File, name string) func() string {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		before := *stream
		*stream = f
		return func() string {
			*stream = before
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(f.Name())
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	out, err := capture(&os.Stdout, "stdout"), capture(&os.Stderr, "stderr")
	status = cli.Main(args)
	return status, out(), err()
}

// The commands know an executor that only this file names.
func TestThirdExecutorOnTheCommandLine(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.txt")
	t.Setenv("KERNBENCH_CCL_TRACE", "1")
	named := map[exec.Capability]bool{}
	for _, c := range []struct {
		args   string
		status int
		want   []string
	}{
		{"list executors", 0, []string{"tally  ", "counts messages, one rank after the other"}},
		{"run --help", 0, []string{"sim (with time", "mock (all ranks", "tally (counts messages, one rank after the other)"}},
		{"perf --help", 0, []string{"tally (counts messages, one rank after the other)"}},
		{"run -p host", cli.ExitUsage, []string{"want one of sim, mock, tally"}},

		{"run -p tally", 0, []string{
			"(tally)", "provenance      not checked: the executor tally moves no bytes",
			"deadlock        not checked: the executor tally has no rings with slots and credits",
			"race            not checked: the executor tally keeps no account of memory",
			"no CCL trace: the executor tally does not report sends and receives",
		}},
		{"run -p tally --algorithm ring_allreduce --ranks 8 --n-elem 1024", 0, []string{"56 (112 KiB)"}},
		{"run -p tally --verify-data", cli.ExitUsage, []string{"data verification: the executor tally moves no bytes"}},
		{"run -p tally --race", cli.ExitUsage, []string{"race detection: the executor tally keeps no account of memory"}},
		{"run -p tally --seeds 2", cli.ExitUsage,
			[]string{"2 further schedules: the executor tally has no random schedules and moves no bytes"}},
		{"run -p tally --schedule 2", cli.ExitUsage, []string{"schedule 2: the executor tally has no random schedules"}},
		{"run -p tally --trace " + trace, cli.ExitUsage, []string{"the executor tally has no clock and no trace"}},
		{"run -p tally --pointers", cli.ExitUsage, []string{"pointers of rings: the executor tally has no rings"}},
		{"run -p tally --fidelity slot", cli.ExitUsage, []string{"fidelity slot: the executor tally has no network"}},
		{"run -p tally --algorithm window_allreduce_onephase", cli.ExitUsage,
			[]string{"algorithm window_allreduce_onephase: the executor tally has no one-sided communication"}},
		{"run -p tally --bench bounded_queue", cli.ExitUsage, []string{`team "queues": the executor tally has no one-sided communication`}},

		{"explain -p tally", cli.ExitUsage, []string{"the executor tally does not record where time goes"}},

		{"perf all_reduce --platform tally --ranks 4 -b 1K -e 2K", 0, []string{
			"not checked: the executor tally moves no bytes", "the executor tally has no clock: there are no times",
		}},
		{"perf all_reduce --platform tally --ranks 4 -b 1K -e 1K --algorithm all", 0, []string{
			"window_allreduce_twophase_push are left out: the executor tally has no one-sided communication",
		}},
		{"perf all_reduce --platform tally --ranks 4 -b 1K -e 1K --algorithm auto", cli.ExitUsage,
			[]string{"the executor tally has no clock: say --tuning FILE"}},
		{"perf all_reduce --platform tally --ranks 4 -b 1K -e 1K -d bf16 --numerics", cli.ExitUsage,
			[]string{"numerics: the executor tally moves no bytes"}},
	} {
		status, stdout, stderr := command(t, strings.Fields(c.args)...)
		said := stdout + stderr
		words := strings.Join(strings.Fields(said), " ") // the help is wrapped
		if status != c.status {
			t.Errorf("kernbench %s: exit status %d, want %d\n%s", c.args, status, c.status, said)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) && !strings.Contains(words, want) {
				t.Errorf("kernbench %s: no %q in\n%s", c.args, want, said)
			}
		}
		for _, x := range exec.Capabilities() {
			lacks := strings.TrimPrefix(tallyRow.Needs(x).Error(), "the executor tally ")
			named[x] = named[x] || strings.Contains(said, strings.TrimPrefix(lacks, "has "))
		}
	}
	for _, x := range exec.Capabilities() {
		// Who uses streams uses windows too, which come first: package device tests these two.
		if !named[x] && x != exec.Streams && x != exec.Tasks {
			t.Errorf("no command says that the capability %v is missing", x)
		}
	}
}

// Package run also refuses requests that no command makes of a chosen executor.
func TestThirdExecutorInTheLab(t *testing.T) {
	s := run.Spec{Executor: tallyRow.Name, Ranks: 4, CCLTrace: io.Discard}
	for _, c := range []struct {
		name string
		run  func() error
		want []exec.Capability
	}{
		{"probe", func() error { _, err := probe.Run(t.Context(), s); return err }, []exec.Capability{exec.Clock, exec.Trace}},
		{"compare", func() error { _, err := compare.Settings(t.Context(), s, nil); return err }, []exec.Capability{exec.Rings}},
	} {
		missing, ok := errors.AsType[*exec.Missing](c.run())
		if !ok || missing.Executor != tallyRow.Name || !slices.Equal(missing.Capabilities, c.want) {
			t.Errorf("%s: %v, want that %v are missing", c.name, missing, c.want)
		}
	}
	r, err := run.Run(t.Context(), s)
	if err != nil || !slices.Contains(r.Notes, "no CCL trace: the executor tally does not report sends and receives") {
		t.Errorf("notes %q, %v", r.Notes, err)
	}
}

// All cases of the library run whose kernels send and receive by direction. The others say what
// is missing.
func TestThirdExecutorConforms(t *testing.T) {
	c := conformance.Run(t, tallyRow, false)
	t.Logf("%d cases ran, skipped: %v", c.Ran, c.Skipped)
	skipped := 0
	for x, n := range c.Skipped {
		if x != exec.OneSided && x != exec.Rings {
			t.Errorf("%d cases were skipped because the executor lacks %v", n, x)
		}
		skipped += n
	}
	if c.Ran < 50 || c.Skipped[exec.OneSided] < 50 {
		t.Errorf("%d cases ran and %d were skipped: at least 50 each", c.Ran, skipped)
	}
}
