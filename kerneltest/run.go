package kerneltest

import (
	"cmp"
	"fmt"
	"strings"

	"kernbench/check/race"
	"kernbench/check/verify"
	"kernbench/collective"
	"kernbench/exec"
	"kernbench/tl"
)

// TB is the part of testing.TB that the harnesses need.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Run performs a kernel on the executors, in each of the schedules that cfg requests, and judges
// every one. It judges faults, deadlocks and races, and the values and the provenance that
// cfg.Collective demands. A failure ends the test, with the fields of Config that repeat it. Run
// returns the contents of the ranks' shards, or of their results, after the first schedule.
//
// A kernel runs many times, so it must not change state outside of itself.
func Run(t TB, k tl.Kernel, cfg Config) [][]float64 {
	t.Helper()
	out, err := Check(k, cfg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return out
}

// Wrong is the error of a schedule that failed.
type Wrong struct {
	Executor string
	Seed     uint64 // number of the random schedule; 0: the executor's own
	Err      error
}

func (w *Wrong) Unwrap() error { return w.Err }

func (w *Wrong) Error() string {
	which := "its own schedule"
	if w.Seed > 0 {
		which = fmt.Sprintf("schedule %d", w.Seed)
	}
	fields := fmt.Sprintf("Executors: []string{%q}", w.Executor)
	if w.Seed > 0 {
		fields += fmt.Sprintf(", Seed: %d", w.Seed)
	}
	return fmt.Sprintf("on %s, %s: %v\nthe fields of Config for this schedule alone: %s", w.Executor, which, w.Err, fields)
}

// Check is Run for tests that expect a failure, which is a *Wrong. Other errors are mistakes in
// cfg.
func Check(k tl.Kernel, cfg Config) ([][]float64, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	what, err := cfg.collective()
	switch {
	case err != nil:
		return nil, err
	case cfg.Collective == "":
		var names []string
		for _, c := range collective.All() {
			names = append(names, c.Name)
		}
		return nil, fmt.Errorf("kerneltest: found no Config.Collective, want one of %s, or kerneltest.None",
			strings.Join(names, ", "))
	}
	rows, err := cfg.executors()
	if err != nil {
		return nil, err
	}
	var first *Outcome
	for _, row := range rows {
		seeds := cfg.seeds(row)
		for i := 0; i < len(seeds); i++ {
			one := cfg
			one.Executors, one.Seed = []string{row.Name}, seeds[i]
			o, atomics, err := one.judge(k, what, first)
			if err != nil {
				return nil, &Wrong{Executor: row.Name, Seed: seeds[i], Err: err}
			}
			first = cmp.Or(first, o)
			if atomics && cfg.Seed == 0 && row.Can(exec.Schedules) {
				for len(seeds) <= race.MoreSchedules {
					seeds = append(seeds, uint64(len(seeds)))
				}
			}
		}
	}
	return first.Outputs, nil
}

// executors returns the executors that cfg names. If it names none, they are kernbench's own two.
func (cfg *Config) executors() ([]*exec.Row, error) {
	if len(cfg.Executors) == 0 {
		return []*exec.Row{exec.Default(exec.Checking), exec.Default(exec.Timing)}, nil
	}
	var rows []*exec.Row
	for _, name := range cfg.Executors {
		row, err := exec.Lookup(name)
		if err == nil {
			err = row.Needs(exec.Data, exec.Account)
		}
		if err != nil {
			return nil, fmt.Errorf("kerneltest: %w", err)
		}
		rows = append(rows, row)
	}
	return rows, nil
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

// judge performs one schedule and returns its failure, and whether it has atomics. First is the
// outcome of another schedule, or nil.
func (cfg *Config) judge(k tl.Kernel, what *collective.Collective, first *Outcome) (o *Outcome, atomics bool, err error) {
	o, rep, err := observeRaces(k, *cfg)
	if err == nil {
		err = cfg.wrong(what, o, rep, first)
	}
	return o, rep.Atomics, err
}

// wrong returns the failure of a schedule that ended, or nil.
func (cfg *Config) wrong(what *collective.Collective, o *Outcome, rep *race.Report, first *Outcome) error {
	switch {
	case rep.Total > 0:
		var text strings.Builder
		for i := range rep.Hazards {
			text.WriteString("\n" + rep.Hazards[i].String())
		}
		return fmt.Errorf("%d hazards:%s", rep.Total, text.String())
	case rep.Unsettled:
		return fmt.Errorf("no hazards found, but the judgement is incomplete: in each run the notifications come in another order")
	case what != nil:
		return cfg.verify(what, o)
	case first != nil && rep.Class != race.Scheduled:
		return same(first.Outputs, o.Outputs)
	}
	return nil
}

// verify compares the outcome of a schedule with that of its collective.
func (cfg *Config) verify(what *collective.Collective, o *Outcome) error {
	call, size := cfg.call(what), cfg.DType.Size()
	in := verify.Input{
		Collective: what, Hasher: o.Hasher, Call: call,
		In:        func(rank int) []byte { return o.In[rank][:what.In(call, rank)*size] },
		Out:       func(rank int) []byte { return o.Out[rank][:what.Out(call, rank)*size] },
		Prov:      func(rank int) collective.Prov { return collective.Slice(nil, o.Prov[rank], 0, what.Out(call, rank)) },
		Operation: o.Operation, Overflow: o.Overflow,
	}
	if cfg.Idempotent {
		in.Prov, in.NotApplicable = nil, "contributions may count twice"
	}
	v, err := verify.Check(in)
	if err != nil {
		return err
	}
	if v.OK() && v.Values.Status == verify.OK && (cfg.Idempotent || v.Provenance.Status == verify.OK) {
		return nil
	}
	text := fmt.Sprintf("the results are not those of %s\n  provenance %v\n  values %v", what.Name, v.Provenance, v.Values)
	for _, f := range v.Failures {
		text += "\n  " + f.String()
	}
	return fmt.Errorf("%s", text)
}

// same compares the outputs of two schedules of a kernel whose outcome depends on no schedule.
func same(first, second [][]float64) error {
	for r := range first {
		for i, want := range first[r] {
			if got := second[r][i]; got != want && (got == got || want == want) {
				return fmt.Errorf("rank %d element %d is %v, and %v in the first schedule", r, i, got, want)
			}
		}
	}
	return nil
}
