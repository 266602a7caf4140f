package explain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"kernbench/unit"
)

// Comparison is two runs side by side.
type Comparison struct {
	Before  Side    `json:"before"`
	After   Side    `json:"after"`
	Change  int64   `json:"change_ps"` // of the time with launches; more is slower
	Percent float64 `json:"change_percent"`

	Reasons   []Delta `json:"reasons"`
	Lines     []Delta `json:"lines"`
	Steps     []Delta `json:"steps,omitempty"` // nil: a file of the two has none
	Classes   []Delta `json:"resource_classes"`
	Resources []Delta `json:"resources"`

	Notes []string `json:"notes"`

	Tolerance *float64 `json:"tolerance_percent,omitempty"`
	Slower    bool     `json:"slower"` // than before, by more than the tolerance
}

// Side describes one of two runs.
type Side struct {
	Name          string    `json:"name"` // a file, or flags
	Algorithm     string    `json:"algorithm,omitempty"`
	WorldSize     int       `json:"world_size"`
	SimulatedTime unit.Time `json:"simulated_time_ps"`
	Launch        unit.Time `json:"launch_overhead_ps"`
}

// Delta is the time of a reason, line, step or resource on the critical paths of two runs. It is 0
// on a path without it.
type Delta struct {
	Name   string    `json:"name"`
	Before unit.Time `json:"before_ps"`
	After  unit.Time `json:"after_ps"`
	Change int64     `json:"change_ps"`
}

// Compare returns the difference of a run to an earlier one. With a tolerance, in percent, it also
// returns whether the run is slower by more than that.
func Compare(before, after *Report, names [2]string, tolerance *float64) *Comparison {
	side := func(r *Report, name string) Side {
		return Side{name, r.Algorithm, r.WorldSize, r.SimulatedTime, r.Launch}
	}
	c := &Comparison{
		Before: side(before, names[0]), After: side(after, names[1]), Change: int64(after.Time() - before.Time()),
		Reasons: deltas(before.Reasons, after.Reasons), Lines: deltas(before.Lines, after.Lines),
		Classes: deltas(before.Classes, after.Classes), Resources: deltas(before.Resources, after.Resources),
		Notes: []string{}, Tolerance: tolerance,
	}
	if before.Steps != nil && after.Steps != nil {
		c.Steps = deltas(before.Steps, after.Steps)
	}
	for i, r := range [...]*Report{before, after} {
		if r.Steps == nil {
			c.Notes = append(c.Notes, fmt.Sprintf("no table of steps: %s is of an earlier version and has none", names[i]))
		}
	}
	if before.Time() > 0 {
		c.Percent = 100 * float64(c.Change) / float64(before.Time())
	}
	c.Slower = tolerance != nil && (c.Percent > *tolerance || before.Time() == 0 && c.Change > 0)
	return c
}

// deltas compares the shares of two runs. The largest change comes first. Equal ones keep the order
// of the shares.
func deltas(before, after []Share) []Delta {
	at := map[string]*Delta{}
	var names []string
	of := func(name string) *Delta {
		if at[name] == nil {
			at[name] = &Delta{Name: name}
			names = append(names, name)
		}
		return at[name]
	}
	for _, s := range before {
		of(s.Name).Before = s.Time
	}
	for _, s := range after {
		of(s.Name).After = s.Time
	}
	all := make([]Delta, 0, len(names))
	for _, n := range names {
		d := *at[n]
		d.Change = int64(d.After - d.Before)
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b Delta) int {
		return cmp.Compare(max(b.Change, -b.Change), max(a.Change, -a.Change))
	})
	return all
}

// Parse reads a report that was written as JSON.
func Parse(data []byte) (*Report, error) {
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, errors.New("not a report; want a file from kernbench explain --format json")
	}
	if r.Bench == "" || r.Reasons == nil || r.Blames == nil {
		return nil, errors.New("not the JSON of kernbench explain: bench, reasons or blames are missing")
	}
	if err := checkSum("reasons", r.Reasons, r.Explained); err != nil {
		return nil, err
	}
	if r.Steps != nil {
		if err := checkSum("steps", r.Steps, r.Explained); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkSum returns an error if shares of a file do not add up to the time that is explained.
func checkSum(what string, all []Share, explained unit.Time) error {
	sum := unit.Time(0)
	for _, s := range all {
		if s.Time < 0 || s.Time > explained-sum {
			return fmt.Errorf("the %s take more than explained_ps, %d", what, int64(explained))
		}
		sum += s.Time
	}
	if sum != explained {
		return fmt.Errorf("the %s take %d ps, explained_ps is %d", what, int64(sum), int64(explained))
	}
	return nil
}
