package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"kernbench/report"

	"github.com/spf13/pflag"
)

// ncclFlags are flags of nccl-tests that set the number of ranks here, or that have another name
// here.
type ncclFlags struct {
	gpus, threads, graph int
	json                 string
}

func (n *ncclFlags) add(f *pflag.FlagSet) {
	f.VarP((*count)(&n.gpus), "ngpus", "g", "ranks per thread, as in nccl-tests: --ranks is -t times -g")
	f.VarP((*count)(&n.threads), "nthreads", "t", "number of threads, each with -g ranks")
	f.IntVarP(&n.graph, "cudagraph", "G", 0, "`N` graph launches; kernbench does not simulate them, so only 0 is accepted")
	f.StringVarP(&n.json, "output_file", "J", "", "also write the results to `FILE`, as JSON of nccl-tests")
	for _, name := range []string{"ngpus", "nthreads", "cudagraph"} {
		f.Lookup(name).Hidden = true
	}
}

// apply turns the flags into ranks. Its error names the flag to use.
func (n *ncclFlags) apply(f *pflag.FlagSet, ranks *int) error {
	switch {
	case n.graph != 0:
		return fmt.Errorf("-G %d: graph launches are not simulated: leave -G out, and set the launch time by software.launch_ns (kernbench schema topology)",
			n.graph)
	case n.gpus == 0 && n.threads == 0:
		return nil
	case f.Changed("ranks"):
		return errors.New("--ranks, and -g with -t: both give the number of ranks: leave one out")
	}
	*ranks = max(1, n.gpus) * max(1, n.threads)
	return nil
}

// writer writes the file of -J.
func (n *ncclFlags) writer(w io.Writer, args []string) *report.PerfNCCL {
	return &report.PerfNCCL{W: w, Args: args, Threads: n.threads, GPUs: n.gpus, Now: time.Now}
}

// checks is nccl-tests' number of checked iterations. Any number but 0 enables checking.
type checks bool

func (c *checks) Type() string { return "N" }

func (c *checks) String() string {
	if *c {
		return "1"
	}
	return "0"
}

func (c *checks) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return fmt.Errorf("found %q, want 0 or the number of iterations to check", s)
	}
	*c = n > 0
	return nil
}
