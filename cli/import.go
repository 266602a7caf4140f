package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kernbench/frontend"
	"kernbench/frontend/plan"
	"kernbench/lab/run"
	"kernbench/report"

	"github.com/spf13/cobra"
)

// errHangs ends a verb whose report names an invalid program: a deadlock, an undefined read.
type errHangs struct{ error }

const importVerdicts = `
Verdicts, the most severe first, with the exit status:
  PARSE-REJECT      the file is not readable; line and attribute are named         2
  ILL-FORMED        the file breaks a rule of its format                           2
  DEADLOCK          a block never ends; the call sizes that cause it are named     3
  WRONG             the result is not that of the collective                       1
  RACE              two accesses to a chunk have no order                          1
  UNDEFINED-READ    a chunk is read before it is written                           3
  LEFTOVER          messages remain in a channel at the end                        3
  NO-POSTCONDITION  the expected result is unknown                                 1
  OK                                                                               0
With several files the most severe verdict sets the exit status.
`

func (a *app) importCommand() *cobra.Command {
	var o frontend.Options
	var format string
	var root rankFlag
	var relation string
	var details bool
	var packets string
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER...",
		Short: "Check programs of other tools for deadlocks, races and wrong results",
		Long: `Read programs that other tools wrote, execute each one on symbols, and print what is wrong with it.
Every chunk of an input is a symbol. A result is right if it holds each contribution exactly once, in
its place. For a folder, print a table of its programs, and the files that were skipped because their
format is unknown.
docs/programs.md has the details.
` + importVerdicts,
		Example: `  kernbench import allreduce.xml
  kernbench import --root 3 broadcast.xml
  kernbench import algorithms/ --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: name a file or a folder", verbOf(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if root.rank != nil {
				if relation != "" {
					return errors.New("--root and --relation: a relation names the ranks itself; give one of them")
				}
				o.Root = *root.rank + 1
			}
			if packets == "LL8" {
				o.Packet = 4
			}
			if o.Host > 0 && o.Depth > 0 {
				return errors.New("--depth and --ranks-per-host: both set what channels hold; give one of them")
			}
			if relation != "" {
				var err error
				if o.Want, err = plan.ParseFormula(relation); err != nil {
					return fmt.Errorf("--relation: %w", err)
				}
			}
			return a.judgePrograms(cmd.Context(), args, o, format, details)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&root, "root", "`RANK` of the root of a broadcast or reduce (default: found in the program)")
	f.StringVar(&relation, "relation", "",
		"expected outputs of a custom collective: a `FORMULA` such as 'out[r][c] = in[r-1][c]' (r rank, c chunk, n ranks, k chunks; sum in[c]: of all ranks)")
	f.Var((*count)(&o.Depth), "depth", "messages that a channel holds (default: by protocol; twice that over a network)")
	f.Var((*count)(&o.Host), "ranks-per-host",
		"ranks per host; channels between hosts use a network (default: one host)")
	f.Var(newWord(&packets, "LL16", "TYPE", "LL16", "LL8"), "packets",
		"packets of MSCCL++ plans: LL16 (8 bytes of data) or LL8 (4 bytes)")
	f.BoolVar(&details, "details", false, "list all findings, also when there are several files, and all steps that a repair moves")
	formatFlag(f, &format)
	return cmd
}

// judgePrograms judges the programs in files and folders, and prints its findings.
func (a *app) judgePrograms(ctx context.Context, names []string, o frontend.Options, format string, details bool) error {
	sources, others, err := frontend.Find(names...)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return noPrograms(names, others)
	}
	if err := o.CheckRoot(sources); err != nil {
		return err
	}
	vs := []*frontend.Verdict{}
	bar := newProgress(a.err)
	for i := range sources {
		if ctx.Err() != nil {
			break
		}
		bar.report(run.Progress{Phase: "judging", Done: int64(i), Total: int64(len(sources))})
		vs = append(vs, frontend.Judge(&sources[i], o))
	}
	bar.done()
	if err := a.showPrograms(format, vs, details); err != nil {
		return err
	}
	if len(others) > 0 {
		to := a.out
		if format == "json" {
			to = a.err
		}
		fmt.Fprintf(to, "skipped, format unknown: %s\n", skipped(others))
	}
	if err := ctx.Err(); err != nil {
		return interrupted(ctx, err)
	}
	return verdictError(vs)
}

func (a *app) showPrograms(format string, vs []*frontend.Verdict, details bool) error {
	if format == "json" {
		return report.JSON(a.out, vs)
	}
	return report.Programs(a.out, vs, details)
}

// verdictError returns the error of the most severe verdict; nil if all programs are right.
func verdictError(vs []*frontend.Verdict) error {
	worst := plan.OK
	for _, v := range vs {
		worst = min(worst, v.Verdicts[0])
	}
	err := fmt.Errorf("%v", worst)
	switch worst {
	case plan.OK:
		return nil
	case plan.ParseReject, plan.IllFormed:
		return reported{err}
	case plan.Deadlock, plan.UndefinedRead, plan.Leftover:
		return reported{errHangs{err}}
	}
	return errWrong
}

// skipped returns some names of files, and the number of the others.
func skipped(files []string) string {
	const most = 8
	if more := len(files) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), more)
	}
	return strings.Join(files, ", ")
}

// noPrograms returns the error of folders without a file of a known format.
func noPrograms(names, others []string) error {
	if len(others) == 0 {
		return fmt.Errorf("%s: found no files", strings.Join(names, ", "))
	}
	return fmt.Errorf("%s: found no file of a known format; skipped %s", strings.Join(names, ", "), skipped(others))
}
