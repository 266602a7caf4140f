package run

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
)

// LoadTuning reads a tuning table; no name is no table.
func LoadTuning(file string) (*algorithm.Tuning, error) {
	if file == "" {
		return nil, nil
	}
	data, err := conf.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tuning table: %w (kernbench tune --table FILE writes one)", err)
	}
	read, err := conf.LoadTuning(conf.Source{Name: file, Data: data})
	if err != nil {
		return nil, err
	}
	return tuningOf(file, read.Tables, func(i int, key, format string, args ...any) *conf.Error {
		return read.Errorf(fmt.Sprintf("tables.%d.%s", i, key), format, args...)
	})
}

// Choices returns the tables by which auto chooses: those of the file that the spec names, else
// those that the machine's own file has. Nil: there are none.
func (x *Job) Choices() *algorithm.Tuning { return x.tuning }

// ownTuning reads the tables that a machine's file has for it. They do not apply to a machine that
// was changed since then.
func ownTuning(name string, t *conf.Topology) (*algorithm.Tuning, error) {
	all, err := tuningOf(name, t.Choices(), func(i int, key, format string, args ...any) *conf.Error {
		return t.Errorf(fmt.Sprintf("choices.%d.%s", i, key), format, args...)
	})
	if err != nil || len(all.Tables) == 0 {
		return nil, err
	}
	here := t.Fingerprint()
	all.Tables = slices.DeleteFunc(all.Tables, func(table algorithm.TuningTable) bool { return table.Machine != here })
	if len(all.Tables) == 0 {
		return nil, nil
	}
	return all, nil
}

// tuningOf are tables as auto chooses by them. wrong makes an error about a key of one of them.
func tuningOf(file string, tables []conf.TuningTable,
	wrong func(i int, key, format string, args ...any) *conf.Error) (*algorithm.Tuning, error) {
	t := &algorithm.Tuning{File: file}
	for i := range tables {
		from := &tables[i]
		typ, err := dtype.Parse(from.Type)
		if err != nil {
			return nil, wrong(i, "type", "%v", err)
		}
		if _, err := collective.Lookup(from.Collective); err != nil {
			return nil, wrong(i, "collective", "%v", err)
		}
		table := algorithm.TuningTable{
			Topology: from.Topology, Machine: from.Fingerprint, Fidelity: from.Fidelity, Collective: from.Collective,
			Ranks: from.Ranks, Type: typ, SimulateTo: from.SimulateTo,
		}
		for k := range from.Rows {
			r := &from.Rows[k]
			row := algorithm.TuningRow{From: r.From, Use: r.Use, Else: r.Else}
			for _, s := range r.With.Sets() {
				row.Settings = append(row.Settings, s.Key+"="+s.Value)
			}
			table.Rows = append(table.Rows, row)
		}
		t.Tables = append(t.Tables, table)
	}
	return t, nil
}

// autoProgram returns the program that runs auto when none is named. It is the one for the
// collective tuned on the machine, if there is only one, else that of all-reduce.
func (x *Job) autoProgram() *bench.Program {
	if known := x.tuning.Collectives(x.Machine.Topology().Fingerprint()); len(known) == 1 {
		return bench.For(known[0])
	}
	return bench.CCLAllReduce
}

// noteAuto adds a note with the choice of auto.
func (x *Job) noteAuto(p *device.Plan, note func(string, ...any)) {
	name := x.Algorithm
	if name == "" {
		name = x.program.Algorithm
	}
	if p == nil || !device.IsAuto(x.Entries, name) {
		return
	}
	with := "with its settings as they are configured"
	if p.Tuned != nil {
		with = "with " + strings.Join(p.Tuned, " ")
	}
	note("%s chose %s %s (%s)", algorithm.Auto, p.Name, with, x.tuning.File)
}
