package lab

import (
	"context"
	"fmt"

	"kernbench/device"
)

// CompareRow is one way to set the rings, and the run that it gave.
type CompareRow struct {
	BufferKind   string  `json:"buffer_kind"`
	Backpressure string  `json:"backpressure"`
	Result       *Result `json:"result,omitempty"`
	Error        string  `json:"error,omitempty"` // what kept this run from its end
	Err          error   `json:"-"`               // the same as a type
}

// The settings that Compare combines.
var (
	bufferKinds   = []string{"tcm", "sram", "hbm"}
	backpressures = []string{"sleep", "poll"}
)

// Compare runs a spec with every buffer_kind × backpressure, and hands out the rows as they
// come. The error is a mistake in the spec; a run that fails is a row.
func Compare(ctx context.Context, s Spec, row func(CompareRow)) ([]CompareRow, error) {
	x, err := load(s)
	if err != nil {
		return nil, err
	}
	if !x.program.Collectives {
		return nil, fmt.Errorf("bench %s uses no rings: there is nothing to compare", x.program.Name)
	}
	name := x.Algorithm
	if name == "" {
		name = x.program.Algorithm
	}
	choice, err := device.ResolveAlgorithm(x.ccl, name)
	if err != nil {
		return nil, err
	}
	if choice.Algorithm.Window != nil {
		return nil, fmt.Errorf("algorithm %s works on a symmetric window and uses no rings: there is nothing to compare", choice.Config.Name)
	}
	var rows []CompareRow
	for _, kind := range bufferKinds {
		for _, pressure := range backpressures {
			if s.Progress != nil {
				s.Progress(Progress{Phase: "compare", Done: int64(len(rows)), Total: int64(len(bufferKinds) * len(backpressures))})
			}
			one := s
			// For the entry itself: what it has of its own beats the defaults.
			one.Sets = append(s.Sets[:len(s.Sets):len(s.Sets)],
				fmt.Sprintf("algorithms.%s.buffer_kind=%s", choice.Config.Name, kind),
				fmt.Sprintf("algorithms.%s.backpressure=%s", choice.Config.Name, pressure))
			one.Progress = nil
			r := CompareRow{BufferKind: kind, Backpressure: pressure}
			if r.Result, r.Err = Run(ctx, one); r.Err != nil {
				r.Error = r.Err.Error()
			}
			if ctx.Err() != nil {
				return rows, ctx.Err()
			}
			rows = append(rows, r)
			if row != nil {
				row(r)
			}
		}
	}
	return rows, nil
}
