package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kernbench/dtype"
	"kernbench/frontend"
	"kernbench/frontend/plan"
	"kernbench/internal/outfile"
	"kernbench/lab/run"
	"kernbench/tl"

	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	var spec run.Spec
	var o frontend.ExportOptions
	var to, dir, proto string
	var names, about []string
	for _, f := range frontend.Formats() {
		names = append(names, f.Name)
		about = append(about, fmt.Sprintf("  %-8s %s", f.Name, f.Summary))
	}
	cmd := &cobra.Command{
		Use:   "export ALGORITHM --to FORMAT",
		Short: "Write an algorithm as MSCCL XML or Chakra traces",
		Long: `Record the kernel of every rank, and write its messages and arithmetic in the format of another tool.
The written files are read back and checked. Formats:
` + strings.Join(about, "\n") + `

docs/programs.md lists what a format cannot express. A kernel that reads values at run time, such as
a word or an undirected receive, is rejected. Traces have no windows.
` + exitCodes,
		Example: `  kernbench export ring_allreduce_chunked --to chakra --ranks 8 --n-elem 4096 --out traces
  kernbench import traces
  kernbench export halving_doubling_allreduce --to msccl --ranks 16 --channels 4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: name one algorithm (kernbench list algorithms), got %d", verbOf(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := slices.Index(names, to)
			switch {
			case !cmd.Flags().Changed("to"):
				return fmt.Errorf("--to is missing: one of %s is expected", strings.Join(names, ", "))
			case at < 0:
				return unknownWord("format", to, names)
			}
			format := frontend.Formats()[at]
			f := cmd.Flags()
			if format.Name != "msccl" && (f.Changed("channels") || f.Changed("proto")) {
				return fmt.Errorf("--channels and --proto: only MSCCL XML (--to msccl) has them")
			}
			for p := plan.Simple; p <= plan.LL128; p++ {
				if p.String() == proto {
					o.Protocol = p
				}
			}
			if format.Name == "msccl" && spec.NElem == 0 && spec.Ranks > 0 {
				spec.NElem = 4 * spec.Ranks // so that chunks divide evenly
			}
			return a.export(cmd.Context(), format, spec, args[0], dir, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&to, "to", "", "`FORMAT` to write: "+strings.Join(names, ", "))
	f.StringVar(&dir, "out", ".", "`FOLDER` for the files; created if missing")
	f.Var((*count)(&o.Channels), "channels",
		"msccl: number of channels; each has a copy of the program and a part of every chunk (default 1)")
	f.Var(newWord(&proto, "Simple", "PROTOCOL", "Simple", "LL", "LL128"), "proto", "msccl: protocol of messages: Simple, LL or LL128")
	machineFlags(f, &spec)
	tuningFlag(f, &spec)
	f.Var((*count)(&spec.Ranks), "ranks",
		"number of ranks, on the first PEs of the machine (default: from the bench or ccl.yaml, else all PEs)")
	f.Var((*count)(&spec.NElem), "n-elem",
		"elements per rank (default: with msccl 4 for each rank, where the common divisor of all messages is a chunk; else from the bench or ccl.yaml)")
	f.Var(&parsed[dtype.Type]{to: &spec.DType, parse: dtype.Parse, kind: "TYPE"}, "dtype",
		"element type: "+join(dtype.Types())+" (default: from the bench, mostly f16)")
	f.Var(&parsed[tl.ReduceOp]{to: &spec.Op, parse: tl.ParseReduceOp, kind: "OP"}, "op",
		"reduction: "+join(tl.ReduceOps())+" (default sum)")
	return cmd
}

// export records an algorithm and writes its files to a folder.
func (a *app) export(ctx context.Context, to frontend.Format, spec run.Spec, name, dir string, o frontend.ExportOptions) error {
	spec.Algorithm, spec.Command = name, a.commandLine()
	f, err := run.Record(ctx, spec)
	if err != nil {
		return interrupted(ctx, err)
	}
	made := run.NewMadeBy(a.commandLine())
	o.About = [][2]string{{"collective", f.Collective}, {"made_by", strings.Join(made.Lines(), "; ")}}
	x, err := to.Export(f, filepath.Join(dir, name), o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, file := range x.Files {
		if err := outfile.WriteFile(file.Name, file.Data); err != nil {
			return err
		}
	}
	return a.showExported(x)
}

// showExported prints the files and the verdict of reading them back. A format that cannot express
// the expected result is no mistake of the files.
func (a *app) showExported(x *frontend.Exported) error {
	if len(x.Files) == 1 {
		if err := a.showPrograms("", []*frontend.Verdict{x.Verdict}, false); err != nil {
			return err
		}
		return verdictError([]*frontend.Verdict{x.Verdict})
	}
	fmt.Fprintf(a.out, "%d files: %s to %s\n", len(x.Files), x.Files[0].Name, x.Files[len(x.Files)-1].Name)
	var rest []plan.Verdict
	for _, v := range x.Verdict.Verdicts {
		if v != plan.NoPostcondition {
			rest = append(rest, v)
		}
	}
	if len(x.Verdict.Calls) > 0 && len(rest) == 0 || slices.Equal(rest, []plan.Verdict{plan.OK}) {
		j := x.Verdict.Calls[0]
		fmt.Fprintf(a.out, "read back: %d steps, %d messages, all come to their end and none is left", j.Steps, j.Messages)
		if j.Cells > 0 {
			fmt.Fprintf(a.out, "; %d of %d chunks right", j.Right, j.Cells)
		}
		fmt.Fprintln(a.out)
		for _, n := range x.Verdict.Notes {
			if j.Cells == 0 {
				fmt.Fprintf(a.out, "note: %s\n", n)
			}
		}
		return nil
	}
	if err := a.showPrograms("", []*frontend.Verdict{x.Verdict}, false); err != nil {
		return err
	}
	return verdictError([]*frontend.Verdict{x.Verdict})
}
