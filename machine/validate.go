package machine

import (
	"context"
	"errors"
	"io"

	"kernbench/conf"
)

// Validity is the result of checking a file that should describe a machine.
type Validity struct {
	File    string `json:"file"`
	OK      bool   `json:"ok"`
	Machine string `json:"machine"` // "": it is none
	Faults  []Flaw `json:"faults"`
}

// Flaw is one thing that is wrong with a file, and where. Line and Column count from 1; 0:
// nowhere in particular.
type Flaw struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Key     string `json:"key"` // "": the file as a whole
	Message string `json:"message"`
	Text    string `json:"-"` // all of this, with the line and a caret
}

// Stdin is the file name that means standard input.
const Stdin = "-"

// Validate reads files, or presets, each by itself over the built-in description and with
// keys changed, and builds their machines. Everything that is wrong with one is found, and none
// keeps the next from being read. The error is a mistake in the keys, or the interruption by ctx,
// with which comes what was finished.
func Validate(ctx context.Context, files []string, sets []string, stdin io.Reader) ([]Validity, error) {
	topoSets, err := TopologySets(sets)
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
	v := Validity{File: name, Faults: []Flaw{}}
	sources, err := topologySource(name, stdin)
	if err == nil {
		var t *conf.Topology
		if t, err = conf.LoadTopology(sources, sets); err == nil {
			var m *Machine
			if m, err = Build(t); err == nil {
				v.OK, v.Machine = true, m.Describe()
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
		v.Faults = append(v.Faults, Flaw{e.File, e.Line, e.Col, e.Key, e.Msg, e.Error()})
	}
	if len(many) == 0 {
		v.Faults = append(v.Faults, Flaw{File: name, Message: err.Error(), Text: err.Error()})
	}
	return v
}

func topologySource(name string, stdin io.Reader) ([]conf.Source, error) {
	if name != Stdin {
		return ReadSource(name)
	}
	data, err := conf.ReadAll("<stdin>", stdin)
	if err != nil {
		return nil, err
	}
	return []conf.Source{{Name: "<stdin>", Data: data}}, nil
}

// TopologySets returns the keys to change, all of which must be those of topology.yaml.
func TopologySets(sets []string) ([]string, error) {
	topology, ccl, err := conf.SplitSets(sets)
	if err == nil && len(ccl) > 0 {
		return nil, &conf.Error{File: "--set", Msg: ccl[0] + ": a key of ccl.yaml, which says nothing of the machine"}
	}
	return topology, err
}
