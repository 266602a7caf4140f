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
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/tl"

	"github.com/spf13/cobra"
)

func (a *app) exportCommand() *cobra.Command {
	var spec run.Spec
	var o frontend.ExportOptions
	var to, dir, proto, program string
	var names, about []string
	for _, f := range frontend.Formats() {
		names = append(names, f.Name)
		about = append(about, fmt.Sprintf("  %-8s %s", f.Name, f.Summary))
	}
	cmd := &cobra.Command{
		Use:   "export ALGORITHM|--program FILE --to FORMAT",
		Short: "Write an algorithm or a program as MSCCL XML or Chakra traces",
		Long: `Record the kernel of every rank, and write its messages and arithmetic in the format of another tool.
With --program, write the program in FILE (text or JSON of kernbench program). Its ranks may have
several blocks. It is run on the mock executor first: one that hangs or races is rejected, with the
lines. The written files are read back and checked. Formats:
` + strings.Join(about, "\n") + `

docs/programs.md lists what a format cannot express. A kernel that reads values at run time, such as
a word or an undirected receive, is rejected. Traces have no windows.
` + exitCodes,
		Example: `  kernbench export ring_allreduce_chunked --to chakra --ranks 8 --n-elem 4096 --out traces
  kernbench import traces
  kernbench export halving_doubling_allreduce --to msccl --ranks 16 --channels 4
  kernbench export --program two_rings.txt --to msccl`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch given := cmd.Flags().Changed("program"); {
			case given && len(args) > 0:
				return fmt.Errorf("%s and --program: both choose what is exported; give one of them", args[0])
			case !given && len(args) != 1:
				return fmt.Errorf("%s: found %d algorithms, want one (kernbench list algorithms)", verbOf(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := slices.Index(names, to)
			switch {
			case !cmd.Flags().Changed("to"):
				return fmt.Errorf("--to is missing: want one of %s", strings.Join(names, ", "))
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
			if program != "" {
				spec.Program = program
				return a.exportProgram(cmd.Context(), format, spec, dir, o)
			}
			if err := rejectFiles(false, args[0]); err != nil {
				return fmt.Errorf("%w; export writes one with --program", err)
			}
			if format.Name == "msccl" && spec.NElem == 0 && spec.Ranks > 0 {
				spec.NElem = 4 * spec.Ranks // so that chunks divide evenly
			}
			return a.export(cmd.Context(), format, spec, args[0], dir, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&program, "program", "", "write the program in `FILE`: text or JSON of kernbench program; instead of ALGORITHM")
	f.StringVar(&to, "to", "", "`FORMAT` to write: "+strings.Join(names, ", "))
	f.StringVar(&dir, "out", ".", "`FOLDER` for the files; created if missing")
	f.Var(&countTo{&o.Channels, frontend.MostChannels}, "channels",
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

// exportProgram reads a program, checks that it ends without a race, and writes its files to a
// folder.
func (a *app) exportProgram(ctx context.Context, to frontend.Format, spec run.Spec, dir string, o frontend.ExportOptions) error {
	if info, err := os.Stat(spec.Program); err == nil && info.IsDir() {
		return fmt.Errorf("--program %s is a folder, want a file that kernbench program printed", spec.Program)
	}
	if plans.Foreign(spec.Program) {
		return fmt.Errorf("%s is a program of another tool; export writes only programs of kernbench (kernbench import %[1]s checks it)", spec.Program)
	}
	f, err := run.ReadProgram(spec.Program)
	if err != nil {
		return err
	}
	race := true
	spec.Executor, spec.Race = "mock", &race
	r, err := run.Run(ctx, spec)
	if err != nil {
		return interrupted(ctx, err)
	}
	if len(r.Hazards) > 0 {
		fmt.Fprintf(a.err, "kernbench: %s as %s: %v\n", f.Name, to.Name, &r.Hazards[0])
		return errWrong
	}
	name := strings.TrimSuffix(filepath.Base(spec.Program), filepath.Ext(spec.Program))
	return a.writeExport(to, f, name, dir, o, spec.Program)
}

// export records an algorithm and writes its files to a folder.
func (a *app) export(ctx context.Context, to frontend.Format, spec run.Spec, name, dir string, o frontend.ExportOptions) error {
	spec.Algorithm, spec.Command = name, a.commandLine()
	spec.Sets = append([]string{"defaults.nchannels=1"}, spec.Sets...) // formats have channels of their own
	f, err := run.Record(ctx, spec)
	if err != nil {
		return interrupted(ctx, err)
	}
	return a.writeExport(to, f, name, dir, o, "")
}

// writeExport writes a program in a format, to a folder. It does not write over the file that the
// program is from.
func (a *app) writeExport(to frontend.Format, f *run.ProgramFile, name, dir string, o frontend.ExportOptions, from string) error {
	made := run.NewMadeBy(a.commandLine())
	o.About = [][2]string{{"collective", f.Collective}, {"made_by", strings.Join(made.Lines(), "; ")}}
	x, err := to.Export(f, filepath.Join(dir, name), o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	source, _ := os.Stat(from)
	for _, file := range x.Files {
		if old, err := os.Stat(file.Name); err == nil && source != nil && os.SameFile(old, source) {
			return fmt.Errorf("%s would be replaced by its export: give another folder with --out", from)
		}
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
