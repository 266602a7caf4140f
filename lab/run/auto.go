package run

import (
	"fmt"
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
	t := &algorithm.Tuning{File: file}
	for i := range read.Tables {
		from := &read.Tables[i]
		typ, err := dtype.Parse(from.Type)
		if err != nil {
			return nil, read.Errorf(fmt.Sprintf("tables.%d.type", i), "%v", err)
		}
		if _, err := collective.Lookup(from.Collective); err != nil {
			return nil, read.Errorf(fmt.Sprintf("tables.%d.collective", i), "%v", err)
		}
		table := algorithm.TuningTable{
			Topology: from.Topology, Machine: from.Fingerprint, Fidelity: from.Fidelity, Collective: from.Collective,
			Ranks: from.Ranks, Type: typ,
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

// autoProgram is what runs auto when no program is named: the one for what is tuned on the machine
// if that is one collective, else that of all-reduce.
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
	note("%s chose %s %s (%s)", algorithm.Auto, p.Name, with, x.Tuning)
}
