// Package compare runs one spec with several algorithms, or with each memory for ring slots and
// each backpressure. It returns the results together.
//
// It may import lab/limits, lab/run and packages below them. Start at Algorithms and Settings.
package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/device"
	"kernbench/exec"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Row is one of the compared runs: an algorithm, or a setting of the rings.
type Row struct {
	Algorithm    string      `json:"algorithm,omitempty"`
	BufferKind   string      `json:"buffer_kind,omitempty"`
	Backpressure string      `json:"backpressure,omitempty"`
	Result       *run.Result `json:"result,omitempty"`
	Program      *Program    `json:"program,omitempty"`           // instead of Result: a program of another tool
	Elems        int         `json:"elements_per_rank,omitempty"` // if several numbers are compared
	Bound        unit.Time   `json:"hardware_bound_ps,omitempty"` // the hardware bound of any algorithm, if Bound has found it
	Error        string      `json:"error,omitempty"`             // why this run did not end
	Err          error       `json:"-"`                           // the same as a type
}

// Program is a call of a program of another tool, which no bench runs.
type Program struct {
	Bytes   unit.Bytes `json:"bytes"`             // of the larger of a rank's input and output
	Time    unit.Time  `json:"simulated_time_ps"` // without its start in software
	AlgBW   float64    `json:"algbw_gbs"`
	BusBW   float64    `json:"busbw_gbs"`
	Verdict string     `json:"verdict"`
	OK      bool       `json:"ok"`
}

// The settings that Settings combines.
var (
	bufferKinds   = []string{"tcm", "sram", "hbm"}
	backpressures = []string{"sleep", "poll"}
)

// Settings runs a spec with every buffer_kind × backpressure, and hands out the rows as they
// come. The error is a mistake in the spec; a run that fails is a row.
func Settings(ctx context.Context, s run.Spec, row func(Row)) ([]Row, error) {
	x, err := run.Load(s)
	if err != nil {
		return nil, err
	}
	if !x.BenchProgram().Collectives {
		return nil, fmt.Errorf("bench %s uses no rings: there is nothing to compare", x.BenchProgram().Name)
	}
	if err := x.Row().Needs(exec.Rings); err != nil {
		return nil, fmt.Errorf("nothing to compare: %w", err)
	}
	name := x.Algorithm
	if name == "" {
		name = x.BenchProgram().Algorithm
	}
	resolved, err := device.ResolveAlgorithm(x.Entries, name)
	if err != nil {
		return nil, err
	}
	name = resolved.Config.Name
	if resolved.Algorithm.Window != nil {
		return nil,
			fmt.Errorf("algorithm %s works on a symmetric window and uses no rings: compare it with another algorithm: kernbench compare %[1]s OTHER",
				name)
	}
	var rows []Row
	var specs []run.Spec
	for _, kind := range bufferKinds {
		for _, pressure := range backpressures {
			one := s
			// Settings go into the entry itself, because its own values override the defaults.
			one.Sets = append(s.Sets[:len(s.Sets):len(s.Sets)],
				fmt.Sprintf("algorithms.%s.buffer_kind=%s", name, kind),
				fmt.Sprintf("algorithms.%s.backpressure=%s", name, pressure))
			rows, specs = append(rows, Row{BufferKind: kind, Backpressure: pressure}), append(specs, one)
		}
	}
	return compare(ctx, s, rows, specs, row)
}

// Algorithms runs a spec with each of several algorithms of one collective, as Settings
// does with several settings of one.
func Algorithms(ctx context.Context, s run.Spec, names []string, row func(Row)) ([]Row, error) {
	switch {
	case s.Algorithm != "":
		return nil, fmt.Errorf("algorithm %s, and a list of algorithms to compare: give one of the two",
			s.Algorithm)
	case len(names) == 0:
		return nil, errors.New("name algorithms")
	}
	s.Algorithm = names[0]
	x, err := run.Load(s) // the program is the same for all
	if err != nil {
		return nil, err
	}
	var rows []Row
	var specs []run.Spec
	var first *device.ResolvedAlgorithm
	for _, name := range names {
		resolved, err := device.ResolveAlgorithm(x.Entries, name)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = resolved
		}
		if a, b := first.Algorithm, resolved.Algorithm; a.Collective != b.Collective {
			return nil, fmt.Errorf("%s performs %s and %s %s: only algorithms of one collective can be compared", names[0],
				a.Collective, name, b.Collective)
		}
		one := s
		one.Bench, one.Algorithm = x.BenchProgram().Name, name
		rows, specs = append(rows, Row{Algorithm: name}), append(specs, one)
	}
	return compare(ctx, s, rows, specs, row)
}

// compare runs specs one by one and completes their rows.
func compare(ctx context.Context, s run.Spec, rows []Row, specs []run.Spec, row func(Row)) ([]Row, error) {
	for i := range rows {
		if s.Progress != nil {
			s.Progress(run.Progress{Phase: "compare", Done: int64(i), Total: int64(len(rows))})
		}
		specs[i].Progress = nil
		r := &rows[i]
		if r.Result, r.Err = run.Run(ctx, specs[i]); r.Err != nil {
			r.Error = r.Err.Error()
		}
		if ctx.Err() != nil {
			return rows[:i], ctx.Err()
		}
		if row != nil {
			row(*r)
		}
	}
	return rows, nil
}

// Over compares at several numbers of elements per rank in turn, or at the spec's own.
func Over(ctx context.Context, s run.Spec, elems []int, each func(context.Context, run.Spec) ([]Row, error)) ([]Row, error) {
	switch len(elems) {
	case 0:
		return each(ctx, s)
	case 1:
		s.NElem = elems[0]
		return each(ctx, s)
	}
	var all []Row
	for i, n := range elems {
		if slices.Contains(elems[:i], n) {
			return nil, fmt.Errorf("%d elements are in the list twice", n)
		}
	}
	for _, n := range elems {
		s.NElem = n
		rows, err := each(ctx, s)
		for i := range rows {
			rows[i].Elems = n
		}
		if all = append(all, rows...); err != nil {
			return all, err
		}
	}
	return all, nil
}
