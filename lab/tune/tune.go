// Package tune finds the fastest algorithm of each collective at each size and keeps every measured
// point in a store. It writes the tuning table by which the algorithm auto chooses.
//
// It may import lab/run, lab/sweep, lab/limits, store and packages below them. Start at Spec
// and Run.
package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/store"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec is the range of the search for the fastest algorithm: every combination of topology, number
// of ranks, collective and type.
type Spec struct {
	// Base is the configuration, the seed and the fidelity. Its other fields are not used.
	Base run.Spec

	Topologies  []string // files or presets; nil: that of Base
	Ranks       []int    // nil: all PEs of the machine, or as configured
	Collectives []string
	Algorithms  []string // nil: all of the library that can have these ranks

	Min, Max unit.Bytes // as for PerfSpec
	Factor   int
	Step     unit.Bytes

	Types []dtype.Type // nil: f32
	Op    tl.ReduceOp
	Root  int

	Vary []sweep.Variation // settings that algorithms are tried with, in addition to those that are configured

	// Up to AllTo every algorithm is measured with every setting. Then, up to MeasureTo, the Best
	// algorithms are measured with their Best settings each. Larger sizes are estimated from them.
	Best             int
	AllTo, MeasureTo unit.Bytes
	ForAuto          bool // compare what auto chooses without a table, which the caller finds out: Row.Auto

	Budget int64 // the most events of one simulated point, as the next smaller size predicts; others are estimated

	Program string // fingerprint of what measures: a time that another measured is not taken for one of this
	Command string // that asked, for the record

	Progress func(p run.Progress) // may be nil
}

// Point is one measurement of a sweep.
type Point = store.Point

// Tuned holds what came out of a sweep.
type Tuned struct {
	Run       int64 `json:"run"`
	Points    int   `json:"points"`
	Found     int   `json:"found"`     // points that were in the database
	Simulated int   `json:"simulated"` // runs, each of which may be several points
	Failed    int   `json:"failed"`    // points that did not end
	Estimated int   `json:"estimated"` // points that would have been too large

	Wrong  []string          `json:"wrong"` // algorithms that failed their check, and how
	Notes  []string          `json:"notes"`
	Groups []*Group          `json:"groups"`
	Table  *algorithm.Tuning `json:"-"`

	MadeBy run.MadeBy `json:"made_by"`
}

// Run measures the points that the store does not have yet, and stores each as soon as it is
// measured. open is called once, after the spec has been checked, so a wrong spec makes no file.
// The error is a mistake in the spec, or the interruption by ctx. An interrupted Run returns the
// points that it finished.
func Run(ctx context.Context, s Spec, open func() (*store.Store, error)) (*Tuned, error) {
	t := &tuner{spec: &s, reported: map[string]bool{}, out: &Tuned{
		Wrong: []string{}, Notes: []string{}, Groups: []*Group{}, MadeBy: run.NewMadeBy(s.Command),
	}}
	if err := t.plan(ctx); err != nil {
		return nil, err
	}
	st, err := open()
	if err != nil {
		return nil, err
	}
	t.store = st
	if t.out.Run, err = st.Begin(store.Run{Started: time.Now(), Command: s.Command, Program: s.Program}); err != nil {
		return nil, err
	}
	for _, g := range t.groups {
		if err := t.sweep(ctx, g); err != nil {
			return t.out, errors.Join(err, t.conclude())
		}
	}
	if err := t.conclude(); err != nil {
		return t.out, err
	}
	return t.out, st.Finish(t.out.Run, time.Now())
}

// conclude interprets the points of this run.
func (t *tuner) conclude() error {
	points, err := t.store.Points(t.out.Run)
	if err != nil {
		return err
	}
	t.out.Groups = groupsOf(points)
	t.out.Table = tuningOf(t.out.Groups)
	return nil
}

func (t *tuner) note(format string, args ...any) {
	t.out.Notes = append(t.out.Notes, fmt.Sprintf(format, args...))
}

// check finds what is wrong with a spec before anything is measured.
func (s *Spec) check() error {
	switch {
	case s.Best < 1:
		return fmt.Errorf("the best %d algorithms are to be measured; at least 1 is needed", s.Best)
	case s.Budget < 1:
		return fmt.Errorf("a budget of %d events: at least 1 is needed", s.Budget)
	case len(s.Collectives) == 0:
		return errors.New("nothing to tune: name a collective")
	}
	seen := map[string]bool{}
	for _, v := range s.Vary {
		if strings.Contains(v.Key, ".") {
			return fmt.Errorf("key %s: tune varies settings of algorithms, such as n_slots; another machine is another table: use --set, or several topologies",
				v.Key)
		}
		if seen[v.Key] {
			return fmt.Errorf("key %s is varied twice: give all its values in one list", v.Key)
		}
		seen[v.Key] = true
	}
	return nil
}

// DefaultVary returns the settings that a sweep tries by default. A setting is tried only with
// algorithms to which it makes a difference.
func DefaultVary() []sweep.Variation {
	return []sweep.Variation{
		{Key: "n_slots", Values: []string{"4", "8", "16"}},
		{Key: "slot_size", Values: []string{"4KiB", "32KiB", "256KiB"}},
		{Key: "chunk_size", Values: []string{"auto", "32KiB", "256KiB"}},
		{Key: "protocol", Values: []string{"simple", "ll", "ll128"}},
	}
}
