package selfbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"kernbench/conf"
	"kernbench/lab/run"
)

// Spec is the measurement to make.
type Spec struct {
	Only    []string // names of rows, or patterns of them as path.Match has it; all
	Short   bool     // small sizes, which take seconds and have no targets
	Runs    int
	Limit   time.Duration // of one row, all its runs together
	Program string        // path of kernbench; default: that of this process

	Version  string         // of kernbench, for the table
	Command  string         // of the measurement, for the table
	Progress func(Progress) // gets the progress
}

// Progress is the progress of a measurement.
type Progress struct {
	Name        string // of the row
	Done, Total int
}

// meter measures rows.
type meter struct {
	program string
	dir     string // for files of commands; empty at the beginning of each run
}

// work is a row to be measured.
type work struct {
	name, what string
	command    []string // arguments of kernbench, where one command is all that is timed
	inside     bool     // measured in this process
	figures    []Figure // without values
	run        func(ctx context.Context, m *meter) (values []float64, o *Outcome, err error)
}

// Names lists all rows.
func Names(short bool) []Row {
	var rows []Row
	for _, w := range works(short) {
		rows = append(rows, w.row())
	}
	return rows
}

func (w *work) row() Row {
	r := Row{Name: w.name, Work: w.what, Figures: slices.Clone(w.figures)}
	for i := range r.Figures {
		r.Figures[i].Values = []float64{}
	}
	if w.command != nil {
		r.Command = commandLine(w.command)
	}
	return r
}

// Measure measures rows, one after the other. When ctx ends, the table has those that are finished.
func Measure(ctx context.Context, s Spec) (*Table, error) {
	all, err := chosen(s)
	if err != nil {
		return nil, err
	}
	if s.Runs < 1 || s.Limit <= 0 {
		return nil, errNoTime(&s)
	}
	m := &meter{program: s.Program}
	if m.program == "" {
		if m.program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("which program to measure: %w", err)
		}
	}
	if m.dir, err = os.MkdirTemp("", "kernbench-bench-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(m.dir)
	t := &Table{Origin: s.origin(), Command: s.Command, MadeBy: s.madeBy(), Runs: s.Runs}
	rows := make([]*Row, len(all))
	// Commands first: a process inherits the peak of memory of the process that starts it.
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return later(all[a]) - later(all[b]) })
	for done, i := range order {
		tell := func() {
			if s.Progress != nil {
				s.Progress(Progress{all[i].name, done, len(all)})
			}
		}
		if rows[i], err = m.measure(ctx, all[i], &s, tell); err != nil {
			break
		}
	}
	for _, r := range rows {
		if r != nil {
			t.Rows = append(t.Rows, *r)
		}
	}
	return t, err
}

func (s *Spec) origin() Origin {
	return Origin{s.Version, thisMachine(), time.Now().UTC().Truncate(time.Second)}
}

// madeBy returns the origin of the figures. They depend on the computer, not on a simulated
// machine.
func (s *Spec) madeBy() run.MadeBy {
	m := thisMachine()
	return run.NewMadeBy(s.Command, m.fingerprint())
}

func errNoTime(s *Spec) error {
	return fmt.Errorf("found runs %d and limit %v, want at least one run and a limit above 0", s.Runs, s.Limit)
}

func later(w *work) int {
	if w.inside {
		return 1
	}
	return 0
}

// chosen returns the selected rows, in the order of the table.
func chosen(s Spec) ([]*work, error) {
	all := works(s.Short)
	if len(s.Only) == 0 {
		return all, nil
	}
	var names []string
	for _, w := range all {
		names = append(names, w.name)
	}
	wanted := map[string]bool{}
	for _, pattern := range s.Only {
		some, err := matching("row", pattern, names, "kernbench selfbench --list")
		if err != nil {
			return nil, err
		}
		for _, name := range some {
			wanted[name] = true
		}
	}
	return slices.DeleteFunc(all, func(w *work) bool { return !wanted[w.name] }), nil
}

// matching returns the names that match a pattern.
func matching(what, pattern string, names []string, list string) ([]string, error) {
	var some []string
	for _, name := range names {
		ok, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		if ok {
			some = append(some, name)
		}
	}
	if len(some) > 0 {
		return some, nil
	}
	if near := conf.Nearest(pattern, names); near != "" {
		return nil, fmt.Errorf("no %s is called %q; did you mean %q?", what, pattern, near)
	}
	if strings.ContainsAny(pattern, `*?[\`) {
		return nil, fmt.Errorf("no %s has a name like %q: %s shows all", what, pattern, list)
	}
	return nil, fmt.Errorf("no %s is called %q: %s shows all, and %q selects all names that begin so", what, pattern, list, pattern+"*")
}

// measure measures one row. The error is that of ctx.
func (m *meter) measure(ctx context.Context, w *work, s *Spec, tell func()) (*Row, error) {
	inner, stop := context.WithTimeout(ctx, s.Limit)
	defer stop()
	r := w.row()
	for range s.Runs {
		tell()
		values, o, err := w.run(inner, m)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case inner.Err() != nil && errors.Is(err, context.DeadlineExceeded):
			r.Note = fmt.Sprintf("%d of %d runs ended within %v", r.Runs, s.Runs, s.Limit)
			return &r, nil
		case err != nil:
			r.Note, r.Err = err.Error(), err
			return &r, nil
		}
		r.Runs++
		for i := range r.Figures {
			r.Figures[i].add(values[i])
		}
		if o != nil && r.Outcome != nil && *o != *r.Outcome {
			r.Note = fmt.Sprintf("runs of one command differ in what they simulate: %+v and %+v", *r.Outcome, *o)
			r.Err = errors.New(r.Note)
		}
		r.Outcome = o
	}
	return &r, nil
}
