package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"kernbench/lab/calibrate"
	"kernbench/lab/view"
	"kernbench/plot/scene"
	"kernbench/report"
	"kernbench/unit"

	"github.com/spf13/cobra"
)

func (a *app) calibrateCommand() *cobra.Command {
	var shown pageFlags
	spec := calibrate.Spec{HoldOut: calibrate.HoldOut{Every: 3}, Largest: 256 * unit.MiB}
	var format, to, table string
	var score bool
	var figure plotFlag
	cmd := &cobra.Command{
		Use:   "calibrate [--score] FILE...",
		Short: "Fit a machine to measured times, and print the error of each size",
		Long: `Fit latencies, the rate of links and the overhead of a message to a table of measured times. Then
compare the fitted machine with the sizes that the fit did not use.

FILE is the output of nccl-tests, its JSON (-J), or a table. A table has columns size_bytes and
time_us below lines "# key: value" (ranks, collective, dtype, hardware, source). The format is
detected.

The measured library chose algorithm and protocol by size. The model does the same: at each size it
takes the fastest algorithm and protocol. A size is excluded and named if a larger one was measured
as faster, or if no machine of this type can explain its time.

Parameters, as --keep names them: launch (start of a collective), ll, ll128, simple
(software's part of a hop with each protocol), message (overhead of a receive), rate (of links).

Several tables of one machine are fitted at once. They share all parameters, but each collective has
a start of its own: launch.NAME. Then each table is left out of a further fit, and the errors on it
are printed.

--score fits nothing. It compares the machine as it is with one or more tables, and NCCL's own cost
model too if the machine names its generation of GPUs (software.nccl). Errors are simulated /
measured - 1. A row more than 30 % above both its neighbours, or below both, is an outlier of the
table: it is printed, and does not count for the worst error.
` + exitCodes,
		Example: `  kernbench calibrate a100.tsv --topology dgx-a100
  kernbench calibrate a100.tsv --topology dgx-a100 --hold-out above=1M
  kernbench calibrate a100.tsv --topology dgx-a100 -o my-a100.yaml
  kernbench perf all_reduce --topology my-a100.yaml --algorithm auto
  kernbench calibrate all_reduce.tsv all_gather.tsv --topology dgx-b200 -o my-b200.yaml
  kernbench calibrate --score a100.tsv --topology dgx-a100 --plot a100.svg
  kernbench calibrate all_reduce_perf.log --topology dgx-h100 --keep ll,ll128,simple --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case score && len(args) == 0:
				return fmt.Errorf("%s --score: name at least one file with a measured table", verbOf(cmd))
			case len(args) == 0:
				return fmt.Errorf("%s: name at least one file with a measured table", verbOf(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := figure.begin(); err != nil {
				return err
			}
			defer figure.discard()
			if score {
				for _, name := range []string{"hold-out", "keep", "output", "table"} {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("%s --score fits nothing: leave --%s out", verbOf(cmd), name)
					}
				}
				return a.score(cmd, calibrate.ScoreSpec{
					Base: spec.Base, Files: args, Collective: spec.Collective,
					Algorithms: spec.Algorithms, AllAlgorithms: spec.AllAlgorithms, Largest: spec.Largest,
				}, format, &figure, &shown)
			}
			if format == "markdown" {
				return errors.New("--format markdown is for --score: a fit has text, csv and json")
			}
			if len(args) > 1 {
				for _, name := range []string{"plot", "report"} {
					if cmd.Flags().Changed(name) {
						return fmt.Errorf("%s --%s shows a fit to one table, not to %d: calibrate --score draws several", verbOf(cmd), name, len(args))
					}
				}
				if format == "csv" {
					return fmt.Errorf("--format csv is for a fit to one table, not to %d: use text or json", len(args))
				}
			}
			file, err := output("-o", to)
			if err != nil {
				return err
			}
			defer file.discard()
			choice, err := output("--table", table)
			if err != nil {
				return err
			}
			defer choice.discard()
			to, err := shown.begin()
			if err != nil {
				return err
			}
			defer to.discard()
			bar := newProgress(a.err)
			spec.Progress, spec.Base.Command = bar.report, a.commandLine()
			j, err := calibrate.RunTables(cmd.Context(), spec, args)
			bar.done()
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			if err := file.write(func(w io.Writer) error { return writeText(w, j.YAML) }); err != nil {
				return err
			}
			if err := choice.write(func(w io.Writer) error { return writeText(w, j.TuningYAML) }); err != nil {
				return err
			}
			if len(args) > 1 {
				if format == "json" {
					return report.JSON(a.out, j)
				}
				return report.Joint(a.out, j)
			}
			c := j.Tables[0]
			if err := figure.write(func() *scene.Picture { return report.CalibrationFigure(c).Picture() }); err != nil {
				return err
			}
			if err := writePage(to, view.Calibration(c)); err != nil {
				return err
			}
			switch format {
			case "json":
				return report.JSON(a.out, c)
			case "csv":
				return report.CalibrationCSV(a.out, c)
			}
			return report.Calibration(a.out, c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	machineFlags(f, &spec.Base)
	f.Lookup("topology").Usage = "machine to fit: a topology.yaml `FILE`, or a preset (kernbench list presets)"
	f.StringVar(&spec.Collective, "collective", "", "`NAME` of the measured collective (default: from the table)")
	f.Var((*count)(&spec.Base.Ranks), "ranks", "number of ranks in the measurement (default: from the table)")
	f.Var(&listed[string]{to: &spec.Algorithms, all: func() { spec.AllAlgorithms = true }, parse: anyName, kind: "NAME,...|all"},
		"algorithm", "algorithms that the measured library may have used, or all (default: those of NCCL and RCCL)")
	f.Var(&parsed[calibrate.HoldOut]{to: &spec.HoldOut, parse: calibrate.ParseHoldOut, kind: "N|above=SIZE|below=SIZE|none"},
		"hold-out", "sizes that the fit does not use: every N-th, or all above or below a size")
	f.Var(&listed[string]{to: &spec.Keep, all: func() {}, parse: anyName, kind: "NAME,..."},
		"keep", "parameters that keep their value: "+strings.Join(calibrate.Parameters(), ", "))
	f.Var(&size{&spec.Largest}, "largest",
		"largest size that is simulated; larger ones are extrapolated from it and its half, and marked ~")
	f.BoolVar(&score, "score", false, "fit nothing: compare the machine as it is, and NCCL's own model, with the tables")
	f.StringVarP(&to, "output", "o", "", "write the fitted machine, with the algorithm and protocol of each size, to a topology.yaml `FILE`, for --topology")
	f.StringVar(&table, "table", "",
		"write the algorithm and protocol of each size to a tuning table `FILE`, for --tuning of perf and run on that machine")
	figure.add(f, "plot", "draw simulated beside measured times, with the errors below,")
	fidelityFlag(f, &spec.Base)
	shown.add(f)
	f.Var(newWord(&format, "text", "FORMAT", "text", "json", "csv", "markdown"), "format", "text, json, csv, or with --score markdown")
	return cmd
}

// writeText writes what text returns.
func writeText(w io.Writer, text func() ([]byte, error)) error {
	data, err := text()
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// score compares an unchanged machine with measured tables.
func (a *app) score(cmd *cobra.Command, spec calibrate.ScoreSpec, format string, figure *plotFlag, shown *pageFlags) error {
	to, err := shown.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	bar := newProgress(a.err)
	spec.Progress, spec.Base.Command = bar.report, a.commandLine()
	s, err := calibrate.RunScore(cmd.Context(), spec)
	bar.done()
	if err != nil {
		return interrupted(cmd.Context(), err)
	}
	if err := figure.write(func() *scene.Picture { return report.ScoreFigure(s).Picture() }); err != nil {
		return err
	}
	if err := writePage(to, view.Scored(s)); err != nil {
		return err
	}
	switch format {
	case "json":
		return report.JSON(a.out, s)
	case "csv":
		return report.ScoreCSV(a.out, s)
	case "markdown":
		return report.ScoreMarkdown(a.out, s)
	}
	return report.Score(a.out, s)
}
