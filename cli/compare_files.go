package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/lab/compare"
	"kernbench/lab/plans"
	"kernbench/lab/run"

	"github.com/spf13/cobra"
)

// compareWithFiles compares algorithms, some of which are programs of other tools. Algorithms of
// the library run first. The call of the files has as many bytes as theirs.
func (a *app) compareWithFiles(ctx context.Context, cmd *cobra.Command, s run.Spec, names []string) ([]compare.Row, error) {
	if s.Algorithm != "" || s.Bench != "" {
		return nil, errors.New("--algorithm and --bench: the named files are compared; leave these flags out")
	}
	var own []string
	for _, name := range names {
		if !plans.InPlaceOfAlgorithm(name) {
			own = append(own, name)
		}
	}
	var rows []compare.Row
	var err error
	if len(own) > 0 {
		if rows, err = compare.Algorithms(ctx, s, own, nil); err != nil {
			return rows, err
		}
	} else if !cmd.Flags().Changed("n-elem") {
		return nil, fmt.Errorf("--n-elem is missing: programs of other tools are for calls of many sizes")
	}
	var first *run.Result // of the library's algorithms
	for _, r := range rows {
		if first == nil && r.Err == nil {
			first = r.Result
		}
	}
	var all []compare.Row
	for _, name := range names {
		if !plans.InPlaceOfAlgorithm(name) {
			all, rows = append(all, rows[0]), rows[1:]
			continue
		}
		r, err := a.compareFile(ctx, s, name, first)
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// compareFile times a program of another tool, for a call like that of the library's result, if
// there is one.
func (a *app) compareFile(ctx context.Context, s run.Spec, name string, like *run.Result) (compare.Row, error) {
	row := compare.Row{Algorithm: name}
	l, err := plans.Load(plans.Spec{File: name, Topology: s.Topology, Sets: s.Sets, Command: a.commandLine()})
	if err != nil {
		return row, err
	}
	of := l.Verdict.Program
	what, err := collective.Lookup(of.Collective)
	if err != nil {
		return row, fmt.Errorf("%s: its collective is unknown", name)
	}
	call := collective.Call{World: of.World, Elems: s.NElem, Type: s.DType}
	if !s.DType.Valid() {
		call.Type = dtype.F16
	}
	if like != nil {
		if like.Collective != of.Collective || like.WorldSize != of.World {
			return row, fmt.Errorf("%s performs %s of %d ranks, the others %s of %d: only programs of one collective and number of ranks can be compared",
				name, of.Collective, of.World, like.Collective, like.WorldSize)
		}
		call.Elems = like.ElemsPerRank
		if call.Type, err = dtype.Parse(like.DType); err != nil {
			return row, err
		}
	} else if s.Ranks > 0 && s.Ranks != of.World {
		return row, fmt.Errorf("%s is for %d ranks, not %d", name, of.World, s.Ranks)
	}
	bytes := what.Bytes(call)
	r, err := l.Time(ctx, bytes)
	if no, is := errors.AsType[*plans.SizeError](err); is {
		row.Err, row.Error = no, no.Reason
		return row, nil
	}
	if err != nil {
		return row, err
	}
	if r.Deadlock != nil {
		row.Err = r.Hangs()
		row.Error = row.Err.Error()
		return row, nil
	}
	p := &compare.Program{Bytes: bytes, Time: r.Time - r.Model.Launch, OK: l.Verdict.OK()}
	row.Program = p
	if ns := p.Time.Ns(); ns > 0 {
		p.AlgBW = float64(bytes) / ns
		p.BusBW = p.AlgBW * what.BusFactor(of.World)
	}
	var words []string
	for _, v := range l.Verdict.Verdicts {
		words = append(words, v.String())
	}
	p.Verdict = strings.Join(words, ", ")
	return row, nil
}
