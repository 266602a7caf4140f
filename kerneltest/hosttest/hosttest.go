package hosttest

import (
	"context"
	"fmt"
	"strings"

	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/kerneltest"
	"kernbench/lab/run"
	"kernbench/tl"
)

// Config describes runs of a host program. Zero fields take the values named next to them.
type Config struct {
	Topology string   // file or preset of the machine: 32 PEs in four cubes
	CCL      string   // file: the built-in ccl.yaml
	Sets     []string // KEY=VALUE over either file: none

	Algorithm string            // algorithm of collectives: the program's
	Ranks     int               // PEs that take part: as set by the program
	NElem     int               // elements of each rank: as set by the program
	DType     dtype.Type        // as set by the program
	Op        tl.ReduceOp       // Sum
	Input     string            // contributions of ranks, as for --input: as set by the program
	Options   map[string]string // of the program, by name

	Executors []string // by name: mock and sim
	Schedules int      // random schedules to perform besides the executor's own, on each executor: none
	Seed      uint64   // the only schedule to perform; 0: those of Schedules
}

// small is the machine of a Config that names none.
var small = []string{"system.sips.count=1", "sip.cube_mesh.w=2", "sip.cube_mesh.h=2"}

// Run performs a host program on the executors, in each of the schedules that cfg requests, and
// judges every one. It judges faults and deadlocks, races, and the program's own comparisons
// (bench.Host.Expect). It judges the results of collectives by value and provenance. A failure
// ends the test, with the fields of Config that repeat it. The program need not be registered.
func Run(t kerneltest.TB, p bench.Program, cfg Config) {
	t.Helper()
	if err := Check(p, cfg); err != nil {
		t.Fatalf("%v", err)
	}
}

// Check is Run for tests that expect a failure, which is a *kerneltest.Wrong. Other errors are
// mistakes in cfg.
func Check(p bench.Program, cfg Config) error {
	names := cfg.Executors
	if len(names) == 0 {
		names = []string{exec.Default(exec.Checking).Name, exec.Default(exec.Timing).Name}
	}
	for _, name := range names {
		row, err := exec.Lookup(name)
		if err == nil {
			err = row.Needs(exec.Data, exec.Account)
		}
		if err != nil {
			return fmt.Errorf("hosttest: %w", err)
		}
		for _, seed := range cfg.seeds(row) {
			if err := cfg.one(p, name, seed); err != nil {
				return &kerneltest.Wrong{Executor: name, Seed: seed, Err: err}
			}
		}
	}
	return nil
}

// seeds returns the schedules to perform on an executor.
func (cfg *Config) seeds(row *exec.Row) []uint64 {
	if cfg.Seed > 0 {
		return []uint64{cfg.Seed}
	}
	seeds := []uint64{0}
	for i := range uint64(cfg.Schedules) {
		if row.Can(exec.Schedules) {
			seeds = append(seeds, i+1)
		}
	}
	return seeds
}

// one performs a schedule and returns its failure.
func (cfg *Config) one(p bench.Program, executor string, seed uint64) error {
	race := true
	s := run.Spec{
		HostProgram: &p, Topology: cfg.Topology, CCL: cfg.CCL, Sets: cfg.Sets,
		Algorithm: cfg.Algorithm, Ranks: cfg.Ranks, NElem: cfg.NElem, DType: cfg.DType, Op: cfg.Op, Input: cfg.Input,
		Options: cfg.Options, Executor: executor, Schedule: seed, VerifyData: true, Race: &race,
	}
	if cfg.Topology == "" {
		s.Sets = append(small[:len(small):len(small)], cfg.Sets...)
	}
	r, err := run.Run(context.Background(), s)
	if err != nil {
		return err
	}
	var wrong, texts []string
	checked := false
	for _, v := range r.Verdicts {
		switch {
		case v.State == run.Failed, v.Question == "race" && v.State != run.Checked:
			wrong = append(wrong, v.String())
		}
		checked = checked || v.Question == "values" && v.State == run.Checked
	}
	for _, f := range r.Failures {
		texts = append(texts, f.String())
	}
	for i := range r.Hazards {
		texts = append(texts, r.Hazards[i].String())
	}
	switch {
	case len(wrong) > 0 || !r.OK():
		return fmt.Errorf("%s", strings.Join(append(wrong, texts...), "\n  "))
	case !checked:
		return fmt.Errorf("no values were checked: let the program call collectives, or compare results by Host.Expect")
	}
	return nil
}
