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
	spec := calibrate.Spec{HoldOut: calibrate.HoldOut{Every: 3}, Largest: 32 * unit.MiB}
	var format, to, table string
	var score bool
	var figure plotFlag
	cmd := &cobra.Command{
		Use:   "calibrate FILE, or calibrate --score FILE...",
		Short: "Fit a machine to measured times of a collective, and tell how far it is off",
		Long: `Fit latencies, the rate of links and the overhead of a message to a table of measured times, and
hold the simulator with them against the sizes that the fit did not see.

FILE is what nccl-tests prints, what it writes with -J, or a table with columns size_bytes and
time_us below lines "# key: value": ranks, collective, dtype, hardware, source. Which of them it is,
shows. The library that was measured chose algorithm and protocol by size; so does the model: at
each size it is the fastest of the algorithms with each of the machine's protocols. Sizes at which
no such choice could be as slow as the table says, for a larger one is faster, are set aside and
named, and so is what no machine of this kind could explain.

Parameters, by the names that --keep takes: launch (start of a collective), ll, ll128, simple
(software's part of a hop with each protocol), message (overhead of a receive), rate (of links).

--score fits nothing: it holds the machine as it is against one table or several, beside NCCL's own
cost model where the machine says which generation of GPUs it has (software.nccl). Errors are
simulated / measured - 1. A row more than 30 % above both its neighbours, or below both, is an
outlier of the table: it is shown, and left out of the worst.
` + exitCodes,
		Example: `  kernbench calibrate a100.tsv --topology dgx-a100
  kernbench calibrate a100.tsv --topology dgx-a100 --hold-out above=1M -o my-a100.yaml
  kernbench calibrate a100.tsv --topology dgx-a100 -o my-a100.yaml --table my-choice.yaml
  kernbench calibrate --score a100.tsv --topology dgx-a100 --plot a100.svg
  kernbench calibrate all_reduce_perf.log --topology dgx-h100 --keep ll,ll128,simple --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case score && len(args) == 0:
				return fmt.Errorf("%s --score: name at least one file with a measured table", cmd.CommandPath())
			case !score && len(args) != 1:
				return fmt.Errorf("%s: name one file with a measured table, got %d", cmd.CommandPath(), len(args))
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
						return fmt.Errorf("%s --score fits nothing: leave --%s out", cmd.CommandPath(), name)
					}
				}
				if !cmd.Flags().Changed("largest") {
					spec.Largest = 256 * unit.MiB // there is no fit, which simulates each size many times
				}
				return a.score(cmd, calibrate.ScoreSpec{
					Base: spec.Base, Files: args, Collective: spec.Collective,
					Algorithms: spec.Algorithms, AllAlgorithms: spec.AllAlgorithms, Largest: spec.Largest,
				}, format, &figure, &shown)
			}
			if format == "markdown" {
				return errors.New("--format markdown is a form of --score: a fit has text, csv and json")
			}
			spec.File = args[0]
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
			c, err := calibrate.Run(cmd.Context(), spec)
			bar.done()
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			if err := file.write(func(w io.Writer) error { return writeText(w, c.YAML) }); err != nil {
				return err
			}
			if err := choice.write(func(w io.Writer) error { return writeText(w, c.TuningYAML) }); err != nil {
				return err
			}
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
	f.Lookup("topology").Usage = "machine that is fitted: a topology.yaml `FILE`, or a preset (kernbench list presets)"
	f.StringVar(&spec.Collective, "collective", "", "`NAME` of what was measured (default: as the table says)")
	f.Var((*count)(&spec.Base.Ranks), "ranks", "how many took part (default: as the table says)")
	f.Var(&listed[string]{to: &spec.Algorithms, all: func() { spec.AllAlgorithms = true }, parse: anyName, kind: "NAME,...|all"},
		"algorithm", "algorithms that the library may have run, or all that there are (default: those known of NCCL and RCCL)")
	f.Var(&parsed[calibrate.HoldOut]{to: &spec.HoldOut, parse: calibrate.ParseHoldOut, kind: "N|above=SIZE|below=SIZE|none"},
		"hold-out", "sizes that the fit does not see: one of N, or those above or below one")
	f.Var(&listed[string]{to: &spec.Keep, all: func() {}, parse: anyName, kind: "NAME,..."},
		"keep", "parameters that stay as they are: "+strings.Join(calibrate.Parameters(), ", "))
	f.Var(&size{&spec.Largest}, "largest",
		"size up to which times are simulated (of --score 256 MiB); beyond, they go on as between that and its half, and are marked ~")
	f.BoolVar(&score, "score", false, "fit nothing: hold the machine as it is against the tables, and against NCCL's own model")
	f.StringVarP(&to, "output", "o", "", "write the fitted machine to a topology.yaml `FILE`, for --topology")
	f.StringVar(&table, "table", "",
		"write the algorithm and protocol of each size to a tuning table `FILE`, for --tuning of perf and run with that machine")
	figure.add(f, "plot", "draw simulated beside measured times, with the errors below,")
	fidelityFlag(f, &spec.Base)
	shown.add(f)
	f.Var(newWord(&format, "text", "FORMAT", "text", "json", "csv", "markdown"), "format", "text, json, csv, or of --score markdown")
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

// score holds a machine as it is against tables.
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
