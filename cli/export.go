package cli

import (
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
	var to, dir string
	var names, about []string
	for _, f := range frontend.Formats() {
		names = append(names, f.Name)
		about = append(about, fmt.Sprintf("  %-8s %s", f.Name, f.Summary))
	}
	cmd := &cobra.Command{
		Use:   "export ALGORITHM --to FORMAT",
		Short: "Write what each rank of an algorithm does in the format of another tool",
		Long: `Record the kernel of every rank, and write its messages and arithmetic in the format of another tool.
The files are read back and judged. Formats:
` + strings.Join(about, "\n") + `

A format cannot say all that a program does: docs/programs.md lists what is left out. Kernels that ask,
and those that put into windows, are refused.
` + exitCodes,
		Example: `  kernbench export ring_allreduce_chunked --to chakra --ranks 8 --n-elem 4096 --out traces
  kernbench import traces`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s: name one algorithm (kernbench list algorithms), got %d", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := slices.Index(names, to)
			switch {
			case !cmd.Flags().Changed("to"):
				return fmt.Errorf("--to is missing, want one of %s", strings.Join(names, ", "))
			case at < 0:
				return unknownWord("format", to, names)
			}
			spec.Algorithm, spec.Command = args[0], a.commandLine()
			f, err := run.Record(cmd.Context(), spec)
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			made := run.NewMadeBy(a.commandLine())
			x, err := frontend.Formats()[at].Export(f, filepath.Join(dir, args[0]), [][2]string{
				{"collective", f.Collective}, {"made_by", strings.Join(made.Lines(), "; ")}})
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
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&to, "to", "", "`FORMAT` to write: "+strings.Join(names, ", "))
	f.StringVar(&dir, "out", ".", "`FOLDER` for the files; it is made if need be")
	machineFlags(f, &spec)
	tuningFlag(f, &spec)
	f.Var((*count)(&spec.Ranks), "ranks", "how many PEs take part, the first of the machine (default: as the bench or ccl.yaml says, else all)")
	f.Var((*count)(&spec.NElem), "n-elem", "elements per rank (default: as the bench or ccl.yaml says)")
	f.Var(&parsed[dtype.Type]{to: &spec.DType, parse: dtype.Parse, kind: "TYPE"}, "dtype", "element type: "+join(dtype.Types())+" (default: that of the bench, mostly f16)")
	f.Var(&parsed[tl.ReduceOp]{to: &spec.Op, parse: tl.ParseReduceOp, kind: "OP"}, "op", "reduction: "+join(tl.ReduceOps())+" (default sum)")
	return cmd
}

// showExported prints the files, and what reading them back says. That a format cannot say what is
// right is no mistake of the files.
func (a *app) showExported(x *frontend.Exported) error {
	fmt.Fprintf(a.out, "%d files: %s to %s\n", len(x.Files), x.Files[0].Name, x.Files[len(x.Files)-1].Name)
	var rest []plan.Verdict
	for _, v := range x.Verdict.Verdicts {
		if v != plan.NoPostcondition {
			rest = append(rest, v)
		}
	}
	if len(x.Verdict.Calls) > 0 && len(rest) == 0 || slices.Equal(rest, []plan.Verdict{plan.OK}) {
		j := x.Verdict.Calls[0]
		fmt.Fprintf(a.out, "read back: %d steps, %d messages, all come to their end and none is left\n", j.Steps, j.Messages)
		return nil
	}
	if err := a.showPrograms("", []*frontend.Verdict{x.Verdict}, true); err != nil {
		return err
	}
	return verdictError([]*frontend.Verdict{x.Verdict})
}
