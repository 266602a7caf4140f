package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"

	"kernbench/lab/tune"
	"kernbench/plot/scene"
	"kernbench/report"
	"kernbench/store"
	"kernbench/unit"

	"github.com/spf13/cobra"
)

// results are the subcommands of "kernbench results", and the database that they query.
type results struct {
	*app
	db, format string
}

func (a *app) resultsCommand() *cobra.Command {
	r := &results{app: a}
	cmd := &cobra.Command{
		Use:   "results [list|show|best|crossovers|plot|diff|query]",
		Short: "Print results that kernbench tune has measured",
		Long: `Print results from the database of kernbench tune. RUN is a number that results list prints; the
default is the last run.
` + exitCodes,
		Example: `  kernbench results
  kernbench results best --format markdown
  kernbench results plot -o all.svg
  kernbench results diff 1 2
  kernbench results query "SELECT algorithm, min(time_ps) FROM point WHERE size = 4096 GROUP BY algorithm"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownWord("results command", args[0], verbs(cmd))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return r.read(r.list) },
	}
	cmd.PersistentFlags().StringVar(&r.db, "db", defaultDB, "`FILE` of the database")
	add := func(c *cobra.Command, formats ...string) {
		c.Flags().Var(newWord(&r.format, "text", "FORMAT", formats...), "format", oneOf(formats))
		cmd.AddCommand(c)
	}
	cmd.Flags().Var(newWord(&r.format, "text", "FORMAT", "text", "json"), "format", "text or json")
	add(&cobra.Command{
		Use: "list", Short: "List the runs: time, command, number of points", Args: nothing,
		RunE: func(*cobra.Command, []string) error { return r.read(r.list) },
	}, "text", "json")
	add(&cobra.Command{
		Use: "show [RUN]", Short: "List every point of a run", Args: runs(0, 1),
		RunE: r.of(func(x *tune.RunPoints) error {
			if r.format == "csv" {
				return report.PointsCSV(r.out, x, x.MadeBy(r.commandLine()))
			}
			return show(r.app, r.format, x, report.Points)
		}),
	}, "text", "json", "csv")
	add(&cobra.Command{
		Use: "best [RUN]", Short: "Print the best algorithm of each size, and its bound", Args: runs(0, 1),
		RunE: r.of(func(x *tune.RunPoints) error { return r.best(x) }),
	}, "text", "json", "csv", "markdown")
	add(&cobra.Command{
		Use: "crossovers [RUN]", Short: "Print the sizes at which the best choice changes", Args: runs(0, 1),
		RunE: r.of(func(x *tune.RunPoints) error {
			if r.format == "csv" {
				return report.CrossoversCSV(r.out, x.Best(), x.MadeBy(r.commandLine()))
			}
			return show(r.app, r.format, x.Best(), report.Crossovers)
		}),
	}, "text", "json", "csv")
	cmd.AddCommand(r.plotCommand())
	add(&cobra.Command{
		Use: "diff RUN RUN", Short: "Print the points whose time differs between two runs (exit status 1 if any)", Args: runs(2, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return r.read(func(st *store.Store) error { return r.diff(st, args[0], args[1]) })
		},
	}, "text", "json", "csv")
	add(&cobra.Command{
		Use: "query SQL", Short: "Run an SQL query that only reads (docs/tune.md lists the tables)", Args: oneQuery,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := r.read(func(st *store.Store) error { return r.query(cmd.Context(), st, args[0]) })
			return interrupted(cmd.Context(), err)
		},
	}, "text", "csv", "json")
	return cmd
}

// plotCommand draws a run.
func (r *results) plotCommand() *cobra.Command {
	var figure plotFlag
	cmd := &cobra.Command{
		Use: "plot [RUN] -o FILE", Short: "Draw a run over sizes: time, algbw, busbw, bounds and crossovers",
		Args: func(cmd *cobra.Command, args []string) error {
			if !figure.wanted() {
				return errors.New("kernbench results plot: -o FILE is missing; FILE ends in .svg, .png or .html")
			}
			return runs(0, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := figure.begin(); err != nil {
				return err
			}
			defer figure.discard()
			return r.of(func(x *tune.RunPoints) error {
				return figure.write(func() *scene.Picture { return report.PointsFigure(x, x.MadeBy(r.commandLine())).Picture() })
			})(cmd, args)
		},
	}
	figure.flag = "output"
	cmd.Flags().VarP(&figure, "output", "o", "`FILE` to write to: .svg, .png or .html")
	return cmd
}

// oneOf joins words as in a sentence.
func oneOf(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			text += " or " + w
		} else {
			text += ", " + w
		}
	}
	return text
}

// oneQuery checks that there is one argument.
func oneQuery(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("%s: found %s, want one SQL query, such as 'select * from run'", verbOf(cmd), unit.Count(len(args), "argument"))
}

// runs checks the number of arguments.
func runs(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if n := len(args); n < least || n > most {
			want := unit.Count(least, "run number")
			if most > least {
				want = fmt.Sprintf("%d to %s", least, unit.Count(most, "run number"))
			}
			return fmt.Errorf("%s: found %s, want %s", verbOf(cmd), unit.Count(n, "argument"), want)
		}
		return nil
	}
}

// read opens the database for one query.
func (r *results) read(ask func(*store.Store) error) error {
	st, err := store.OpenToRead(r.db)
	if err != nil {
		return err
	}
	return errors.Join(ask(st), st.Close())
}

// of queries the named run, or the last.
func (r *results) of(tell func(*tune.RunPoints) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		return r.read(func(st *store.Store) error {
			run := "0"
			if len(args) > 0 {
				run = args[0]
			}
			x, err := points(st, run, len(args) > 0)
			if err != nil {
				return err
			}
			return tell(x)
		})
	}
}

// points finds a run by its number or name.
func points(st *store.Store, name string, named bool) (*tune.RunPoints, error) {
	run, err := strconv.ParseInt(name, 10, 64)
	if err != nil || named && run < 1 {
		return nil, fmt.Errorf("run %q: want a number from kernbench results list", name)
	}
	return tune.PointsOf(st, run)
}

func (r *results) list(st *store.Store) error {
	all, err := st.Runs()
	if err != nil {
		return err
	}
	return show(r.app, r.format, all, report.Runs)
}

func (r *results) best(x *tune.RunPoints) error {
	groups, from := x.Best(), x.MadeBy(r.commandLine())
	switch r.format {
	case "csv":
		return report.BestCSV(r.out, groups, from)
	case "markdown":
		return report.BestMarkdown(r.out, groups, from)
	}
	return show(r.app, r.format, groups, report.Best)
}

func (r *results) diff(st *store.Store, a, b string) error {
	was, err := points(st, a, true)
	if err != nil {
		return err
	}
	is, err := points(st, b, true)
	if err != nil {
		return err
	}
	d := tune.DiffRuns(was, is)
	if r.format == "csv" {
		from := was.MadeBy(r.commandLine())
		for _, m := range is.MadeBy("").Machines {
			from.Add(m)
		}
		err = report.DiffCSV(r.out, d, from)
	} else {
		err = show(r.app, r.format, d, report.Diff)
	}
	if err == nil && !d.Empty() {
		err = errWrong
	}
	return err
}

// query prints the result of an SQL statement.
func (r *results) query(ctx context.Context, st *store.Store, query string) error {
	var head []string
	var rows [][]string
	if err := st.Query(ctx, query, func(cells []string) error {
		if head == nil {
			head = cells
			return nil
		}
		rows = append(rows, cells)
		return nil
	}); err != nil {
		return err
	}
	switch r.format {
	case "csv":
		w := csv.NewWriter(r.out)
		w.Write(head)
		w.WriteAll(rows)
		return w.Error()
	case "json":
		objects := []map[string]string{}
		for _, row := range rows {
			o := map[string]string{}
			for i, cell := range row {
				o[head[i]] = cell
			}
			objects = append(objects, o)
		}
		return report.JSON(r.out, objects)
	}
	t := report.Table{Head: head, Rows: rows}
	return t.Write(r.out)
}
