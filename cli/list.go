package cli

import (
	"fmt"
	"reflect"
	"strings"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/machine"
	"kernbench/report"
	"kernbench/topology"

	"github.com/spf13/cobra"
)

// listings are what list can print, in the order in which its help names them.
var listings = []struct {
	name  string
	print func(a *app) error
}{
	{"benches", (*app).listBenches},
	{"algorithms", (*app).listAlgorithms},
	{"topologies", (*app).listTopologies},
	{"presets", (*app).listPresets},
	{"collectives", (*app).listCollectives},
}

func (a *app) listCommand() *cobra.Command {
	var names []string
	for _, l := range listings {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:       "list " + strings.Join(names, "|"),
		Short:     "List what there is to name in the other commands",
		Args:      choice("list", names),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, l := range listings {
				if l.name == args[0] {
					return l.print(a)
				}
			}
			return nil // Args let nothing else through
		},
	}
}

func (a *app) listBenches() error {
	t := report.Table{Head: []string{"bench", "what it does"}}
	for _, b := range bench.All() {
		t.Add(b.Name, b.Summary)
	}
	if err := t.Write(a.out); err != nil {
		return err
	}
	t = report.Table{Head: []string{"option of", "option", "default", "can be", "what it does"}}
	for _, b := range bench.All() {
		for i := range b.Options {
			o := &b.Options[i]
			t.Add(b.Name, "--"+o.Name, o.Default, o.Allowed(), o.Help)
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	return t.Write(a.out)
}

func (a *app) listAlgorithms() error {
	t := report.Table{Head: []string{"algorithm", "collective", "topology", "steps", "what it does"}}
	for _, r := range algorithm.All() {
		t.Add(r.Name, r.Collective, r.Topology, r.Steps, r.Summary)
	}
	if err := t.Write(a.out); err != nil {
		return err
	}
	t = report.Table{Head: []string{"entry of ccl.yaml", "algorithm", "with"}}
	ccl := conf.DefaultCCL()
	for _, name := range ccl.Names() {
		if r, with := ccl.Merge(name, ccl.Algorithms[name]), changes(ccl.Algorithms[name]); name != r.Module || with != "" {
			t.Add(name, r.Module, with)
		}
	}
	fmt.Fprintln(a.out)
	return t.Write(a.out)
}

// changes names the settings that an entry has for itself.
func changes(entry *conf.Algorithm) string {
	var list []string
	v := reflect.ValueOf(entry).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			list = append(list, fmt.Sprintf("%s: %v", v.Type().Field(i).Tag.Get("conf"), f.Elem()))
		}
	}
	return strings.Join(list, ", ")
}

func (a *app) listTopologies() error {
	t := report.Table{Head: []string{"logical topology", "what it is"}}
	for _, r := range topology.All() {
		t.Add(r.Name, r.Summary)
	}
	return t.Write(a.out)
}

func (a *app) listPresets() error {
	t := report.Table{Head: []string{"preset", "machine"}}
	for _, p := range machine.Presets() {
		t.Add(p.Name, p.Doc)
	}
	return t.Write(a.out)
}

func (a *app) listCollectives() error {
	t := report.Table{Head: []string{"collective", "what it means"}}
	for _, c := range collective.All() {
		t.Add(c.Name, c.Summary)
	}
	return t.Write(a.out)
}
