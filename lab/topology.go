package lab

import (
	"context"
	"errors"
	"io"

	"kernbench/conf"
	"kernbench/machine"
)

// Validity is what there is to say of a file that should describe a machine.
type Validity struct {
	File    string         `json:"file"`
	OK      bool           `json:"ok"`
	Machine string         `json:"machine"` // "": it is none
	Faults  []TopologyFlaw `json:"faults"`
}

// TopologyFlaw is one thing that is wrong with a file, and where. Line and Column count from 1; 0:
// nowhere in particular.
type TopologyFlaw struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Key     string `json:"key"` // "": the file as a whole
	Message string `json:"message"`
	Text    string `json:"-"` // all of this, with the line and a caret
}

// Standard is the name of a file that is what comes by standard input.
const Standard = "-"

// ValidateTopology reads files, or presets, each by itself over the built-in description and with
// keys changed, and builds their machines. Everything that is wrong with one is found, and none
// keeps the next from being read. The error is a mistake in the keys, or the interruption by ctx,
// with which comes what was finished.
func ValidateTopology(ctx context.Context, files []string, sets []string, stdin io.Reader) ([]Validity, error) {
	topoSets, err := topologySets(sets)
	if err != nil {
		return nil, err
	}
	all := []Validity{}
	for _, name := range files {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		all = append(all, validate(name, topoSets, stdin))
	}
	return all, nil
}

func validate(name string, sets []string, stdin io.Reader) Validity {
	v := Validity{File: name, Faults: []TopologyFlaw{}}
	sources, err := topologySource(name, stdin)
	if err == nil {
		var t *conf.Topology
		if t, err = conf.LoadTopology(sources, sets); err == nil {
			var m *machine.Machine
			if m, err = machine.Build(t); err == nil {
				v.OK, v.Machine = true, (&setting{machine: m}).describe()
				return v
			}
		}
	}
	many, found := errors.AsType[conf.Errors](err)
	if !found {
		if one, ok := errors.AsType[*conf.Error](err); ok {
			many = conf.Errors{one}
		}
	}
	for _, e := range many {
		v.Faults = append(v.Faults, TopologyFlaw{e.File, e.Line, e.Col, e.Key, e.Msg, e.Error()})
	}
	if len(many) == 0 {
		v.Faults = append(v.Faults, TopologyFlaw{File: name, Message: err.Error(), Text: err.Error()})
	}
	return v
}

func topologySource(name string, stdin io.Reader) ([]conf.Source, error) {
	if name != Standard {
		return source(name, machine.PresetSource, presetNames())
	}
	data, err := conf.ReadAll("<stdin>", stdin)
	if err != nil {
		return nil, err
	}
	return []conf.Source{{Name: "<stdin>", Data: data}}, nil
}
