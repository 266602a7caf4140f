package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/lab/tune"
	"kernbench/lab/view"
	"kernbench/machine"
	"kernbench/report"
	"kernbench/store"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/spf13/cobra"
)

// defaultDB is the file of results if no other is named.
const defaultDB = "kernbench.db"

func (a *app) tuneCommand() *cobra.Command {
	spec := tune.Spec{
		Min: 64, Max: 64 * unit.MiB, Factor: 4, Best: 3, AllTo: 4 * unit.MiB, MeasureTo: 64 * unit.MiB, Budget: 50_000_000,
	}
	sweep := perf.Spec{Min: spec.Min, Max: spec.Max, Factor: spec.Factor}
	var db, table, format string
	var root int
	var prof profiles
	var shown pageFlags
	cmd := &cobra.Command{
		Use:   "tune COLLECTIVE...",
		Short: "Find the fastest algorithm and settings for each size",
		Long: `Time algorithms with several settings at every size from -b to -e, on each topology and number of
ranks. Print the fastest at each size. Each point goes to a database as soon as it is measured, and
the same command continues an interrupted sweep. --table writes a table for the algorithm auto.
kernbench results prints the points again.

Every algorithm is checked by provenance and by value before it is timed; a wrong one is excluded.
All algorithms are measured up to --all-to, and the --best of them up to --measure-to. Larger sizes,
and points that need more than --budget events, are estimated from smaller sizes and marked ~.
` + exitCodes,
		Example: `  kernbench tune all_reduce --ranks 8 --table tuned.yaml
  kernbench run --algorithm auto --ranks 8 --tuning tuned.yaml
  kernbench tune all_reduce all_gather --topology ahbm,dgx-h100 --ranks 8 -b 1K -e 64M
  kernbench results best --format markdown`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: name a collective (kernbench list collectives)", verbOf(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rejectToolPrograms("perf COLLECTIVE --algorithm %s,NAME,... compares it with others; it has no settings to tune, and auto runs algorithms of the library only",
				slices.Concat(args, spec.Algorithms)...); err != nil {
				return err
			}
			spec.Collectives = args
			if cmd.Flags().Changed("stepbytes") && !cmd.Flags().Changed("stepfactor") {
				sweep.Factor = 0
			}
			spec.Min, spec.Max, spec.Factor, spec.Step, spec.Types = sweep.Min, sweep.Max, sweep.Factor, sweep.Step, sweep.Types
			spec.Root = root
			if spec.Vary == nil {
				spec.Vary = tune.DefaultVary()
			}
			spec.Command = a.commandLine()
			return a.profiled(&prof, func() error { return a.tune(cmd.Context(), spec, db, table, format, &shown) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	sizeFlags(f, &sweep)
	f.Var(&parsed[tl.ReduceOp]{to: &spec.Op, parse: tl.ParseReduceOp, kind: "OP"}, "op",
		"reduction: "+join(tl.ReduceOps())+" (default sum)")
	f.VarP(&rankFlag{&root}, "root", "r", "`RANK` of the root, for rooted collectives")
	f.Var(&listed[string]{to: &spec.Topologies, all: func() { spec.Topologies = presets() }, parse: anyName,
		kind: "NAME,...|all"}, "topology", "machines: topology.yaml files or presets (kernbench list presets), or all presets")
	f.Var((*rankList)(&spec.Ranks), "ranks",
		"numbers of ranks, on the first PEs of the machine (default: from ccl.yaml, else all PEs)")
	f.StringVar(&spec.Base.CCL, "ccl", "", "settings of algorithms: a ccl.yaml `FILE` that overrides the built-in one")
	setFlags(f, &spec.Base.Sets, "a key of topology.yaml or ccl.yaml")
	fidelityFlag(f, &spec.Base)
	limitFlags(f, &spec.Base.Limits)
	f.Var(&listed[string]{to: &spec.Algorithms, all: func() { spec.Algorithms = nil }, parse: anyName,
		kind: "NAME,...|all"}, "algorithm", "algorithms or entries of ccl.yaml (default all that support the ranks)")
	f.Var((*variations)(&spec.Vary), "vary",
		"`KEY=V1,V2,...` also times algorithms with each value of a setting (repeatable; default "+varyText(tune.DefaultVary())+")")
	f.IntVar(&spec.Best, "best", spec.Best, "above --all-to, measure only the `N` best algorithms, each with its N best settings")
	f.Var(&size{&spec.AllTo}, "all-to", "largest size at which every algorithm is measured")
	f.Var(&size{&spec.MeasureTo}, "measure-to", "largest size that is measured")
	f.Var((*millions)(&spec.Budget), "budget", "limit on the events of one point, estimated from the next smaller size")
	f.BoolVar(&spec.ForAuto, "regret", false,
		"print what the algorithm auto without a table loses against the best at each size")
	f.StringVar(&db, "db", defaultDB, "`FILE` of the database")
	f.StringVar(&table, "table", "", "write the tuning table to `FILE`, for --tuning of run and perf")
	shown.add(f)
	f.Var(newWord(&format, "text", "FORMAT", "text", "json", "csv", "markdown"), "format", "text, json, csv or markdown")
	prof.add(f)
	return cmd
}

// presets lists the machines that come with the program.
func presets() []string {
	var names []string
	for _, p := range machine.Presets() {
		names = append(names, p.Name)
	}
	return names
}

// varyText returns the value of --vary for some settings.
func varyText(vary []sweep.Variation) string {
	var all []string
	for _, v := range vary {
		all = append(all, v.Key+"="+strings.Join(v.Values, ","))
	}
	return strings.Join(all, " ")
}

// commandLine returns the command line, quoted for a shell.
func (a *app) commandLine() string {
	line := "kernbench"
	for _, arg := range a.args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$*?;&|<>()[]{}`") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		line += " " + arg
	}
	return line
}

// tune measures, prints the result, and writes the table if it is complete.
func (a *app) tune(ctx context.Context, spec tune.Spec, db, table, format string, shown *pageFlags) (err error) {
	if spec.Program, err = tune.Program(); err != nil {
		return err
	}
	to, err := output("--table", table)
	if err != nil {
		return err
	}
	defer to.discard()
	pageFile, err := shown.begin()
	if err != nil {
		return err
	}
	defer pageFile.discard()
	var st *store.Store
	defer func() {
		if st != nil {
			err = errors.Join(err, st.Close())
		}
	}()
	bar := newProgress(a.err)
	spec.Progress = bar.report
	t, err := tune.Run(ctx, spec, func() (_ *store.Store, err error) {
		st, err = store.Open(db)
		return st, err
	})
	bar.done()
	if t != nil {
		if err == nil && spec.ForAuto {
			err = a.chooseAuto(ctx, &spec, t)
		}
		if perr := writePage(pageFile, view.Tuned(t)); perr != nil {
			return errors.Join(err, perr)
		}
		if perr := a.showTuned(format, t); perr != nil {
			return errors.Join(err, perr)
		}
	}
	switch {
	case err != nil && t != nil && ctx.Err() != nil:
		return &interruption{fmt.Errorf("%s holds %s, and the same command continues from there: %w", db, pointsDone(t), err)}
	case err != nil:
		return interrupted(ctx, err)
	}
	if err := to.write(func(w io.Writer) error { return report.TuningFile(w, t.Groups, t.MadeBy) }); err != nil {
		return err
	}
	switch {
	case len(t.Wrong) > 0:
		return errWrong
	case t.Points == 0 && len(t.Notes) > 0:
		return fmt.Errorf("nothing was measured: %s", t.Notes[len(t.Notes)-1])
	}
	return nil
}

// chooseAuto finds what the algorithm auto chooses at the sizes of each group, and how much slower
// that is than the best.
func (a *app) chooseAuto(ctx context.Context, spec *tune.Spec, t *tune.Tuned) error {
	for _, g := range t.Groups {
		typ, err := dtype.Parse(g.Type)
		if err != nil {
			return err
		}
		s := perf.Spec{
			Base: spec.Base, Collective: g.Collective, Min: spec.Min, Max: spec.Max, Factor: spec.Factor, Step: spec.Step,
			Algorithms: []string{algorithm.Auto}, Types: []dtype.Type{typ}, Ops: []tl.ReduceOp{spec.Op},
			Memory: unit.GiB, MeasureTo: spec.MeasureTo,
		}
		s.Base.Topology, s.Base.Ranks = g.Topology, g.Ranks
		if g.Root >= 0 {
			s.Roots = []int{g.Root}
		}
		bar := newProgress(a.err)
		s.Progress = bar.report
		chosen, err := perf.Run(ctx, s, nil, nil)
		bar.done()
		if err != nil {
			return err
		}
		for i := range chosen.Rows {
			r := &chosen.Rows[i]
			at := slices.IndexFunc(g.Rows, func(other tune.Row) bool { return other.Size == r.Size })
			if at < 0 || r.Deciding() == nil {
				continue
			}
			g.SetAuto(at, tune.Auto{
				Algorithm: r.Algorithm, Protocol: r.Protocol, Settings: strings.TrimSpace(sweep.Named("", r.Chosen)),
				Time: r.Deciding().Time, Estimated: r.Extrapolated != nil,
			})
		}
	}
	return nil
}

// pointsDone returns how many points the database holds.
func pointsDone(t *tune.Tuned) string {
	if n := t.Simulated + t.Found; n != 1 {
		return fmt.Sprintf("%d points", n)
	}
	return "1 point"
}

func (a *app) showTuned(format string, t *tune.Tuned) error {
	switch format {
	case "csv":
		return report.BestCSV(a.out, t.Groups, t.MadeBy)
	case "markdown":
		return report.BestMarkdown(a.out, t.Groups, t.MadeBy)
	}
	return show(a, format, t, report.Tuned)
}
