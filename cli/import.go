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

// errHangs ends a verb whose report has told of a program at fault: a deadlock, an undefined read.
type errHangs struct{ error }

const importVerdicts = `
Verdicts, the gravest first, and the exit status that they lead to:
  PARSE-REJECT      the file cannot be read: line and attribute are named          2
  ILL-FORMED        it can be read, and breaks a rule of its format                2
  DEADLOCK          a block never ends; for which sizes of call                3
  WRONG             chunks of the result do not hold what the collective says      1
  RACE              two accesses of a chunk that nothing orders                    1
  UNDEFINED-READ    a chunk is read before anything was written to it              3
  LEFTOVER          messages are left in a channel                                 3
  NO-POSTCONDITION  nothing says what the result must hold                         1
  OK                                                                               0
Of several files the gravest verdict counts.
`

func (a *app) importCommand() *cobra.Command {
	var o frontend.Options
	var format string
	var root int
	var relation string
	var details bool
	var packets string
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER...",
		Short: "Judge programs of other tools: do they hang, race, or compute what they say?",
		Long: `Read programs that other tools wrote, carry each out on symbols, and say what is wrong with it. Every
chunk of an input is a symbol of its own: a result is right if it holds each contribution exactly
once, in its place. A folder gives a table of all programs in it, and the names of the files that it
skips because they are of no known format. docs/programs.md says more.
` + importVerdicts,
		Example: `  kernbench import allreduce.xml
  kernbench import --root 3 broadcast.xml
  kernbench import algorithms/ --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s: name a file or a folder", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("root") {
				if root < 0 {
					return fmt.Errorf("--root %d: ranks begin at 0", root)
				}
				o.Root = root + 1
			}
			if packets == "LL8" {
				o.Packet = 4
			}
			if o.Host > 0 && o.Depth > 0 {
				return errors.New("--depth and --ranks-per-host: one of them says what channels hold")
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
	f.IntVar(&root, "root", 0, "rank that a broadcast or a reduce is rooted in (default: found in the program)")
	f.StringVar(&relation, "relation", "",
		"what outputs must hold, for custom collectives: a `FORMULA` such as 'out[r][c] = in[r-1][c]' (r rank, c chunk, n ranks, k chunks; sum in[c]: of all ranks)")
	f.Var((*count)(&o.Depth), "depth", "messages that a channel holds (default: as the protocol has it; over a network twice that)")
	f.Var((*count)(&o.Host), "ranks-per-host",
		"ranks of a host: channels between hosts go over a network (default: all ranks share a host)")
	f.Var(newWord(&packets, "LL16", "TYPE", "LL16", "LL8"), "packets",
		"packets of MSCCL++ plans, which the caller of the executor chooses: LL16 (8 bytes of data) or LL8 (4)")
	f.BoolVar(&details, "details", false, "list all findings of every file, not of a single one only")
	formatFlag(f, &format)
	return cmd
}

// judgePrograms judges the programs in files and folders, and prints what it finds.
func (a *app) judgePrograms(ctx context.Context, names []string, o frontend.Options, format string, details bool) error {
	sources, others, err := frontend.Find(names...)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return noPrograms(names, others)
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
	if err := a.showPrograms(format, vs, details || len(vs) == 1); err != nil {
		return err
	}
	if len(others) > 0 {
		to := a.out
		if format == "json" {
			to = a.err
		}
		fmt.Fprintf(to, "skipped, of no known format: %s\n", skipped(others))
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

// verdictError ends a verb by the gravest verdict of all; nil if all is right.
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
		return told{err}
	case plan.Deadlock, plan.UndefinedRead, plan.Leftover:
		return told{errHangs{err}}
	}
	return errWrong
}

// skipped names some files of a folder, and says how many more there are.
func skipped(files []string) string {
	const most = 8
	if more := len(files) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), more)
	}
	return strings.Join(files, ", ")
}

// noPrograms is the error of folders without a file of a known format.
func noPrograms(names, others []string) error {
	if len(others) == 0 {
		return fmt.Errorf("%s: no files are there", strings.Join(names, ", "))
	}
	return fmt.Errorf("%s: no file is of a known format, of %s", strings.Join(names, ", "), skipped(others))
}
