package cli

import (
	"fmt"
	"io"
	"strings"

	"kernbench/bench"
	"kernbench/collective"
	"kernbench/machine"
	"kernbench/report"
	"kernbench/topology"

	"github.com/spf13/cobra"
)

// listings are the lists that list can print, in the order of its help.
var listings = []struct {
	name  string
	print func(a *app, o *listOptions) error
}{
	{"benches", (*app).listBenches},
	{"algorithms", (*app).listAlgorithms},
	{"topologies", (*app).listTopologies},
	{"presets", (*app).listPresets},
	{"collectives", (*app).listCollectives},
	{"executors", (*app).listExecutors},
}

// listOptions select what a listing prints.
type listOptions struct {
	format     string
	names      []string // of algorithms; none: all
	collective string
	short      bool
}

func (a *app) listCommand() *cobra.Command {
	var names []string
	for _, l := range listings {
		names = append(names, l.name)
	}
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list " + strings.Join(names, "|") + " [NAME...]",
		Short: "List algorithms, benches, presets and other names",
		Long: `List the names that other commands accept.

For each algorithm, list algorithms prints its collective, its published steps and cost, its
constraints and its source. Names or --collective restrict the list.`,
		Example: `  kernbench list algorithms --short
  kernbench list algorithms --collective all_gather
  kernbench list algorithms ring_allgather bruck_allgather
  kernbench list collectives --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := choice("list", names)(cmd, args[:min(1, len(args))]); err != nil {
				return err
			}
			switch {
			case args[0] == "algorithms":
				return nil
			case len(args) > 1:
				return fmt.Errorf("%s %s: found name %q, want none", verbOf(cmd), args[0], args[1])
			case o.collective != "" || o.short:
				return fmt.Errorf("%s %s: --collective and --short are for algorithms", verbOf(cmd), args[0])
			}
			return nil
		},
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			o.names = args[1:]
			for _, l := range listings {
				if l.name == args[0] {
					return l.print(a, &o)
				}
			}
			return nil // Args has refused all other names
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.collective, "collective", "", "only algorithms of collective `NAME`")
	f.BoolVar(&o.short, "short", false, "print one line for each algorithm")
	formatFlag(f, &o.format)
	return cmd
}

// rowsOf prints rows as a table or as JSON.
func rowsOf[T any](a *app, o *listOptions, rows []T, head []string, cells func(T) []string) error {
	return show(a, o.format, rows, func(w io.Writer, rows []T) error {
		t := report.Table{Head: head}
		for _, r := range rows {
			t.Add(cells(r)...)
		}
		return t.Write(w)
	})
}

type listedBench struct {
	Name    string         `json:"name"`
	Summary string         `json:"summary"`
	Options []listedOption `json:"options"`
}

type listedOption struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Allowed string `json:"allowed"`
	Help    string `json:"help"`
}

func (a *app) listBenches(o *listOptions) error {
	var all []listedBench
	for _, b := range bench.All() {
		l := listedBench{b.Name, b.Summary, []listedOption{}}
		for i := range b.Options {
			op := &b.Options[i]
			l.Options = append(l.Options, listedOption{op.Name, op.Default, op.Allowed(), op.Help})
		}
		all = append(all, l)
	}
	return show(a, o.format, all, func(w io.Writer, all []listedBench) error {
		benches := report.Table{Head: []string{"bench", "what it does"}}
		options := report.Table{Head: []string{"option of", "option", "default", "can be", "what it does"}}
		for _, b := range all {
			benches.Add(b.Name, b.Summary)
			for _, op := range b.Options {
				options.Add(b.Name, "--"+op.Name, op.Default, op.Allowed, op.Help)
			}
		}
		if err := benches.Write(w); err != nil || len(options.Rows) == 0 {
			return err
		}
		fmt.Fprintln(w)
		return options.Write(w)
	})
}

type listedTopology struct {
	Name     string `json:"name"`
	Summary  string `json:"summary"`
	Planar   bool   `json:"planar"`     // takes w and h
	MaxRanks int    `json:"most_ranks"` // 0: any number
}

func (a *app) listTopologies(o *listOptions) error {
	var all []listedTopology
	for _, t := range topology.All() {
		all = append(all, listedTopology{t.Name, t.Summary, t.Planar, t.MaxRanks})
	}
	return rowsOf(a, o, all, []string{"logical topology", "what it is"},
		func(t listedTopology) []string { return []string{t.Name, t.Summary} })
}

type listedPreset struct {
	Name    string `json:"name"`
	Machine string `json:"machine"`
}

func (a *app) listPresets(o *listOptions) error {
	var all []listedPreset
	for _, p := range machine.Presets() {
		all = append(all, listedPreset{p.Name, p.Doc})
	}
	return rowsOf(a, o, all, []string{"preset", "machine"}, func(p listedPreset) []string { return []string{p.Name, p.Machine} })
}

type listedCollective struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Reduces bool   `json:"reduces"`
	Rooted  bool   `json:"rooted"`
}

func (a *app) listCollectives(o *listOptions) error {
	var all []listedCollective
	for _, c := range collective.All() {
		all = append(all, listedCollective{c.Name, c.Summary, c.Reduces, c.Rooted})
	}
	return rowsOf(a, o, all, []string{"collective", "what it means"},
		func(c listedCollective) []string { return []string{c.Name, c.Summary} })
}
